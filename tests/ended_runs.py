"""Real runs of a small program, one for each kind of end."""

from __future__ import annotations

import errno
import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import program
from cf_writer import add, begin

LIMIT_S = 240.0
NAME = "it"
RECIPE = """\
title = "An end"
[simulation]
model = "command"
command = ["./model.sh"]
inputs = "inputs"
frames = "out_*.nc"
[buffer]
capacity = "{capacity}"
{buffer}
[[product]]
name = "cut"
kind = "netcdf"
variables = ["{variable}"]
{guard}"""
WAITS = "exec sleep 600"
STOPS = '[[guard]]\nname = "finite"\nvariable = "t2m"\nthen = "stop"\n'


@dataclass(frozen=True)
class Making:
    """How a run is brought to its end: the model's shell lines, beside frames ``good`` and ``bad``
    (all NaN), and values of its recipe."""

    model: str
    capacity: str = "10 MiB"
    buffer: str = ""
    variable: str = "t2m"
    guard: str = ""
    stuck: bool = False
    """Its folder on the buffer cannot be deleted."""


MAKINGS = {
    "exit code": Making("cp good out_000.nc\necho no such namelist >&2\nexit 3"),
    "guard": Making(f"cp good out_000.nc\ncp bad out_001.nc\n{WAITS}", guard=STOPS),
    "late guard": Making("cp good out_000.nc\ncp bad out_001.nc", guard=STOPS),
    "lost frame": Making("cp good out_000.nc\nhead -c 3000 good > out_001.nc"),
    "full disk": Making("cp good out_000.nc\necho write: No space left on device >&2\nexit 1"),
    "full buffer": Making(
        f"for n in 0 1 2 3 4 5 6 7 8 9; do cp good out_00$n.nc; sleep 0.4; done\n{WAITS}",
        capacity="40 KiB", buffer='on_pressure = "stop"',
    ),
    "no product": Making("cp good out_000.nc", variable="qv"),
    "no frame": Making("true"),
    "buffer left": Making("cp good out_000.nc", stuck=True),
}  # fmt: skip


@dataclass
class EndedRun:
    """A run at its end: its directory, the exit code and the output of its command, and
    ``call(*words)``, which runs ``burstlens words`` beside it."""

    run: Path
    code: int
    said: str
    call: Callable[..., subprocess.CompletedProcess[str]] = field(repr=False)

    def journal(self) -> list[dict[str, Any]]:
        """The events of its journal."""
        return [json.loads(line) for line in (self.run / "journal.jsonl").read_text().splitlines()]

    def status(self) -> dict[str, Any]:
        """What ``burstlens status --json`` prints."""
        found: dict[str, Any] = json.loads(self.call("status", self.run.name, "--json").stdout)
        return found


def run_to_its_end(folder: Path, making: Making, injector: Path) -> EndedRun:
    """Make that run in a folder of its own; ``injector`` is the library that makes calls fail."""
    inputs = folder / "inputs"
    inputs.mkdir(parents=True)
    (folder / "buffer").mkdir()
    for frame, (name, offset) in enumerate((("good", 0.0), ("bad", float("nan")))):
        with begin(inputs / name, "NETCDF4") as data:
            add(data, 0, frame, offset, 0.0)
    model = inputs / "model.sh"
    model.write_text(f"#!/bin/sh\n{making.model}\n")
    model.chmod(0o755)
    values = {name: getattr(making, name) for name in ("capacity", "buffer", "variable", "guard")}
    (folder / "r.toml").write_text(RECIPE.format(**values))
    places = {"BURSTLENS_RUNS": folder / "runs", "BURSTLENS_BUFFER": folder / "buffer"}
    environment = os.environ | {name: str(path) for name, path in places.items()}
    call = functools.partial(_call, folder, environment)
    run = folder / "runs" / NAME
    with (folder / "said").open("w") as said:
        driver = subprocess.Popen(
            [sys.executable, "-m", "burstlens", "run", "r.toml", "--name", NAME],
            cwd=folder,
            env=environment | (_stuck(folder, injector) if making.stuck else {}),
            stdout=said,
            stderr=said,
        )
        code = driver.wait(LIMIT_S)
    return EndedRun(run, code, (folder / "said").read_text(), call)


def _call(
    folder: Path, environment: dict[str, str], *words: str
) -> subprocess.CompletedProcess[str]:
    return program.as_text(program.burstlens(words, folder, environment, LIMIT_S))


def _stuck(folder: Path, injector: Path) -> dict[str, str]:
    """Variables with which no folder on the buffer can be deleted."""
    return {
        "LD_PRELOAD": str(injector),
        "INJECT_COMMAND": "*multiprocessing*",
        "INJECT_CALL": "rmdir",
        "INJECT_PATH": f"{folder}/buffer/*",
        "INJECT_ERRNO": str(errno.EBUSY),
        "INJECT_TIMES": "1000",
        "INJECT_LOG": str(folder / "injected"),
    }
