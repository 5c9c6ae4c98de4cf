"""A run, read from its directory: its state, frames, products, events and log.

It only reads the run directory and drops control files, so it works on any host, for any user's
run, even if the driver has died.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time as clock
from collections.abc import Iterable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlens.clients.opened import steering
from burstlens.clients.opened.checkpoints import Checkpoint, checkpoints_of
from burstlens.clients.opened.file_errors import reading
from burstlens.clients.opened.frames import Frames, frames_of
from burstlens.clients.opened.picture import Picture, is_picture
from burstlens.clients.opened.products import Products, ProductView, Time, time_key
from burstlens.clients.opened.status import is_over, looks, read_status, text
from burstlens.core.decode import convert, record
from burstlens.core.durable import read_json
from burstlens.core.errors import BurstlensError, RunError
from burstlens.core.nearness import did_you_mean
from burstlens.core.quantity import parse_duration
from burstlens.core.run.directory import RunDir
from burstlens.core.run.events import Event
from burstlens.core.run.follow import FollowedJournal, Line, uncollected
from burstlens.core.run.index import Index, Published
from burstlens.core.run.journal import read, read_records
from burstlens.core.run.segments import segments_of
from burstlens.core.run.status_file import RunStatus

if TYPE_CHECKING:
    import xarray

POLL_S = 0.25
ENDS_S = 20.0
LOG_BYTES = 2**20
"""At most this many bytes of a log's end are read: a model's log may hold gigabytes."""


class StatusMapping(dict[str, Any]):
    """What ``burstlens status --json`` prints, shown as ``burstlens status`` shows it."""

    def __repr__(self) -> str:
        return text(convert(dict(self), RunStatus))


class RunView:
    """A run, read from its directory alone; nothing is read twice.

    Each property gives the run's current state. All raise RunError when the directory cannot be
    read.
    """

    def __init__(self, run: RunDir) -> None:
        self.directory = run
        self._index = Index(run.index)
        self._journal = FollowedJournal(run.journal, marks=(b'"frame.',))
        self._frames: list[Line] = []

    @property
    def id(self) -> str:
        """The run's id."""
        return self.directory.id

    @property
    def status(self) -> StatusMapping:
        """State, progress, counts, latency, ledger, alarms, as ``burstlens status`` shows them."""
        return StatusMapping(record(self.read_status()))

    def read_status(self) -> RunStatus:
        """The status as a type."""
        return read_status(str(self.directory.path))

    @property
    def frames(self) -> Frames:
        """The frames so far, with what is published of each."""
        with uncollected():
            with reading(self.directory.journal):
                stretch = self._journal.look()
            if stretch.fresh:
                self._frames = []
            known = ("frame.ready", "frame.damaged")
            self._frames += [line for line in stretch.lines if line.get("event") in known]
            return frames_of(self._frames, self._published())

    @property
    def checkpoints(self) -> tuple[Checkpoint, ...]:
        """The checkpoints from which it can be resumed, in order of model time."""
        return checkpoints_of(self.directory, self.read_status())

    @property
    def products(self) -> Products:
        """The products, also those that have nothing published yet; each entry says whether it is
        ``stale``."""
        views = {name: (kind, list[Published]()) for name, kind in _kinds(self.directory).items()}
        published = self._published().values()
        for entry in segments_of(self.directory).mark(published):
            views.setdefault(entry.product, ("", []))[1].append(entry)
        folder, by_time = self.directory.products, attrgetter("time", "stream")
        return Products(
            (name, ProductView(name, kind, folder, tuple(sorted(found, key=by_time))))
            for name, (kind, found) in views.items()
        )

    def image(
        self, product: str | None = None, time: Time = "latest", stream: str | None = None
    ) -> Picture:
        """The picture of a product at a valid time; without a product the run's newest picture.

        ``time`` is ``"latest"`` (that is not stale), a valid-time key, a time such as
        ``"2005-08-28 12:00:00"``, or elapsed seconds. Raises RunError, with near names or times,
        when there is none.
        """
        if product is not None:
            return self.products[product].image(time, stream)
        for entry in reversed(self._published().values()):
            if is_picture(entry.name):
                return self.products[entry.product].image(time, stream)
        raise RunError(f"{self.id} has published no picture yet")

    def path(self, product: str, time: Time = "latest", stream: str | None = None) -> Path:
        """The file of a product at a valid time, as for ``image``. Raises RunError."""
        return self.products[product].path(time, stream)

    def values(
        self,
        product: str,
        time: Time = "latest",
        stream: str | None = None,
        *,
        field: int | str = 0,
    ) -> xarray.DataArray:
        """The values of a map, a section or a peak at a valid time, with their coordinates.

        ``time`` is as for ``image``, or an ``int``: the number of the frame, -1 the last.
        Rows go from the top of the picture; ``field`` is 0 for the lowest field, or the label of a
        nest, such as ``"d02"``. Raises RunError, also without xarray, and ValuesError.
        """
        from burstlens.clients.opened.arrays import values_of

        return values_of(self.products[product], time, stream, field)

    def series(
        self,
        product: str,
        *,
        lat: float | None = None,
        lon: float | None = None,
        x: float | str | None = None,
        y: float | str | None = None,
        stream: str | None = None,
    ) -> xarray.DataArray:
        """The values of a product at a place over time, NaN for gaps; ``gap`` says why.

        The place is ``lat`` and ``lon``, or ``x`` and ``y`` in the units of the picture's plane or
        as texts such as ``"4.5km"``; of a section distance and height. It is looked up in each
        frame's own grid, of several nests in the topmost one there. Raises RunError, also without
        xarray, and ValuesError.
        """
        from burstlens.clients.opened.arrays import series_of
        from burstlens.clients.opened.spot import Spot

        return series_of(self.directory, product, Spot.of(lat, lon, x, y), stream)

    def journal(self) -> Iterator[dict[str, Any]]:
        """The run's events from its beginning as dicts; docs/journal.md names them."""
        with reading(self.directory.journal):
            yield from read_records(self.directory.journal)

    def events(self) -> Iterator[Event]:
        """The run's events from its beginning, as :mod:`burstlens.core.run.events` has them."""
        with reading(self.directory.journal):
            yield from read(self.directory.journal)

    @property
    def logs(self) -> list[str]:
        """Names of the logs that are home: the driver's at once, the model's after its end."""
        folder = self.directory.logs
        return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())

    def log(self, name: str) -> str:
        """A log's text, at most its last MiB. Raises RunError with near names."""
        names = self.logs
        if name not in names:
            raise RunError(f'{self.id} has no log "{name}"{did_you_mean(name, names)}')
        path = self.directory.logs / name
        with reading(path), path.open("rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - LOG_BYTES))
            return stream.read(LOG_BYTES).decode(errors="replace")

    def stop(self, *, now: bool = False) -> str:
        """Ask the run to stop, as ``burstlens stop``; returns a message, also when it is over.

        The frame in progress may end (60 s at most); with ``now`` the model ends within 5 s.
        Works with a dead driver too. Raises RunError where the control folder cannot be written.
        """
        return steering.stop(self.directory, now=now)

    def pause(self) -> None:
        """Ask for no more products until ``resume_watching``; the model goes on.

        Raises RunError when the run is over.
        """
        steering.pause(str(self.directory.path))

    def resume_watching(self) -> None:
        """Ask for products again, the newest frames first. Raises RunError."""
        steering.resume_watching(str(self.directory.path))

    def resume(
        self,
        from_: Time | None = None,
        *,
        walltime: str | float | None = None,
        settings: Iterable[str] = (),
        force: bool = False,
    ) -> bool:
        """Resume the run after a crash, a failure or a stop, as ``burstlens resume --detach``.

        ``from_`` is the time of a checkpoint, or ``"latest"``: the run resumes from there, whatever
        its end was, with another ``walltime`` of its jobs (``"06:00:00"`` or seconds) and changed
        ``settings`` of the model (``["namelist.domains.time_step=20"]``); ``force`` takes a suspect
        one. Returns False when there is nothing to resume. Raises RunError, RecipeError.
        """
        from burstlens.core.run.continuation import forget_wanted
        from burstlens.workflows.driver.detach import detach
        from burstlens.workflows.driver.resuming import resumable

        self._let_driver_end()
        if from_ is not None:
            self._want(time_key(from_), walltime, settings, force=force)
        elif walltime is not None or force or tuple(settings):
            raise RunError("walltime, settings and force go with from_, the time of a checkpoint")
        elif resumable(self.directory) is not None:
            return False
        try:
            detach(self.directory)
        except BurstlensError:
            if from_ is not None:
                forget_wanted(self.directory)
            raise
        return True

    def _want(
        self, time: str, walltime: str | float | None, settings: Iterable[str], *, force: bool
    ) -> None:
        from burstlens.workflows.driver.continuing import changes_of, want_continuation

        try:
            walltime_s = None if walltime is None else parse_duration(walltime)
        except ValueError as error:
            raise RunError(f"walltime: {error}") from None
        changes = changes_of(settings)
        want_continuation(
            self.directory, time, settings=changes, walltime_s=walltime_s, force=force
        )

    def free(self, *, discard: bool = False) -> str:
        """Give back the buffer of a run that is over, as ``burstlens free``; says what it did.

        ``discard`` gives up raw files that are not home yet. Raises RunError.
        """
        self._let_driver_end()
        # A process of its own: it becomes the run's driver until it ends.
        words = [sys.executable, "-P", "-m", "burstlens", "free", str(self.directory.path)]
        words += ["--discard"] * discard
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RunError(done.stderr.strip().removeprefix("burstlens: "))
        return done.stdout.strip()

    def _let_driver_end(self) -> None:
        """Wait for the driver: it lives on for a moment after it has recorded the run's end."""
        end = clock.monotonic() + ENDS_S
        while clock.monotonic() < end:
            status = self.read_status()
            if not is_over(status) or not status.driver_alive:
                return
            clock.sleep(POLL_S)

    def wait(
        self, timeout_s: float | None = None, *, published: int | None = None
    ) -> StatusMapping:
        """Wait until the run is over, or ``published`` products are published, or the time is up.

        Returns the status, whose ``state`` says which. A run that starts or is resumed is not
        over. It waits ten minutes for an unavailable directory, then raises RunError.
        An interrupt ends the waiting, not the run.
        """
        end = None if timeout_s is None else clock.monotonic() + timeout_s
        for status in looks(self.directory):
            enough = published is not None and len(self._published()) >= published
            late = end is not None and clock.monotonic() >= end
            if is_over(status) or enough or late:
                break
            clock.sleep(POLL_S)
        return StatusMapping(record(status))

    def __repr__(self) -> str:
        return f"<run {self.id}: {self.read_status().state}>"

    def _published(self) -> dict[Any, Published]:
        with reading(self.directory.index):
            self._index.look()
        return self._index.entries


def _kinds(run: RunDir) -> dict[str, str]:
    """The kind of each product: the recipe's, in its order, and those that were added since."""
    kinds: dict[str, str] = {}
    with contextlib.suppress(AttributeError, KeyError, OSError, TypeError):  # another user's file
        table: Any = (read_json(run.facts) or {})["table"]
        kinds |= {str(it["name"]): str(it["kind"]) for it in table["product"]}
    with contextlib.suppress(AttributeError, KeyError, OSError, TypeError):
        now: Any = (read_json(run.status) or {})["products"]
        kinds |= {str(name): str(it.get("kind", kinds.get(name, ""))) for name, it in now.items()}
    return kinds
