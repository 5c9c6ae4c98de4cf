"""Models that somebody else started, for tests of their observer: a watcher's reports, and Slurm's
commands with answers that a test gives."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burstlens.cluster_configs.scheduler import BatchSite
from burstlens.cluster_configs.slurm import Slurm
from burstlens.workflows.look.observer.observer import Activity, Observer

AWAY = "echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2"
SUCCESS = "d01 2006-09-10_12:00:00 wrf: SUCCESS COMPLETE WRF"


def activity(quiet_s: float = 1.0, **fields: Any) -> Activity:
    """A watcher's report: WRF has written hourly, and last ``quiet_s`` ago."""
    given: dict[str, Any] = {
        "newest": "wrfout_d01",
        "written": time.time() - quiet_s,
        "quiet_s": quiet_s,
        "dated": True,
        "ended_well": False,
        "reason": None,
        "last_line": "Timing for main: time 2006-09-10_09:41:00 on domain   1",
        "in_progress": False,
        "intervals": (),
    }
    return Activity(**given | fields)


def client(interval_s: float = 1.0) -> Slurm:
    """Slurm, asked so often, that gives up at once when it does not answer."""
    return Slurm(BatchSite(query_interval_s=interval_s), patience_s=0.0)


def observe(job: str = "123", interval_s: float = 1.0, **options: Any) -> Observer:
    return Observer(job=job, scheduler=client(interval_s), **options)


def wait_for(function: Callable[[], Any], patience_s: float = 120.0) -> Any:
    """Waits until the function gives something true, and returns that."""
    end = time.monotonic() + patience_s
    while not (found := function()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
    return found


@dataclass
class Commands:
    """A folder with programs named as Slurm's, each a line of shell; ``calls`` are their argv."""

    folder: Path

    def set(self, name: str, shell: str) -> None:
        program = self.folder / f".{name}"
        program.write_text(f'#!/bin/sh\necho "{name} $*" >> {self.folder}/calls\n{shell}\n')
        program.chmod(0o755)
        program.rename(self.folder / name)

    def job(self, *lines: str, user: str = "") -> None:
        """``scontrol`` shows these parts of a job, of this user if nobody else."""
        shown = [f"UserId={user or f'me({os.getuid()})'} JobName=wrf {line}" for line in lines]
        (self.folder / "job").write_text("".join(f"{line}\n" for line in shown))
        self.set("scontrol", f"cat {self.folder}/job")

    @property
    def calls(self) -> list[str]:
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]
