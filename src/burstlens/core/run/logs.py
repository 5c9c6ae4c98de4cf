"""The logs of Burstlens's own processes: one small rotating file per process, for support.

They are ``driver.log``, ``supervisor-JOB.log``, ``sentinel-JOB.log`` and ``worker-HOST-NUMBER.log``
in ``logs/burstlens/``. Each process has its own file: on a shared file system appends of several
nodes to one file overwrite each other. A log never disturbs the run: what cannot be written is
counted and left out, and a file system that fails or is slow is left alone for a while.
``logging.handlers`` has no such handler: its own try each entry again, and report each failure.

Standard library alone: the supervisor imports it, on any python3.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import time
from contextlib import suppress
from pathlib import Path

from burstlens.core.redaction import redacted

ROOT = "burstlens"
"""Name of the logger above all of ours."""
RUN_VARIABLE = "BURSTLENS_RUN_DIR"
"""Names the run directory in the environment of workers."""
DRIVER_BYTES, OTHERS_BYTES = 1 << 20, 1 << 18
"""Size of a file at which it is renamed to ``NAME.1``, in place of the one before."""
MOST_FILES = 200
"""Files of all processes but the driver; the oldest are deleted when a process begins."""
LONGEST = 16_000
"""Characters of one entry; the middle of a longer one is left out."""
CHECK_S = 60.0
"""How often a file is looked up by its name: it may have been renamed or deleted."""
PAUSE_S = 10.0
"""How long nothing is written after an error."""
SLOW_S, REST = 0.2, 50.0
"""After a write that took longer than this, nothing is written for so many times as long."""
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

logging.getLogger(ROOT).addHandler(logging.NullHandler())  # or warnings would reach the terminal


class RunLog(logging.Handler):
    """Appends entries to a file that does not grow beyond ``limit_bytes``; never raises OSError.

    It is made, opened and opened again when there is something to write. The folder of the logs is
    made where it is missing, the one above never: a run directory that is away must not be made
    anew.
    """

    def __init__(self, path: Path, limit_bytes: int) -> None:
        super().__init__()
        self.path, self.limit_bytes = path, limit_bytes
        self.missed = 0
        """Entries that could not be written since the last one that could."""
        self._file: int | None = None
        self._size = 0
        self._torn = False
        self._looked_at = self._rests_until = 0.0

    def emit(self, record: logging.LogRecord) -> None:
        """Write one entry, or count it as missed. Uses no buffer: a signal's handler may log."""
        begin = time.monotonic()
        if begin < self._rests_until:
            self.missed += 1
            return
        try:
            self._write(self.format(record), begin)
        except OSError:
            self._shut()
            self.missed += 1
            self._rests_until = begin + PAUSE_S
            return
        except (TypeError, ValueError, LookupError, AttributeError):  # its arguments do not fit
            self.missed += 1
            return
        took = time.monotonic() - begin
        if took > SLOW_S:
            self._rests_until = begin + took * REST

    def _write(self, text: str, now: float) -> None:
        if self._file is None or now - self._looked_at > CHECK_S:
            self._open(now)
        note = f"    {self.missed} entries before this one could not be written\n"
        data = ("\n" * self._torn + note * bool(self.missed) + text + "\n").encode()
        if self._size and self._size + len(data) > self.limit_bytes:
            self._rotate(now)
        assert self._file is not None
        written = os.write(self._file, data)
        self._size += written
        self._torn = written < len(data)
        if self._torn:
            raise OSError("the disk took only a part")
        self.missed = 0

    def _open(self, now: float) -> None:
        if self._file is not None and not self._is_there():
            self._shut()
        if self._file is None:
            with suppress(FileExistsError):
                os.mkdir(self.path.parent)
            self._file = os.open(self.path, _FLAGS, 0o666)
        self._size, self._looked_at = os.fstat(self._file).st_size, now

    def _is_there(self) -> bool:
        """Whether the name still belongs to the open file."""
        assert self._file is not None
        try:
            return os.path.samestat(os.fstat(self._file), os.lstat(self.path))
        except FileNotFoundError:
            return False

    def _rotate(self, now: float) -> None:
        if self._is_there():  # else a process of the same name has renamed it
            os.replace(self.path, f"{self.path}.1")
        self._shut()
        self._open(now)

    def _shut(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                os.close(self._file)
            self._file = None

    def close(self) -> None:
        with self.lock:  # type: ignore[union-attr]  # createLock has made it
            self._shut()
        super().close()


class Printed(logging.Handler):
    """Prints entries on standard error, as it is when they come."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one entry; a closed terminal is not an error."""
        with suppress(OSError, ValueError, TypeError, LookupError, AttributeError, RuntimeError):
            print(self.format(record), file=sys.stderr, flush=True)


class EntryFormatter(logging.Formatter):
    """Formats entries: time in UTC, level, kind of process, host, pid, logger, redacted text.
    Further lines of a text are indented, so that none of them can pass for an entry."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._who = f"{kind} {os.uname().nodename}"

    def format(self, record: logging.LogRecord) -> str:
        """The entry as text without a line end."""
        text = record.getMessage()
        if record.exc_info and record.exc_info[0] is not None:
            text += "\n" + self.formatException(record.exc_info)
        text = redacted(text)  # first: half a secret would not be known as one
        if len(text) > LONGEST:
            text = f"{text[: LONGEST // 2]} [...] {text[-LONGEST // 2 :]}"
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        head = f"{moment}.{int(record.msecs):03d}Z {record.levelname} {self._who} {record.process}"
        lines = map(_plain, text.splitlines())
        return f"{head} {record.name}: " + "\n    ".join(lines)


def _plain(line: str) -> str:
    """A line without characters that control a terminal."""
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else " " if c.isspace() else "?" for c in line)


def open_log(run: Path, kind: str, level: str, name: str = "") -> RunLog | None:
    """From now on log this process of a run to its file; returns what :func:`close_log` takes.
    ``kind`` is ``driver``, ``worker``, ``supervisor`` or ``sentinel``, ``name`` is added to the
    file's name. None where ``level`` is ``off``."""
    if level == "off":
        return None
    stem = re.sub(r"[^\w.-]+", "-", f"{kind}-{name}" if name else kind)
    path = run / "logs" / ROOT / f"{stem}.log"
    log = RunLog(path, DRIVER_BYTES if kind == "driver" else OTHERS_BYTES)
    _add(log, kind, level)
    if kind != "driver":
        _tidy(path.parent)
    return log


def print_log(level: str) -> None:
    """From now on print the log on standard error as well."""
    _add(Printed(), "command", level)


def close_log(log: RunLog | None) -> None:
    """Log no more to that file."""
    if log is not None:
        for name in (ROOT, "parsl"):
            logging.getLogger(name).removeHandler(log)
        log.close()


def open_worker_log() -> None:
    """The log of a worker, by its environment; no-op in any other process, and when it is open."""
    run = os.environ.get(RUN_VARIABLE)
    rank = os.environ.get("PARSL_WORKER_RANK")
    if run is None or rank is None:
        return
    if any(isinstance(handler, RunLog) for handler in logging.getLogger(ROOT).handlers):
        return
    level = os.environ.get("BURSTLENS_LOG", "info")
    open_log(Path(run), "worker", level, f"{os.uname().nodename}-{rank}")


def _add(handler: logging.Handler, kind: str, level: str) -> None:
    # A site may set the variable for its workers: what is not a level must not fail their tasks.
    number = logging.getLevelNamesMapping().get(level.upper(), logging.INFO)
    handler.setLevel(number)
    handler.setFormatter(EntryFormatter(kind))
    for name in (ROOT, "parsl") if number == logging.DEBUG else (ROOT,):
        above = logging.getLogger(name)
        above.addHandler(handler)
        above.setLevel(min(number, above.level or number))


def _tidy(folder: Path) -> None:
    """Delete the oldest logs beyond ``MOST_FILES``, such as those of workers on nodes of blocks
    that are long over."""
    with suppress(OSError), os.scandir(folder) as entries:
        found = [entry for entry in entries if not entry.name.startswith("driver.")]
        if len(found) <= MOST_FILES:
            return
        found.sort(key=lambda entry: entry.stat(follow_symlinks=False).st_mtime)
        for entry in found[:-MOST_FILES]:
            os.unlink(entry.path)
