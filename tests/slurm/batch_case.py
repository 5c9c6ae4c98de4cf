"""A run on the testbed: the driver, its jobs and its buffer as an ordinary user has them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from run_case import ENDS_S, Case
from run_checker import Evidence
from testbed import ACTIVE, Testbed

SITE = """
scheduler = "slurm"
[buffer]
{buffer}
[viewing]
placement = "{placement}"
workers = 1
poll_interval_s = 0.1
{viewing}
[slurm]
query_interval_s = {interval}
job_init = "export BURSTLENS_LIBDATAWARP={library}; {init}"
{slurm}
"""


class BatchCase(Case):
    """One run on the cluster ``slurm``; ``library`` is libdatawarp for its jobs."""

    def __init__(
        self,
        slurm: Testbed,
        library: Path,
        name: str,
        *,
        viewing: str = "",
        options: str = "",
        init: str = ":",
        interval: float = 30.0,
        buffer: str = 'kind = "datawarp"',
        placement: str = "separate",
        **how: Any,
    ) -> None:
        self.slurm = slurm
        self.libdatawarp = library
        super().__init__(slurm.folder(name), python=str(slurm.python), **how)
        sites = self.folder / "sites"
        sites.mkdir()
        worker_init = f'worker_init = "export BURSTLENS_LIBDATAWARP={library}"\n'
        text = SITE.format(
            viewing=worker_init + viewing,
            init=init,
            slurm=options,
            interval=interval,
            library=library,
            buffer=buffer.replace("HERE", str(self.folder)),
            placement=placement,
        )
        (sites / "bed.toml").write_text(text)
        for path, folders, files in os.walk(self.folder):
            for entry in (".", *folders, *files):
                os.chown(Path(path, entry), slurm.user.pw_uid, slurm.user.pw_gid)

    def popen(
        self, command: list[str], environment: dict[str, str], said: IO[str]
    ) -> subprocess.Popen[str]:
        """Start it as the testbed's user."""
        variables = self.environment | environment | {"BURSTLENS_SITES": str(self.folder / "sites")}
        return self.slurm.popen(
            command, cwd=self.folder, env=variables, stdout=said, stderr=said,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def launch(self, **how: Any) -> subprocess.Popen[str]:
        """Start the run on the testbed."""
        return self.start("run", "r.toml", "--site", "bed", "--name", "r", **how)

    def launch_with(self, *words: str) -> subprocess.Popen[str]:
        """Start the run with further options."""
        return self.start("run", "r.toml", "--site", "bed", "--name", "r", *words)

    def has_live(self, part: str) -> bool:
        """Whether a job whose name holds ``part`` waits or runs."""
        return any(job["JobState"] in ACTIVE for job in self.jobs(part))

    def jobs(self, part: str = "") -> list[dict[str, str]]:
        """The run's jobs that Slurm knows, those whose name holds ``part``."""
        if not (self.run / "run.json").exists():
            return []
        token = self.buffer_name().removeprefix("bl_r_")
        return [
            job for job in self.slurm.jobs()
            if job["JobName"].startswith(f"r-{token}-") and part in job["JobName"]
        ]  # fmt: skip

    def buffer_name(self) -> str:
        """The persistent buffer that the run makes."""
        import json

        facts = json.loads((self.run / "run.json").read_text())
        return "bl_" + str(facts["buffer_folder"]).replace("-", "_")

    def await_job(self, part: str, limit_s: float = 60.0) -> dict[str, str]:
        """The job whose name holds ``part``, as soon as it runs."""
        self.await_that(
            lambda: any(job["JobState"] == "RUNNING" for job in self.jobs(part)), part, limit_s
        )
        return next(job for job in self.jobs(part) if job["JobState"] == "RUNNING")

    def faults(self) -> list[str]:
        """Further: no buffer and no job is left, and each simulation had one job."""
        return [*super().faults(), *self.scheduler_faults()]

    def evidence(self) -> Evidence:
        """Without folders of a buffer: Slurm knows them."""
        return replace(super().evidence(), owned_folders=())

    def scheduler_faults(self) -> Iterator[str]:
        """What Slurm still has of the run."""
        if self.buffer_name() in self.slurm.burst():
            yield f"the buffer is left: {self.slurm.burst()}"
        end = time.monotonic() + ENDS_S
        while self.has_live("") and time.monotonic() < end:
            time.sleep(0.2)  # what was cancelled takes Slurm a moment
        live = [job["JobName"] for job in self.jobs() if job["JobState"] in ACTIVE]
        if live:
            yield f"jobs are left: {live}"
        simulations = {job["JobId"] for job in self.jobs("attempt-")}
        attempts = len(list((self.run / "attempts").iterdir()))
        if len(simulations) > attempts:
            yield f"{len(simulations)} simulation jobs in {attempts} attempts"
