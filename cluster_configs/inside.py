"""A running batch job inside of which Burstlens starts steps, where no other job sees the files."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

LOWEST = "renice -n 19 -p $$ >/dev/null\nionice -c 3 -p $$ 2>/dev/null || true\n"
"""Shell lines for workers on a node that others use: lowest priority for CPU and disk."""


@dataclass(frozen=True, slots=True)
class Inside:
    """A running job: its number, the variable that names its buffer's root, that root ("" without
    a buffer), the CPUs that it has on its first node, and Slurm's name of that node. Only Slurm has
    such steps.

    ``lowest``: the step runs at the lowest priority, on any of the job's CPUs there.
    """

    job_id: str
    variable: str = ""
    root: str = ""
    cpus: int = 1
    node: str = ""
    lowest: bool = False

    def argv(self, program: Sequence[str]) -> list[str]:
        """The argument list that runs a short program as a step of the job on that node, without
        standard input."""
        return [*self._step(self.cpus), "--input=none", "--quiet", *program]

    def step(self, command: str, cpus: int) -> str:
        """The shell command that runs ``command`` as a step of the job on its first node, where
        the model's first rank writes, beside what runs there, on ``cpus`` of its CPUs, or on all
        that it has.

        A step that is started from outside the job lacks the buffer's variable, so it is set here.
        """
        # At the lowest priority it would starve on one CPU that the model keeps busy.
        words = self._step(self.cpus if self.lowest else min(cpus, self.cpus))
        # Slurm gives a step the priority of its own daemon, not that of srun.
        words += ["bash", "-c", f"{LOWEST if self.lowest else ''}exec {command}"]
        variable = f"export {self.variable}={shlex.quote(self.root)}\n" if self.variable else ""
        return f"{variable}{shlex.join(words)}"

    def _step(self, cpus: int) -> list[str]:
        words = ["srun", f"--jobid={self.job_id}", "--overlap", "--nodes=1", "--ntasks=1"]
        words += [f"--nodelist={self.node}"] if self.node else []
        return [*words, f"--cpus-per-task={cpus}", "--export=ALL"]
