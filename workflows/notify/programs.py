"""Programs that send word, or are the word's target: each ends in time, with its children."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from burstlens.core.durable import make_folders
from burstlens.core.run.directory import RunDir

COMMAND_S = 60.0
DESKTOP_S = 10.0
_LAST_BYTES = 4096


class Children:
    """The programs that run now."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()

    def run(
        self,
        command: Sequence[str],
        text: bytes,
        limit_s: float,
        folder: Path,
        environment: Mapping[str, str] | None = None,
        output: IO[bytes] | None = None,
    ) -> None:
        """Run a program to its end in its own process group. Raises OSError, without ``output``
        with the program's last line, and SubprocessError."""
        with contextlib.ExitStack() as stack:
            own = None
            with contextlib.suppress(OSError):  # no space: the word goes all the same
                own = stack.enter_context(TemporaryFile()) if output is None else None
            child = stack.enter_context(
                subprocess.Popen(
                    command,
                    cwd=folder,
                    env=environment,
                    stdin=subprocess.PIPE,
                    stdout=output or own or subprocess.DEVNULL,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )
            self._running.add(child)
            try:
                child.communicate(text, timeout=limit_s)
            except subprocess.TimeoutExpired:
                raise OSError(f"{command[0]} took longer than {limit_s:g} s") from None
            finally:
                _kill(child)
                self._running.discard(child)
            if child.returncode:
                why = f": {last}" if own is not None and (last := _last_line(own)) else ""
                raise OSError(f"{command[0]} ended with exit code {child.returncode}{why}")

    def kill(self) -> None:
        """End all of them."""
        for child in list(self._running):
            _kill(child)


def run_command(
    children: Children, run: RunDir, command: Sequence[str], facts: Mapping[str, Any], log: Path
) -> None:
    """Run the user's program, with the facts as JSON on its standard input and the plain ones also
    in its environment; its output is kept in ``log``. Raises OSError and SubprocessError."""
    plain = {
        f"BURSTLENS_{key.upper()}": str(value).replace("\0", "")
        for key, value in facts.items()
        if isinstance(value, str | int | float)
    }
    make_folders(log.parent, below=run.path)
    with log.open("ab") as output:
        text = json.dumps(facts) + "\n"
        children.run(command, text.encode(), COMMAND_S, run.path, os.environ | plain, output)


def show_on_desktop(children: Children, run: RunDir, facts: Mapping[str, Any]) -> None:
    """Show it with notify-send. Raises OSError and SubprocessError."""
    program = shutil.which("notify-send")
    if program is None:
        raise OSError("there is no notify-send on this machine")
    icon = [f"--icon={facts['picture']}"] if facts.get("picture") else []
    # Bodies are markup, and the title must not be taken for an option.
    body = escape("\n".join([facts["text"], facts.get("link", "")]).strip())
    command = [program, "--app-name=Burstlens", *icon, "--", f"Burstlens: {facts['run']}", body]
    children.run(command, b"", DESKTOP_S, run.path)


def _last_line(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - _LAST_BYTES))
    return (output.read().decode(errors="replace").strip().splitlines() or [""])[-1]


def _kill(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
