"""The batch job inside of which a viewing block runs, where no other job sees the buffer."""

from __future__ import annotations

import shlex
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Inside:
    """A running job: its number, the variable that names its buffer's root, and that root."""

    job_id: str
    variable: str
    root: str

    def step(self, command: str) -> str:
        """The shell command that runs ``command`` as a step of the job, beside what runs there.

        A step that is started from outside gets no variables of the buffer, so they go along.
        """
        words = ["srun", f"--jobid={self.job_id}", "--overlap", "--nodes=1", "--ntasks=1"]
        words += ["--export=ALL", "bash", "-c", f"exec {command}"]
        return f"export {self.variable}={shlex.quote(self.root)}\n{shlex.join(words)}"
