"""A small real tuning of a program that says what time its output took, and what it left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import netCDF4

from burstlens.core.run.directory import RunDir

LIMIT_S = 240.0
PROGRAM = """#!/bin/sh
# Stands for a model: it says what its output took instead of writing much. Each start is counted.
echo "$$ ${EACH:-4.0} ${FAULT:-none}" >> HERE/starts
case "$FAULT" in
  crash) echo "cannot write" >&2; exit 3;;
  hang) sleep 1000;;
  quiet) echo done; exit 0;;
esac
for n in 1 2 3; do
  [ "$FAULT" = short ] && [ $n = 3 ] && break
  sleep ${PAUSE:-0.02}
  name=out_$n.nc; [ "$FAULT" = alien ] && name=alien_$n.nc
  cp frame.nc $name
  echo "written $name ${EACH:-4.0} s"
done
echo done
"""
RECIPE = """
title = "A program that writes"
[simulation]
model = "command"
inputs = "inputs"
command = ["./program.sh"]
frames = "out_*.nc"
time_variable = ""
written = 'written (?P<file>\\S+) (?P<seconds>[\\d.]+) s'
done = "^done"
walltime = "00:01:00"
[simulation.environment]
PAUSE = "PAUSED"
[buffer]
capacity = "1 MB"
"""
FACTORS = """
[tune.factors]
"simulation.environment.EACH" = ["3.0", "2.0", "1.0"]
"""


def fill(folder: Path, more: str, pause: str) -> None:
    """Write ``r.toml`` and its inputs there."""
    program = folder / "inputs" / "program.sh"
    program.write_text(PROGRAM.replace("HERE", str(folder)))
    program.chmod(0o755)
    with netCDF4.Dataset(folder / "inputs" / "frame.nc", "w") as frame:
        frame.createVariable("a", "f4")[:] = 1.0
    (folder / "r.toml").write_text(RECIPE.replace("PAUSED", pause) + more)


@dataclass
class Tuning:
    """One tuning in a folder of its own."""

    folder: Path
    more: str = FACTORS
    pause: str = "0.02"

    def __post_init__(self) -> None:
        for name in ("inputs", "runs", "buffer"):
            (self.folder / name).mkdir()
        fill(self.folder, self.more, self.pause)
        self.run = RunDir(self.folder / "runs" / "t")

    def start(self, *words: str) -> subprocess.Popen[str]:
        """``burstlens words`` in the folder, in a session of its own."""
        places = {
            "BURSTLENS_RUNS": str(self.folder / "runs"),
            "BURSTLENS_BUFFER": str(self.folder / "buffer"),
        }
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "burstlens", *words],
            cwd=self.folder,
            env={**os.environ, **places},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def end(self, process: subprocess.Popen[str]) -> tuple[int, str, str]:
        """Exit code, standard output and error of a command."""
        out, err = process.communicate(timeout=LIMIT_S)
        return process.returncode, out, err

    def tune(self, *words: str) -> tuple[int, str, str]:
        """``burstlens tune`` to its end."""
        return self.end(self.start("tune", "r.toml", "--name", "t", *words))

    def events(self, *kinds: str) -> list[dict[str, Any]]:
        """The journal's whole lines of these kinds."""
        if not self.run.journal.exists():
            return []
        lines = self.run.journal.read_text().splitlines(keepends=True)
        found = [json.loads(line) for line in lines if line.endswith("\n")]
        return [one for one in found if one["event"] in kinds]

    def wait(self, what: Callable[[], Any]) -> Any:
        """What it returns as soon as that is true."""
        end = time.monotonic() + LIMIT_S
        while not (found := what()):
            assert time.monotonic() < end, "it did not come"
            time.sleep(0.05)
        return found

    @property
    def starts(self) -> Sequence[str]:
        """One line for each time that the program was started."""
        return (self.folder / "starts").read_text().splitlines()

    @property
    def result(self) -> dict[str, Any]:
        """``tuning.json``."""
        found: dict[str, Any] = json.loads((self.run.path / "tuning" / "tuning.json").read_text())
        return found
