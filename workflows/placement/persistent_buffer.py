"""A persistent buffer of DataWarp or Rabbit: made and destroyed by batch jobs of their own.

The scheduler says what exists, and its queue what is asked for. What this run asked for is in the
run directory: a folder ``steps/buffer-create-N`` is written before the job is submitted, with what
was seen just before, and ``steps/buffer-origin.json`` when the buffer exists. A job that waits may
be at work: Slurm makes and destroys a buffer ahead of the job's start. So each cancellation is
followed by a check of what exists.
"""

from __future__ import annotations

import getpass
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from burstlens.cluster_configs.batch_script import VIEWING
from burstlens.cluster_configs.bursts import Burst, BurstScheduler, Pool, unlisted
from burstlens.cluster_configs.directives import directives
from burstlens.cluster_configs.scheduler import BatchJob
from burstlens.cluster_configs.site import Site
from burstlens.core.durable import make_folders, read_json, write_json
from burstlens.core.errors import GivenUpError, SiteError
from burstlens.core.existence import again, check_existence, surely_exists
from burstlens.core.quantity import show_bytes
from burstlens.core.run.directory import RunDir
from burstlens.workflows.placement import buffer_origin
from burstlens.workflows.placement.batch import BatchLauncher, growing
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.buffer_origin import BufferOrigin, read_origin, users_of
from burstlens.workflows.recipe.recipe import Buffer

FIRST_LOOK_S, GROWTH = 1.0, 2.5
"""How soon the scheduler is asked whether a buffer exists, and how much longer each further pause
is, up to the site's interval. A job that has begun has done its work: it is asked about at once."""
LOOK_S = 0.1
SETTLES_S = 2.0
"""How long after a cancellation the scheduler may list a buffer that was just being made."""
GIVES_UP_S = 120.0
"""How long a job that was cancelled, and a buffer that is being made, may take to come to rest."""
CREATE, DESTROY = "buffer-create", "buffer-destroy"


