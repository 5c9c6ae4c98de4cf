"""Whose a named persistent buffer is: the run's, which may destroy it, or somebody else's; and who
else uses it.

Schedulers do not say which job has made a buffer. It is the run's only if an answer showed that
there was none just before the run asked for it, its CreateTime is not before that request, and no
other job of that time names it in ``create_persistent``. Times are compared among the scheduler's
answers alone.

Jobs that mount it are in the scheduler's queue. Files are seen only in a job that mounts it; the
runs of this user say in their directories whether theirs are there still.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from burstlens.cluster_configs.bursts import Burst, BurstScheduler, Holder
from burstlens.core.decode import convert
from burstlens.core.durable import make_folders, read_json, write_json
from burstlens.core.errors import RunError
from burstlens.core.run.directory import RunDir, runs_in
from burstlens.core.run.facts import facts_of
from burstlens.core.run.places import runs_folders
from burstlens.core.run.snapshot import read_snapshot
from burstlens.core.run.status_file import BufferPart
from burstlens.workflows.placement.batch import BatchLauncher

FILE = "steps/buffer-origin.json"

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


class BufferOrigin(Struct, frozen=True):
    """What was observed of how the buffer ``name`` came to be, as the journal has it.

    ``created`` is its CreateTime, ``job`` the run's own create job, ``submitted`` when; ``absent``
    whether an answer showed before that there was none; ``others`` are further jobs that name it in
    ``create_persistent``. ``owned`` is what follows, ``why`` says so in words.
    """

    name: str
    created: str
    owned: bool
    why: str
    job: str = ""
    submitted: str = ""
    absent: bool = False
    others: list[str] = []


def origin(
    launcher: BatchLauncher, bursts: BurstScheduler, burst: Burst, job: str, *, absent: bool
) -> BufferOrigin:
    """The origin of a buffer that the run's ``job`` was to make; ``absent``: an answer showed
    before that there was none. Raises SchedulerError."""
    name, created = burst.name, burst.created
    # Jobs that name it in `create_persistent`; of ended ones only those since `since`.
    creators = [one for one in bursts.holders(ended=True) if one.creates(name)]
    since, title = bursts.remembers_since(), launcher.scheduler.title
    mine = f"{launcher.token}-"  # how the names of the run's own jobs begin
    own = next((one for one in creators if one.job_id == job), None)
    submitted = own.submitted if own else ""
    others = [one.job_id for one in creators
              if not (one.name.startswith(mine) or _ended_before(one, submitted))]  # fmt: skip
    why = ""
    if not absent:
        why = "it was there, or not known to be absent, before the run asked for it"
    elif not all(map(_TIME.fullmatch, (created, submitted, since))):
        why = f"{title} does not say when it was made, and when the run asked for it"
    elif created < submitted:
        why = f"it was made at {created}, before the run asked for it at {submitted}"
    elif others:
        named = ", ".join(f"job {number}" for number in others)
        why = f"{named} also asked {title} to make it"
    elif created < since:
        why = f"{title} has forgotten who else asked for it at {created}"
    owned = not why
    why = why or f"there was none before job {job} asked for it, and no other job did"
    return BufferOrigin(name, created, owned, why, job, submitted, absent, others)


def _ended_before(job: Holder, then: str) -> bool:
    """Whether a job was over for certain then: it has made nothing since."""
    return job.over and bool(_TIME.fullmatch(job.ends)) and job.ends < then


def read_origin(run: RunDir, name: str, created: str) -> BufferOrigin | None:
    """The record of that very buffer in the run directory; None where there is none that can be
    read. Raises OSError."""
    found = read_json(run.path / FILE) or {}
    if (found.get("name"), found.get("created")) != (name, created):
        return None
    try:
        return convert(found, BufferOrigin)
    except ValueError:
        return None


def write_origin(run: RunDir, origin: BufferOrigin) -> None:
    """Keep the record for later drivers, which cannot see it any more. Raises OSError."""
    make_folders((run.path / FILE).parent, below=run.path)
    write_json(run.path / FILE, structs.asdict(origin))


def users_of(run: RunDir, name: str, created: str, folders: Sequence[str]) -> list[str]:
    """Runs but this one, and ``folders`` that were seen on it of no known run, whose files may be
    on that buffer."""
    runs, known = [], set()
    for other, folder, buffer in _others(run):
        known.add(folder)
        if _is_on(buffer, name, created) and not buffer.released:
            runs.append(f"run {other.id}")
    return [*sorted(runs), *(f"folder {folder}" for folder in folders if folder not in known)]


def _is_on(buffer: BufferPart, name: str, created: str) -> bool:
    """Whether it may be that very buffer: older versions did not note when it was made."""
    return buffer.name == name and (not created or buffer.created in {None, created})


def _others(run: RunDir) -> Iterator[tuple[RunDir, str, BufferPart]]:
    """The other runs, their folders and their parts of a buffer."""
    for other in runs_in([run.path.parent, *runs_folders()]):
        if other.path.resolve() == run.path.resolve():
            continue
        try:
            buffer, folder = read_snapshot(other).buffer, facts_of(other).buffer_folder
        except (RunError, OSError):
            continue
        yield other, folder or "", buffer or BufferPart("", True, 0.0, 0, 0)
