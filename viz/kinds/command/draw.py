"""Runs a user's program for a frame in its own scratch folder, and never leaves it running."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time as clock
from pathlib import Path
from typing import IO, Any

from burstlens.core.errors import FrameError, RecipeError
from burstlens.viz.kinds.command.options import CommandOptions
from burstlens.viz.kinds.command.read import arguments_of, link_files
from burstlens.viz.kinds.full_disk import raise_if_full, take_over
from burstlens.viz.product import Context, ProductFrame, whole_file

_POLL_S = 0.05
_GRACE_S = 2.0
_TAIL_BYTES = 2000


def run_program(
    options: CommandOptions, frame: ProductFrame, out: Path, context: Context
) -> dict[str, Any]:
    """Run the program and move its product to ``out``; the facts hold the ``seconds`` it took.

    It runs in a new folder beside ``out`` that holds the files shipped with the run and the
    frame, each as a link under its own name. Raises RecipeError when the program or a file is
    not there, FrameError when it fails, is too slow, is cancelled, or leaves no product,
    StagingError when there is no room for one.
    """
    began = clock.monotonic()
    with (
        whole_file(out),
        tempfile.TemporaryDirectory(prefix=f"{out.name}.", dir=out.parent) as made,
    ):
        scratch = Path(made)
        linked = link_files(scratch, options, frame, context)
        # In a folder of its own, and named as programs that write pictures expect.
        written = scratch / ".product" / f"{context.product or 'product'}.{options.extension}"
        written.parent.mkdir()
        linked.add(written.parent)
        arguments = arguments_of(options, frame, written.resolve(), context)
        _run(arguments, scratch, options, context, written)
        if options.output is not None:
            written = _left(scratch, options.output, linked)
        take_over(written, out, f"{options.command[0]} wrote nothing to {{out}}")
    return {"seconds": round(clock.monotonic() - began, 3)}


def _run(
    arguments: list[str], scratch: Path, options: CommandOptions, context: Context, written: Path
) -> None:
    environment = os.environ | {
        "HDF5_USE_FILE_LOCKING": "FALSE",
        "MPLBACKEND": "Agg",
        # `python` in a recipe means the one that Burstlens runs on.
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
    }
    program = arguments[0]
    found = shutil.which(
        str(scratch / program) if os.sep in program and not os.path.isabs(program) else program,
        path=environment["PATH"],
    )
    if found is None:
        raise RecipeError(f"the program {program!r} is not there or not executable")
    # It is killed when this worker dies, where Linux offers that.
    setpriv = shutil.which("setpriv")
    prefix = [setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(
            [*prefix, found, *arguments[1:]], cwd=scratch, env=environment,
            stdin=subprocess.DEVNULL, stdout=messages, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        try:
            reason = _wait(process, options.timeout_s, context.cancel)
        finally:
            _end(process)
        if reason is None and process.returncode:
            raise_if_full(written)
            code = process.returncode
            reason = f"was ended by signal {-code}" if code < 0 else f"failed with exit code {code}"
        if reason is not None:
            said = _tail(messages)
            raise FrameError(f"{program} {reason}" + (f": {said}" if said else ""))


def _wait(process: subprocess.Popen[bytes], timeout_s: float, cancel: Path | None) -> str | None:
    """Wait for the program's end; return the reason why it has to be ended, or None."""
    deadline = clock.monotonic() + timeout_s
    while True:
        try:
            process.wait(_POLL_S)
            return None
        except subprocess.TimeoutExpired:
            if clock.monotonic() > deadline:
                return f"took longer than {timeout_s:g} s and was ended"
            if cancel is not None and cancel.exists():
                return "was ended, because the run is being stopped"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program's whole process group, with all that it left running."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)


def _left(scratch: Path, pattern: str, linked: set[Path]) -> Path:
    """The one file that the program left under that name or pattern."""
    found = [path for path in sorted(scratch.glob(pattern)) if path not in linked]
    files = [path for path in found if path.is_file() and not path.is_symlink()]
    if len(files) == 1:
        return files[0]
    if files:
        names = ", ".join(path.name for path in files[:5])
        raise FrameError(f"output {pattern!r} fits {len(files)} files: {names}")
    there = [path.name for path in sorted(scratch.iterdir()) if path not in linked]
    raise FrameError(
        f"the program left no {pattern!r}; it left {', '.join(there[:5]) or 'nothing'}"
    )


def _tail(messages: IO[bytes]) -> str:
    """The last lines that the program wrote."""
    size = messages.seek(0, os.SEEK_END)
    messages.seek(max(0, size - _TAIL_BYTES))
    text = messages.read().decode("utf-8", "replace")
    return " | ".join(line.strip() for line in text.splitlines()[-4:] if line.strip())
