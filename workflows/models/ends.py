"""What compilers, libraries, MPI, launchers and Slurm print when a program ends badly.

It is the same for every simulation code. The table starts with messages that say why, and ends
with those that only say that the program ended; the first row that matches is used.
"""

from __future__ import annotations

import re

from burstlens.workflows.models.base import BANNER, CAUSE, SIGNAL, TROUBLE, LogLine

_PROSE = r"(?!\s*[-=*]{8,})"
"""Until a line of dashes: Open MPI frames its messages so."""

_TABLE: tuple[tuple[str, int, str], ...] = (
    # Limits: whatever the model said before, this ended it.
    (r"[Dd]etected \d+ oom[-_ ]kill", CAUSE, ""),
    (r"task[s ][-\d,\s]*: Out Of Memory", CAUSE, ""),
    (r"OOM[ -][Kk]ill", CAUSE, ""),
    (r"[Ee]xceeded (?:job |step )?memory limit", CAUSE, ""),
    (r"DUE TO (?:TIME LIMIT|NODE FAILURE|PREEMPTION)", CAUSE, ""),
    (r"PBS: job killed: (?:walltime|mem|vmem)", CAUSE, ""),
    (r"TERM_(?:RUNLIMIT|MEMLIMIT)", CAUSE, ""),
    # It never began.
    (r"error while loading shared libraries: ", CAUSE, ""),
    (r"symbol lookup error: ", CAUSE, ""),
    (r"version `[^']+' not found \(required by", CAUSE, ""),
    (r"execvp error on file ", CAUSE, ""),
    (r"error: execve\(\): ", CAUSE, ""),
    (r"^\S*(?:mpi\w+|prterun|prun|orterun) (?:was unable to|detected that one or more|could not)"
     r"(?! processes exited)", CAUSE, _PROSE),
    (r"^There are not enough slots available", CAUSE, _PROSE),
    (r"^\S*sh: (?:line )?\d+: .*: (?:not found|No such file or directory|command not found"
     r"|Permission denied|cannot execute.*|Exec format error)\s*$", BANNER, ""),
    # Runtime systems: gfortran, Intel, Cray, NVIDIA, C++, Python.
    (r"^\s*At line \d+ of file ", CAUSE, r"\s*(?:Fortran runtime error|Error termination)"),
    (r"Fortran runtime error", CAUSE, ""),
    (r"forrtl: .*(?:SIG[A-Z]+|segmentation fault|floating)", SIGNAL, ""),
    (r"forrtl: (?:severe|error)", CAUSE, ""),
    (r"^\s*lib-\d+ : UNRECOVERABLE", CAUSE, r"\s+\S"),
    (r"^(?:FIO|PGFIO)-F-\d+/", CAUSE, ""),
    (r"^\s*ERROR STOP\b", CAUSE, ""),
    (r"terminate called after throwing", CAUSE, r"\s+what\(\): "),
    (r"std::bad_alloc|[Cc]annot allocate memory|[Oo]ut of memory|[Ii]nsufficient virtual memory",
     CAUSE, ""),
    (r"No space left on device|Disk quota exceeded|EDQUOT|ENOSPC", CAUSE, ""),
    (r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?::|$)", TROUBLE, ""),
    # Signals.
    (r"Program received signal", SIGNAL, ""),
    (r"Caught signal (?:number )?\d+", SIGNAL, ""),
    (r"Signal: \w.* \(\d+\)", SIGNAL, ""),
    (r"\*\*\* Process received signal", BANNER, ""),
    (r"free\(\): invalid|double free or corruption|corrupted (?:size|double)|malloc\(\): ",
     SIGNAL, r"\s*Program received signal"),
    (r"(?:[Ss]egmentation fault|[Bb]us error|[Ff]loating point exception"
     r"|[Ii]llegal instruction|Aborted \(core dumped\))(?: \(core dumped\))?",
     SIGNAL, ""),
    (r"EXIT STRING: (?:Killed|Segmentation)", SIGNAL, ""),
    (r"exited on signal \d+", SIGNAL, _PROSE),
    (r"^(?:\S+: )?(?:line \d+: +\d+ )?Killed\b", SIGNAL, ""),
    # Banners.
    (r"Abort\(-?\d+\) (?:on node|\()", BANNER, ""),
    (r"application called MPI_Abort|MPI_ABORT was invoked", BANNER, _PROSE),
    (r"BAD TERMINATION OF ONE OF YOUR APPLICATION", BANNER, r"="),
    (r"^Primary job\s+terminated", BANNER, _PROSE),
    (r"process(?:es)? exited with\s+non-zero status|has exited improperly"
     r"|exited without calling", BANNER, _PROSE),
    (r"^YOUR APPLICATION TERMINATED WITH THE EXIT STRING", BANNER, ""),
    (r"^This typically refers to a problem with your application", BANNER, ""),
    (r"Please see the FAQ page", BANNER, ""),
    (r"^(?:srun|slurmstepd|aprun|_pmiu_daemon|mpirun|mpiexec|prterun|orterun)\b.*:", BANNER, ""),
    (r"^\[(?:mpiexec|proxy)\S*\]", BANNER, ""),
    (r"^\[\S+:\d+\]", BANNER, ""),
    (r"^\[unset\]: |^system msg for write_line", BANNER, ""),
    (r"^(?:Rank|MPICH) .*(?:Abort|abort|killed)", BANNER, ""),
    (r"^Error termination", BANNER, ""),
)  # fmt: skip
_ROWS = [(re.compile(pattern), weight, more) for pattern, weight, more in _TABLE]

_HINTS = (
    "No space", "quota", "EDQUOT", "ENOSPC", "llegal", "Aborted",
    "oom", "OOM", "emory", "LIMIT", "DUE TO", "PBS:", "librar", "symbol", "not found", "execv",
    "unable to", "detected that", "could not", "enough slots", "No such file", "denied", "execut",
    "xec format", "At line ", "untime error", "forrtl", "UNRECOVERABLE", "IO-F-", "ERROR STOP",
    "rror", "terminate called", "bad_alloc", "xception", "ignal", "free()", "double free",
    "corrupted", "malloc()", "ault", "STRING", "Killed", "Abort", "abort", "ABORT", "BAD TERM",
    "Primary",
    "exited", "FAQ", "srun", "slurmstepd", "aprun", "_pmiu", "mpirun", "mpiexec", "proxy", "[",
    "write_line", "termin", "typically",
)  # fmt: skip
"""Every line that a row matches contains one of them: most lines cost these comparisons only."""


def read_end(line: str) -> LogLine | None:
    """The trouble that a line reports, with its weight, or None."""
    if not any(hint in line for hint in _HINTS):
        return None
    for pattern, weight, more in _ROWS:
        if pattern.search(line):
            return LogLine("trouble", line.strip(), weight=weight, more=more)
    return None


def is_rule(line: str) -> bool:
    """Whether the line is empty or a rule, such as dashes."""
    return not line.strip("-=*+|~#_ \t")
