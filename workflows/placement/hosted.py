"""How supervised jobs are started inside the one batch job that has the buffer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from burstlens.cluster_configs.scheduler import QueuePlace
from burstlens.core.durable import write_whole
from burstlens.core.errors import SiteError
from burstlens.core.existence import check_existence, surely_exists
from burstlens.workflows.placement.batch import BatchLauncher
from burstlens.workflows.placement.launch import Launcher


class HostedLauncher(Launcher):
    """Asks the job's host (:mod:`.placement.host`). Ids: ``hosted:NUMBER:NAME``."""

    def __init__(self, batch: BatchLauncher) -> None:
        self.batch = batch
        self.unreported: set[Path] = set()
        self.host = Path()
        """The folder of the host that serves now."""

    @property
    def waits(self) -> Mapping[str, str]:
        """The host's own job."""
        return self.batch.waits

    @property
    def place(self) -> QueuePlace | None:
        """The host's own."""
        return self.batch.place

    def submit(self, job_folder: Path) -> str:
        """Put the folder's name into the host's queue."""
        write_whole(self.host / "queue" / job_folder.name, str(job_folder))
        return self._id(job_folder.name)

    def find(self, job_folder: Path) -> str | None:
        """By the name in the host's queue. Raises OSError while that cannot be seen."""
        asked = check_existence(self.host / "queue" / job_folder.name)
        return self._id(job_folder.name) if asked else None

    def alive(self, job_id: str) -> bool:
        """Whether the host lives and has not seen the supervisor end."""
        name = job_id.rpartition(":")[2]
        over = surely_exists(self.host / "queue" / f"{name}.over")  # else it is asked again
        return not over and self.batch.stands(self._job())

    def fate(self, job_id: str | None, job_folder: Path) -> str:
        """A supervisor that was killed, or the end of the whole job. Raises OSError while that
        cannot be seen."""
        over = check_existence(self.host / "queue" / f"{job_folder.name}.over")
        if over:
            return f"its supervisor was killed, see {job_folder / 'supervisor.log'}"
        return self.batch.fate(self._job(), job_folder)

    def remark(self, job_id: str, *, well: bool) -> str:
        """What the scheduler says of the host's job, when the program did not end well."""
        return "" if well else self.batch.remark(self._job(), well=True)

    def _id(self, name: str) -> str:
        return f"hosted:{self._job().partition(':')[2]}:{name}"

    def _job(self) -> str:
        found = self.batch.find(self.host)
        if found is None:
            raise SiteError(f"the job of {self.host} is not known to {self.batch.scheduler.title}")
        return found
