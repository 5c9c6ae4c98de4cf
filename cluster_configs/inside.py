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
    a buffer), the CPUs that it has on its first node, and the scheduler's name of that node.

    ``lowest``: the step runs at the lowest priority, on any of the job's CPUs there.
    """

    job_id: str
    variable: str = ""
    root: str = ""
    cpus: int = 1
    node: str = ""
    lowest: bool = False

    def step(self, words: Sequence[str], command: str) -> str:
        """The shell command that runs ``command`` as a step of the job, which ``words`` start.

        A step that is started from outside the job lacks the buffer's variable, so it is set here.
        """
        # A step may have the priority of the scheduler's daemon, not that of its launcher here.
        shell = ["bash", "-c", f"{LOWEST if self.lowest else ''}exec {command}"]
        variable = f"export {self.variable}={shlex.quote(self.root)}\n" if self.variable else ""
        return f"{variable}{shlex.join([*words, *shell])}"
