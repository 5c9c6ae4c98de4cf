"""The batch job inside of which a viewing block runs, where no other job sees the buffer."""

from __future__ import annotations

import shlex
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Inside:
    """A running job: its number, the variable that names its buffer's root, that root, the CPUs
    that it has on its first node, and Slurm's name of that node. Only Slurm has such steps."""

    job_id: str
    variable: str
    root: str
    cpus: int = 1
    node: str = ""

    def step(self, command: str, cpus: int) -> str:
        """The shell command that runs ``command`` as a step of the job on its first node, where
        the model's first rank writes, beside what runs there, on ``cpus`` of its CPUs, or on all
        that it has.

        A step that is started from outside the job lacks the buffer's variable, so it is set here.
        """
        words = ["srun", f"--jobid={self.job_id}", "--overlap", "--nodes=1", "--ntasks=1"]
        words += [f"--nodelist={self.node}"] if self.node else []
        words += [f"--cpus-per-task={min(cpus, self.cpus)}"]
        words += ["--export=ALL", "bash", "-c", f"exec {command}"]
        return f"export {self.variable}={shlex.quote(self.root)}\n{shlex.join(words)}"