@dataclass(frozen=True, slots=True)
class Persistent:
    """The buffer of that name when it exists, else one that is made for the run.

    ``leaving`` says that the driver goes without an outcome: its jobs are left to the next one.
    """

    site: Site
    run: RunDir
    launcher: BatchLauncher
    wanted: Buffer
    folder: str
    leaving: Callable[[], bool]
    lasts: bool = True

    @property
    def bursts(self) -> BurstScheduler:
        """The scheduler, which lists burst buffers as well."""
        scheduler = self.launcher.scheduler
        assert isinstance(scheduler, BurstScheduler), "the site was checked"
        return scheduler

    @property
    def name(self) -> str:
        return self.wanted.name or own_name(self.folder)

    def provide(self, known: BufferRef | None) -> tuple[BufferRef, bool]:
        """The buffer, once it is allocated, and whether it is the ``known`` one. After a
        GivenUpError no buffer exists."""
        name = known.name if known else self.name
        pools, bursts = self.bursts.buffers()
        burst = next((burst for burst in bursts if burst.name == name), None)
        if burst is None and known is not None:
            burst = self.bursts.buffer(name)  # with what lies on it: it must be gone for certain
        if burst is not None and burst.user != getpass.getuser():
            raise SiteError(
                f"a buffer {name} exists and belongs to {burst.user}; buffer.name names another"
            )
        if known is not None:
            # One that a killed `free` has left in the queue would take the buffer from the run.
            burst = self._withdraw(DESTROY, name) if self._outstanding(DESTROY) else burst
        if known is not None and burst is not None and _is(known, burst):
            return known, True
        asked = self._outstanding(CREATE)
        if burst is None and not asked:
            self._require_room(pools)
        if asked or burst is None:
            burst = self._create(name, burst, absent=burst is None and not unlisted(pools))
        return self._reference(name, burst), False

    def origin(self, buffer: BufferRef) -> BufferOrigin | None:
        """What was observed of how the buffer came to be; None where nothing was."""
        return read_origin(self.run, buffer.name, buffer.created)

    def left(self, known: BufferRef | None) -> BufferRef | None:
        """The buffer as it exists now, whatever the journal says. Raises SchedulerError."""
        name = known.name if known else self.name
        burst = self.bursts.buffer(name)
        if burst is None or burst.user != getpass.getuser():
            return None
        if known is not None:
            return known if _is(known, burst) else None
        return self._reference(name, burst)

    def give_back(
        self, buffer: BufferRef, others: Sequence[str] = (), *, discard: bool = False
    ) -> None:
        """Destroy it by a job, and see that it is gone. One that the run did not make stays, as
        does one with files of others, unless ``discard``. A request to stop that comes meanwhile is
        for this clean-up: GivenUpError says what is left and which command frees it."""
        burst = self.bursts.buffer(buffer.name) if buffer.owned else None
        if burst is None or not _is(buffer, burst):
            return
        users = [] if discard else users_of(self.run, buffer.name, buffer.created, others)
        if users:
            raise SiteError(
                f"buffer {buffer.name} is left, files of others may be on it ({', '.join(users)}): "
                f"burstlens free {self.run.id} gives it back when they are gone, --discard at once"
            )
        token = self.launcher.token
        self.launcher.scheduler.cancel_all(self.run.id, f"{token}-{VIEWING}", f"{token}-{CREATE}")
        self._await_holders(buffer.name)
        self._destroy(buffer.name)

    def lines(self, buffer: BufferRef) -> tuple[str, ...]:
        """The line that mounts it."""
        return (directives(self.site.buffer).use(buffer.name),)

    def reference(self, name: str, *, created: str = "", owned: bool | None = None) -> BufferRef:
        """The buffer of that name, as jobs find it; ``owned`` by its name if not given."""
        owned = self.wanted.name is None if owned is None else owned
        path = f"${directives(self.site.buffer).variable(name, persistent=True)}"
        return BufferRef(self.site.buffer.kind, path, self.folder, name, owned, created=created)

    def _reference(self, name: str, burst: Burst) -> BufferRef:
        """The buffer as it exists, with whose it is: as was observed, else as can be seen now."""
        known = read_origin(self.run, name, burst.created) or self._observe(name, burst)
        return self.reference(name, created=burst.created, owned=known.owned)

    def _observe(self, name: str, burst: Burst) -> BufferOrigin:
        """See whose the buffer is, and note it: a later driver cannot see it any more."""
        mark = self._mark(CREATE)
        job_id = self.launcher.find(mark) if self._outstanding(CREATE) else None
        number = (job_id or "").partition(":")[2]
        before = read_json(mark / "before.json") or {}
        if self.wanted.name is None:
            why = "its name is the run's own"
            found = BufferOrigin(name, burst.created, True, why, number)
        elif not number or _is_there(mark / "withdrawn"):
            why = "no job of the run was to make it"
            found = BufferOrigin(name, burst.created, False, why, number)
        else:
            absent = before.get("absent") is True
            found = buffer_origin.origin(self.launcher, self.bursts, burst, number, absent=absent)
        buffer_origin.write_origin(self.run, found)
        return found

    def _create(self, name: str, burst: Burst | None, *, absent: bool) -> Burst:
        """The buffer, once it is allocated, by a job of the run or not."""
        mark = self._mark(CREATE)
        if burst is None or not _allocated(burst):
            if self.run.stop_requested() is not None and not self._outstanding(CREATE):
                raise GivenUpError(f"buffer {name} was not asked for yet")
            mark, burst = self._made(name, absent=absent)
        if not self._observe(name, burst).owned:
            # It would make another one, when the owner has destroyed this one.
            self.launcher.scheduler.cancel_all(self.run.id, f"{self.launcher.token}-{CREATE}")
        (mark / "done").touch()
        return burst

    def _made(self, name: str, *, absent: bool) -> tuple[Path, Burst]:
        """Ask for it to be made; returns the job's folder and the buffer when it is allocated."""
        line = directives(self.site.buffer).create(name, self.wanted.capacity)
        mark, job_id = self._submit(
            CREATE, name, line, lambda: _allocated(self.bursts.buffer(name)), absent=absent
        )
        for due in self._polls(mark):
            if self.run.stop_requested() is not None:
                burst = self._withdraw(CREATE, name)
                if burst is not None and _allocated(burst):
                    break
                (mark / "withdrawn").touch()
                raise GivenUpError(f"the job that was to make buffer {name} is cancelled")
            if not due:
                continue
            burst = self.bursts.buffer(name)
            if burst is not None and _allocated(burst):
                break
            self._require_alive(job_id, mark, name, lambda: _allocated(self.bursts.buffer(name)))
        self.launcher.scheduler.forget(job_id.partition(":")[2])
        assert burst is not None
        return mark, burst

    def _destroy(self, name: str) -> None:
        line = directives(self.site.buffer).destroy(name)
        mark, job_id = self._submit(DESTROY, name, line, lambda: self.bursts.buffer(name) is None)
        for due in self._polls(mark):
            asked = self.run.stop_requested()
            if asked is not None and self._obey(asked, job_id, name):
                break
            if not due:
                continue
            if self.bursts.buffer(name) is None:
                break
            self._require_alive(job_id, mark, name, lambda: self.bursts.buffer(name) is None)
        (mark / "done").touch()
        self._end_job(job_id)

    def _obey(self, asked: str, job_id: str, name: str) -> bool:
        """Give up the clean-up; return whether the buffer is gone all the same. False when the job
        is at work and may end. Raises GivenUpError."""
        number = job_id.partition(":")[2]
        state = self.launcher.scheduler.look(number)
        free = f"burstlens free {self.run.id}"
        if not state.waiting:
            if asked != "stop-now":
                return False
            raise GivenUpError(
                f"job {number} is destroying buffer {name}; {free} shows when it is gone"
            )
        if self._withdraw(DESTROY, name) is None:
            return True
        raise GivenUpError(
            f"buffer {name} is left, the job that was to destroy it is cancelled: "
            f"{free} gives it back"
        )

    def _withdraw(self, what: str, name: str) -> Burst | None:
        """Cancel the run's jobs of that kind; returns the buffer as it is when all is at rest."""
        self.launcher.scheduler.cancel_all(self.run.id, f"{self.launcher.token}-{what}")
        begin = time.monotonic()
        for pause in growing(FIRST_LOOK_S, SETTLES_S):
            burst, waited = self.bursts.buffer(name), time.monotonic() - begin
            rests = burst is None or burst.state == "allocated"
            patience = SETTLES_S if rests or self.run.stop_requested() == "stop-now" else GIVES_UP_S
            if waited >= patience or self.leaving():
                break
            time.sleep(pause)
        if what == DESTROY:  # asked for again, it is another job
            (self._mark(DESTROY) / "done").touch()
        return burst

    def _end_job(self, job_id: str) -> None:
        """The buffer is gone: a job that still waits for a node has nothing left to do."""
        number = job_id.partition(":")[2]
        for pause in growing(FIRST_LOOK_S, self.site.batch.query_interval_s):
            state = self.launcher.scheduler.look(number)
            if state.over or self.leaving() or self.run.stop_requested() is not None:
                return
            if state.waiting and not state.staging:
                self.launcher.scheduler.cancel([number])
            time.sleep(pause)

    def _await_holders(self, name: str) -> None:
        """Wait until no job has the buffer mounted, or is at its end and about to leave it."""
        for pause in growing(FIRST_LOOK_S, self.site.batch.query_interval_s):
            held = [one for one in self.bursts.holders() if one.mounts(name)]
            if not held or self.leaving():
                return
            end = time.monotonic() + pause
            while time.monotonic() < end and not self.leaving():
                if self.run.stop_requested() is not None:
                    jobs = ", ".join(f"job {one.job_id} of {one.user}" for one in held)
                    raise GivenUpError(
                        f"buffer {name} is left, {jobs} has it mounted: "
                        f"burstlens free {self.run.id} gives it back"
                    )
                time.sleep(LOOK_S)

    def _outstanding(self, what: str) -> bool:
        """Whether a job of that kind was submitted and is not known to have done its work."""
        return _is_there(self._mark(what) / "submitting")

    def _submit(
        self, what: str, name: str, line: str, holds: Callable[[], bool], *, absent: bool = False
    ) -> tuple[Path, str]:
        """Submit a job with the directive ``line``, unless there is one; return its folder and its
        id. ``absent`` is noted before: whether there is no such buffer now, for certain."""
        mark = self._mark(what)
        job_id = self.launcher.find(mark)
        if job_id is not None and self.launcher.is_over(job_id) and not holds():
            (mark / "done").touch()  # it was cancelled, or its work was undone since
            mark, job_id = self._mark(what), None
            absent = self.bursts.buffer(name) is None  # others may be making it
        if job_id is None:
            if what == CREATE:
                make_folders(mark, below=self.run.path)
                write_json(mark / "before.json", {"absent": absent})
            job_id = self.launcher.hand_in(mark, self.job(mark, line))
        return mark, job_id

    def job(self, mark: Path, line: str) -> BatchJob:
        """The job with the directive ``line`` and its marks in that folder."""
        return BatchJob(
            name=f"{self.launcher.token}-{mark.name}",
            comment=self.run.id,
            argv=("true",),
            output=mark / "said.log",
            buffer_lines=(line,),
        )

    def _polls(self, mark: Path) -> Iterator[bool]:
        """Several times a second; True when it is time to ask the scheduler. Raises SiteError
        when the driver leaves."""
        pause, began = FIRST_LOOK_S, False
        due = time.monotonic() + pause
        while True:
            if self.leaving():
                raise SiteError(f"left while it waited for {mark.name} of buffer {self.name}")
            begins = not began and surely_exists(mark / "said.log")
            began = began or begins
            now = time.monotonic()
            is_due = begins or now >= due
            if is_due:
                pause = min(GROWTH * pause, self.site.batch.query_interval_s)
                due = now + pause
            yield is_due
            time.sleep(LOOK_S)

    def _require_alive(self, job_id: str, mark: Path, name: str, holds: Callable[[], bool]) -> None:
        if not self.launcher.stands(job_id) and not holds():
            raise SiteError(
                f"{mark.name} of buffer {name} failed: {self.launcher.fate(job_id, mark)}"
            )

    def _require_room(self, pools: list[Pool]) -> None:
        pool = next((pool for pool in pools if pool.total), None)
        if pool is not None and self.wanted.capacity > pool.total:
            raise SiteError(
                f"buffer.capacity asks for {show_bytes(self.wanted.capacity)}, and pool "
                f"{pool.name} has {show_bytes(pool.total)} in all"
            )

    def _mark(self, what: str) -> Path:
        """The folder of the first such job of this run that is not known to have done its work."""
        number = 1
        while _is_there(self.run.path / "steps" / f"{what}-{number}" / "done"):
            number += 1
        return self.run.path / "steps" / f"{what}-{number}"


def own_name(folder: str) -> str:
    """The buffer that a run makes for itself, by the name of its folder on it."""
    return "bl_" + re.sub(r"\W", "_", folder)


def _is_there(mark: Path) -> bool:
    """Whether that mark was left: asked again for ten seconds while that is not known. Raises
    OSError; a mark that cannot be seen is never taken for one that is missing."""
    return again(lambda: check_existence(mark))


def _is(known: BufferRef, burst: Burst) -> bool:
    """Whether it is that very buffer, not one that was made later with its name."""
    return known.created in {"", burst.created}


def _allocated(burst: Burst | None) -> bool:
    return burst is not None and burst.state == "allocated"
