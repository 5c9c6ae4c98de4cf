"""``burstlens WORDS`` as a process of its own, forked from one that has imported the program.

An interpreter that imports the command line takes 0.2 to 1.5 s of CPU, a fork a few hundredths.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(
    [
        "burstlens.clients.cli",
        "burstlens.clients.cli.site_tables",
        "burstlens.clients.opened.status",
        "burstlens.workflows.plan.commands",
        "burstlens.workflows.models.wrf",
        "burstlens.workflows.driver.run",
        *(f"burstlens.viz.kinds.{kind}.kind" for kind in ("map", "vtk", "scene", "section")),
        *(f"burstlens.viz.kinds.{kind}.kind" for kind in ("track_map", "seismogram")),
    ]
)


def burstlens(
    words: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    limit_s: float,
    prefix: Sequence[str] = (),
) -> subprocess.CompletedProcess[bytes]:
    """Run the program in ``folder`` with exactly this environment, its input empty.

    An interpreter of its own is started behind a ``prefix``, and where a variable of Python's asks
    for one. Raises subprocess.TimeoutExpired, after the process was killed.
    """
    if prefix or _of_python(environment) != _of_python(os.environ):
        return subprocess.run(
            [*prefix, sys.executable, "-m", "burstlens", *words],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit_s,
        )
    with tempfile.TemporaryDirectory(prefix="burstlens-said-") as said:
        process = _SERVER.Process(
            target=_become, args=(list(words), str(folder), dict(environment), said)
        )
        process.start()
        process.join(limit_s)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(["burstlens", *words], limit_s)
        out, error = (Path(said, name) for name in ("out", "error"))
        return subprocess.CompletedProcess(
            ["burstlens", *words],
            process.exitcode,
            out.read_bytes() if out.exists() else b"",
            error.read_bytes() if error.exists() else b"",
        )


def _of_python(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith("PYTHON")}


def _become(words: list[str], folder: str, environment: dict[str, str], said: str) -> None:
    """Turn this fork into what a shell would have started."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    for number, path in ((0, os.devnull), (1, f"{said}/out"), (2, f"{said}/error")):
        opened = os.open(path, flags if number else os.O_RDONLY, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = os.fdopen(0)
    sys.stdout = os.fdopen(1, "w")
    sys.stderr = os.fdopen(2, "w", buffering=1)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["burstlens", *words]
    runpy.run_module("burstlens", run_name="__main__", alter_sys=True)


def as_text(done: subprocess.CompletedProcess[bytes]) -> subprocess.CompletedProcess[str]:
    """A command's output, decoded; fails on a traceback."""
    out, error = done.stdout.decode(), done.stderr.decode()
    assert "Traceback" not in out + error
    return subprocess.CompletedProcess(done.args, done.returncode, out, error)
