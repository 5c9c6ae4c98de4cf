"""A driver and two attempts of a model, of which the second resumes from a checkpoint."""

from __future__ import annotations

from dataclasses import replace

from driver_case import Drivers

from burstlens.core.model import Frame
from burstlens.core.run import events as ev
from burstlens.core.run.journal import read
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import Report


class Attempts:
    """A driver and the attempts of its model."""

    def __init__(self, drivers: Drivers) -> None:
        self.drivers = drivers
        self.production = drivers.up()
        self.begin(1)

    def begin(self, attempt: int, checkpoint: str | None = None) -> None:
        job, by = f"attempt-{attempt}", attempt - 1 or None
        begins = {"attempt": attempt, "checkpoint": checkpoint, "written_by": by}
        self.drivers.journal.append(ev.SimulationSubmitting(job=job, **begins))

    def frame(self, attempt: int, hour: int) -> Frame:
        paths = (f"storm-1/{attempt}/out_{hour}.nc",)
        return replace(self.drivers.frame(hour), attempt=attempt, paths=paths, record=0)

    def report(self, attempt: int, *hours: int) -> None:
        frames = tuple(self.frame(attempt, hour) for hour in hours)
        report = Report(frames, (), Cursor())
        self.drivers.after(self.production.take, report, attempt)

    def publish(self, which: int = 0) -> None:
        """Make and publish all that is ordered; values reach to one more than ``which``."""
        drivers = self.drivers
        drivers.turn(release=False)
        while drivers.block.tasks:
            drivers.work(("made",) * 20, which)
            drivers.deliver(0)
            drivers.turn(release=False)

    @property
    def orders(self) -> set[tuple[int, str]]:
        orders = (one for task in self.drivers.block.tasks for one in task.about.orders)
        return {(order.frame.attempt, order.frame.time) for order in orders}

    @property
    def published(self) -> dict[str, int]:
        """The attempt of which each time was published last."""
        self.drivers.journal.sync()
        lines = read(self.drivers.run.journal)
        return {one.time: one.attempt for one in lines if isinstance(one, ev.ProductPublished)}
