"""The run directory: holds everything of a run, on the parallel file system.

The only thing that driver, viewing block, supervisor and clients share.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlens.core.durable import read_dropped
from burstlens.core.errors import RunError
from burstlens.core.nearness import did_you_mean
from burstlens.core.renamed import renamed
from burstlens.core.run.places import all_folders, runs_folders, runs_places
from burstlens.core.run.places import folder_for as folder_for
from burstlens.core.run.places import runs_folder as runs_folder
from burstlens.core.run.requests import STOPS, find_requests
from burstlens.core.run.volumes import volume_numbers, volume_path

_DROPS = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class RunDir:
    """Paths of one run."""

    path: Path

    @property
    def id(self) -> str:
        """The run's id: the directory's name."""
        return self.path.name

    @property
    def journal(self) -> Path:
        """The journal; the newest file of a long one."""
        return self.path / "journal.jsonl"

    @property
    def facts(self) -> Path:
        """``run.json``: what never changes."""
        return self.path / "run.json"

    @property
    def status(self) -> Path:
        """``status.json``: the snapshot of about a second ago."""
        return self.path / "status.json"

    @property
    def recipe(self) -> Path:
        """The recipe as given; the table with every parameter filled in is in ``run.json``."""
        return self.path / "recipe.toml"

    @property
    def files(self) -> Path:
        """The functions and scripts that the recipe brought along."""
        return self.path / "files"

    @property
    def products(self) -> Path:
        """Published products."""
        return self.path / "products"

    @property
    def incoming(self) -> Path:
        """Products that were staged and not yet published."""
        return self.path / "products/.incoming"

    @property
    def index(self) -> Path:
        """One line for each published product."""
        return self.path / "products/index.jsonl"

    @property
    def control(self) -> Path:
        """Files dropped by clients: ``stop``, ``stop-now``, ``pause``, ``add-*.json``."""
        return self.path / "control"

    @property
    def pause(self) -> Path:
        """The file that exists while no products are to be made."""
        return self.path / "control/pause"

    @property
    def logs(self) -> Path:
        """Logs brought home, one folder per job; ``burstlens/`` has those of Burstlens itself."""
        return self.path / "logs"

    @property
    def model_log(self) -> Path:
        """The model's log as the watcher reports it while the model runs."""
        return self.path / "logs/model.log"

    @property
    def output(self) -> Path:
        """Raw files that the recipe keeps."""
        return self.path / "output"

    @property
    def checkpoints(self) -> Path:
        """Checkpoints that were brought home, each in a folder of its own."""
        return self.path / "checkpoints"

    def checkpoint(self, attempt: int, time: str) -> Path:
        """The folder of the checkpoint that an attempt has written at that valid time."""
        return self.checkpoints / str(attempt) / time

    @property
    def sentinel(self) -> Path:
        """Trips that the sentinel found while no driver lived."""
        return self.path / "sentinel.jsonl"

    @property
    def notify(self) -> Path:
        """``notify.json``: the ways of ``--notify``, readable by their user alone."""
        return self.path / "notify.json"

    @property
    def parsl(self) -> Path:
        """Parsl's own files; only the user's, they hold the keys of the encrypted channels."""
        return self.path / "parsl"

    @property
    def start(self) -> Path:
        """The latest start of a driver; burstlens/core/run/heartbeat.py reads and writes it."""
        return self.path / "start.json"

    @property
    def settings(self) -> Path:
        """Copies of the model's settings as they were when the run was created: its later attempts
        are told by them, whatever becomes of the inputs."""
        return self.path / "settings"

    @property
    def continuation(self) -> Path:
        """The checkpoint that the next driver is to resume from, where a person wants that;
        burstlens/workflows/driver/continuing.py reads and writes it."""
        return self.path / "continuation.json"

    @property
    def journal_files(self) -> list[Path]:
        """All files of the journal, in order. Raises OSError."""
        older = [volume_path(self.journal, number) for number in volume_numbers(self.journal)]
        return [*older, self.journal]

    def job(self, name: str) -> Path:
        """The folder of a supervised job (``attempt-1``, ``step-real-1``)."""
        kind = "attempts" if name.startswith("attempt-") else "steps"
        return self.path / kind / (name.removeprefix("attempt-") if kind == "attempts" else name)

    def claim(self, epoch: int) -> Path:
        """The file in which the driver of that epoch identifies itself, from its beginning on."""
        return self.path / f"driver-{epoch}"

    @property
    def epochs(self) -> list[int]:
        """The epochs that were claimed, in order."""
        names = (path.name.removeprefix("driver-") for path in self.path.glob("driver-*"))
        return sorted(int(name) for name in names if name.isascii() and name.isdigit())

    def create(self) -> None:
        """Make the directory and its folders. Raises RunError when it exists or cannot be made."""
        try:
            self.path.mkdir(parents=True)
            for folder in (self.files, self.incoming, self.control, self.logs):
                folder.mkdir(parents=True)
            self.parsl.mkdir(mode=0o700)
        except FileExistsError:
            raise taken(self) from None
        except OSError as error:
            raise unmade(self, error) from error

    def request(
        self, name: str, reason: Mapping[str, Any] | None = None, *, fill: bool = False
    ) -> None:
        """Create a control file; ``resume-watching`` removes ``pause``. Raises RunError.

        ``reason`` says who asks, such as ``{"by": "guard", "guard": ..., "text": ...}``; without it
        a person does. A file that exists already keeps its content; one that is still empty gets
        the reason with ``fill``, for who made it when the disk was full.
        """
        there = next(filter(self.has_request, STOPS), None)
        if reason is not None and not fill and there in ("stop-now", name):
            return  # the stop exists already; a guard may only make it quicker
        try:
            self.control.mkdir(exist_ok=True)
            # No link is followed: the open folder is the run's own, whichever user owns it.
            folder = os.open(self.control, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if name == "resume-watching":
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink("pause", dir_fd=folder)
                else:
                    _create(name, reason, folder, fill=fill)
            finally:
                os.close(folder)
        except OSError as error:
            raise RunError(f"cannot write {self.control / name}: {error.strerror}") from error

    def has_request(self, name: str) -> bool:
        """Whether that file is in ``control/``, as far as can be seen."""
        return os.path.exists(self.control / name)  # Path.exists raises a file server's errors

    def stop_requested(self) -> str | None:
        """The stop that clients ask for: ``stop-now``, ``stop`` or None; also one that this process
        could not write yet."""
        own = find_requests(self.path)
        held = own.stop if own is not None else None
        return next((name for name in STOPS if name == held or self.has_request(name)), None)

    def stop_reason(self) -> dict[str, Any]:
        """The reason in the first stop that was asked for; empty for a person's."""
        standing = []
        for name in ("stop", "stop-now"):
            # By the file server's clock alone, as the clocks of nodes may differ.
            with contextlib.suppress(OSError):
                standing.append(((self.control / name).lstat().st_mtime_ns, name))
        found = read_dropped(self.control / min(standing)[1]) if standing else None
        own = find_requests(self.path)
        return found or (dict(own.reason) if own is not None else {})

    if not TYPE_CHECKING:  # a type checker shall not take any name for an attribute

        def __getattr__(self, name: str) -> Any:
            return getattr(self, renamed("RunDir", name))

    def clear_control(self) -> None:
        """Remove the control files before a new attempt, and forget what this process could not
        write. Raises RunError when one stays."""
        if (own := find_requests(self.path)) is not None:
            own.forget()
        for name in ("stop-now", "stop", "frame-done"):
            try:
                (self.control / name).unlink(missing_ok=True)
            except OSError as error:
                place = self.control / name
                raise RunError(f"cannot take {place} away: {error.strerror}") from error

    def sweep(self) -> None:
        """Delete what killed processes have left: staged products that will never be published and
        temporary files. Call it only when no worker of this run lives."""
        left = [
            *self.incoming.glob("*"),
            *self.path.glob(".*.part"),
            *self.products.glob(".*.part"),
            *(self.products / "live").glob(".*.part"),
        ]
        for folder in ("attempts", "steps", "output", "logs"):
            left += (self.path / folder).rglob(".*.part")
        for path in left:
            with contextlib.suppress(OSError):
                path.unlink()
        for unfinished in self.checkpoints.glob("*/.*.part"):
            shutil.rmtree(unfinished, ignore_errors=True)


def taken(run: RunDir) -> RunError:
    """The error for a run whose directory exists already."""
    return RunError(
        f"{run.path} exists already; --name takes another name, and "
        f"`burstlens resume {run.id}` continues that run"
    )


def unmade(run: RunDir, error: OSError) -> RunError:
    """The error for a run whose directory cannot be made in its place."""
    return RunError(
        f"cannot make the run directory {run.path}: {error.strerror}; "
        "BURSTLENS_RUNS names another place"
    )


def _create(name: str, reason: Mapping[str, Any] | None, folder: int, *, fill: bool) -> None:
    """Create the file, or leave an existing one: of two at once the first is kept as well."""
    try:
        descriptor = os.open(name, _DROPS | os.O_EXCL, 0o666, dir_fd=folder)
    except FileExistsError:
        if reason is not None and not fill:
            return
        descriptor = os.open(name, _DROPS, 0o666, dir_fd=folder)  # raises for a non-file
    text = json.dumps(reason).encode() if reason is not None else b""
    try:
        # Its existence alone asks for the stop, also where a full disk takes no content.
        if os.fstat(descriptor).st_size == 0 and os.write(descriptor, text) != len(text):
            os.ftruncate(descriptor, 0)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(descriptor)


def all_runs(folder: Path | None = None) -> Iterator[RunDir]:
    """The runs in a folder, the newest first; without one those in each of ``all_folders()``."""
    return runs_in([folder] if folder is not None else all_folders())


def runs_in(places: Sequence[Path]) -> Iterator[RunDir]:
    """The runs in these folders, the newest first, also several of one id in different folders.
    Raises OSError when the first folder cannot be read."""
    found: dict[str, tuple[float, Path]] = {}
    for number, place in enumerate(places):
        try:
            paths = list(place.iterdir()) if place.is_dir() else []
        except OSError:
            if number == 0:
                raise
            continue
        real = os.path.realpath(place)  # two of the places may be one folder
        for path in paths:
            with contextlib.suppress(OSError):  # not a run, gone by now, or not readable
                made = (path / "run.json").stat().st_mtime
                found.setdefault(f"{real}/{path.name}", (made, path))
    for _, path in sorted(found.values(), reverse=True):
        yield RunDir(path)


def _by_id(runs: Sequence[RunDir], places: Sequence[Path]) -> dict[str, list[RunDir]]:
    """The runs of these folders by id, those of one id in the order of their folders."""
    order = {place: number for number, place in reversed([*enumerate(places)])}
    found: dict[str, list[RunDir]] = {}
    for run in runs:
        found.setdefault(run.id, []).append(run)
    for twins in found.values():
        twins.sort(key=lambda run: order[run.path.parent])
    return found


def open_run_dir(name: str) -> RunDir:
    """The run given by id, by the start of its id, by path, or ``last``.

    A run in a folder of ``runs_folders()`` hides its namesakes elsewhere; ``last`` is the newest of
    those that are not hidden. Raises RunError with near names, and for an id, or the start of one,
    that two other projects have.
    """
    path = Path(os.path.expanduser(name))
    if (path / "run.json").is_file():
        return RunDir(path.resolve())
    if os.sep in name:
        what = "is not a run directory: run.json is missing" if path.is_dir() else "does not exist"
        raise RunError(f"{name} {what}; `burstlens list` shows the runs in {runs_places()}")
    # A command in the folder of one project means its runs, if it has some.
    places = runs_folders()
    runs, is_here = [*runs_in(places)], True
    named = _by_id(runs, places)
    if not named or (name != "last" and not any(run_id.startswith(name) for run_id in named)):
        places = all_folders()
        runs, is_here = [*runs_in(places)], False
        named = _by_id(runs, places)
    if name == "last" and named:
        return next(run for run in runs if not is_here or named[run.id][0].path == run.path)
    starting = [name] if name in named else [run_id for run_id in named if run_id.startswith(name)]
    if len(starting) > 1:
        raise RunError(f'"{name}" is the start of {len(starting)} runs: {", ".join(starting)}')
    if starting:
        (run_id,) = starting
        twins = named[run_id]
        if not is_here and len(twins) > 1:
            paths = ", ".join(str(run.path) for run in twins)
            raise RunError(f'"{run_id}" is the id of {len(twins)} runs: {paths}; give the path')
        return twins[0]
    if not named:
        raise RunError(f"there are no runs in {runs_places()}; BURSTLENS_RUNS names another place")
    raise RunError(f'there is no run "{name}" in {runs_places()}{did_you_mean(name, named)}')
