"""The drivers of one run, one after the other, and all that happens to them but at random.

They are Burstlens's own classes on a real run directory. A kill takes what a driver has in memory;
its files and the workers stay.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from exactly_once_case import Disk, Killed, Ledger, Line, state_of
from workers_case import Block, Task, Workers

from burstlens.cluster_configs.site import Site
from burstlens.core.model import Damage, Frame
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.history import replay
from burstlens.core.run.journal import Journal, read
from burstlens.workflows.deciding.state import Policy, RunState
from burstlens.workflows.driver.dispatch import Dispatch
from burstlens.workflows.driver.inbox import Inbox
from burstlens.workflows.driver.loop import Loop
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import Report
from burstlens.workflows.ordering.batches import Batch
from burstlens.workflows.ordering.events import (
    FramesFound,
    FramesReleased,
    ProductsPublished,
    ResultsRead,
    Turn,
    WorkReturned,
)
from burstlens.workflows.ordering.guarding import Guarding
from burstlens.workflows.ordering.instructions import Make
from burstlens.workflows.ordering.production import Production
from burstlens.workflows.ordering.shown_points import ShownPoints
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.recipe.recipe import Recipe

FRAMES = 12
"""Frames of an attempt at most."""
LOOK = 3
"""Frames that a watcher reports at a time."""
TURNS = 200
"""Turns of the driver's loop after which every run has ended."""
EVER = 1e12
"""A time at which everything is due."""

Strike = tuple[str, int, tuple[int, int, int]]
"""What happens to a driver, after how many calls, and three quarters (0 to 4) for the details."""


def key(number: int) -> str:
    return f"t{number:08d}.000"


class ProducingRun(Policy):
    """A kind of run that has frames and products alone. ``releases``: whether raw frames go."""

    production: Production

    def __init__(self, state: RunState, shown: ShownPoints) -> None:
        super().__init__(state)
        context, outbox = state.context, state.outbox
        buffer = BufferRef("posix", "/nowhere", "storm-1")
        guarding = Guarding(context, outbox)
        self.production = Production(context, outbox, buffer, guarding, shown)
        self.production.slots = 4
        self.attempt, self.releases = 0, True
        self.submitted: int | None = None

    def frames_found(self, event: FramesFound) -> None:
        """Order products."""
        self.production.take(event.report, self.attempt)

    def results_read(self, event: ResultsRead) -> None:
        """Take them."""
        self.production.read(event)

    def work_returned(self, event: WorkReturned) -> None:
        """Take it."""
        self.production.returned(event)

    def released(self, event: FramesReleased) -> None:
        """Take it."""
        self.production.releases.returned(event)

    def turn(self) -> None:
        """Publish."""
        self.production.publish()

    def published(self, event: ProductsPublished) -> None:
        """Submit, release."""
        self.production.published(event)
        if event.error is None and self.releases:
            self.production.releases.begin(held=False)
        self.submitted = self.production.submit(EVER)


class Drivers:
    """One run, from its first driver to its end."""

    def __init__(self, recipe: Recipe, site: Site, folder: Path) -> None:
        self.recipe = recipe
        self.site = site
        self.run = RunDir(folder / "storm-1")
        self.run.create()
        self.disk = Disk(self.run)
        made = {product.name: product for product in self.recipe.products}
        self.every = {name: product.common.every for name, product in made.items()}
        self.workers = Workers(self.run, made)
        self.known: dict[object, int] = {}
        self.model: dict[int, list[bool]] = {}
        """The frames that each attempt has written: whether they are whole."""
        self.starts_again = True
        """Whether the model starts again with the next driver, from its first frame on."""
        self.epoch = 0
        self.production: Production | None = None
        self.results: list[WorkReturned | FramesReleased] = []
        self.orphans: list[Task] = []
        """Tasks of dead drivers."""
        self.power: tuple[int, int, int] | None = None
        self.early: Strike | None = None
        """What happens to the next driver while it resumes."""
        self.announced: set[Line] = set()
        """What this driver has published, as it sees it."""
        self.lost: set[Line] = set()
        """The same of dead drivers, where the disk has not kept the event."""
        self.ledger = Ledger(self.run.journal, self.every, self.known)
        self.disk.install()

    # The driver.

    @contextlib.contextmanager
    def driving(self) -> Iterator[None]:
        """What the driver does: a kill ends it, a full disk does not."""
        refused = self.disk.refused
        self.disk.on = True
        try:
            yield
        except Killed:
            self.die()
        except OSError:
            assert self.disk.refused > refused, "the disk has refused nothing"
        finally:
            self.disk.on = False

    def die(self) -> None:
        """The driver's process is gone, with all that it held in memory."""
        if self.production is not None:
            self.orphans += self.block.tasks
        self.production = None
        self.disk.end()
        if self.power is not None:
            self.disk.cut_power(*self.power)
            self.power = None
        self.ledger = Ledger(self.run.journal, self.every, self.known)
        if self.run.journal.exists():
            self.ledger.look()
        self.lost |= self.announced - self.ledger.published
        self.announced = set()

    def up(self) -> Production:
        """The production of the driver that lives, the next one if need be."""
        while self.production is None:
            if self.early is not None:
                self.arm(*self.early)
                self.early = None
            with self.driving():
                self.resume()
            if self.production is None:
                self.die()
        return self.production

    def resume(self) -> None:
        """A driver begins, as in ``execute`` and ``Driver``."""
        self.epoch += 1
        history = replay(read(self.run.journal))

        def seen(event: ev.Event) -> None:
            history.apply(event)
            if isinstance(event, ev.ProductPublished):
                self.announced.add((event.key, event.t))

        journal = Journal(self.run.journal, self.epoch, seen)
        journal.append(ev.RunStarted() if history.state == "new" else ev.RunResumed())
        journal.sync()
        context = RunContext.of(self.run, self.recipe, self.site, journal, history)
        self.journal, self.context = journal, context
        self.block = Block(self.site, self.run, 1)
        self.dispatch = Dispatch(context, self.block)
        self.state = RunState(context, lambda state: ProducingRun(state, self.dispatch.shown))
        inbox = Inbox(context)
        self.loop = Loop(context, self.block, self.dispatch, inbox, self.state, lambda _: None)
        self.attempt = history.attempt + self.starts_again
        job = f"attempt-{self.attempt}"
        journal.append(ev.SimulationSubmitting(job=job, attempt=self.attempt))
        journal.sync()
        self.starts_again = False
        self.reported = 0
        self.results.clear()
        self.workers.astray.clear()
        policy = self.state.policy
        assert isinstance(policy, ProducingRun)
        policy.attempt = self.attempt
        self.policy, self.production = policy, policy.production
        self.check_files()

    def watch(self, whole: tuple[bool, ...], again: int | None = None) -> None:
        """The model writes frames; the watcher reports them, perhaps an earlier one once more."""
        self.up()
        written = self.model.setdefault(self.attempt, [])
        written += whole[: FRAMES - len(written)]
        numbers = [again] if again is not None and again < self.reported else []
        end = min(self.reported + LOOK, len(written))
        numbers += range(self.reported, end)
        there = [n for n in numbers if (key(n), self.attempt) not in self.workers.gone]
        frames = tuple(self.frame(n) for n in there if written[n])
        about = "storm-1", self.attempt, "output"
        damaged = tuple(
            Damage(*about, key(n), ("x",), 0, "cut short") for n in there if not written[n]
        )
        with self.driving():
            self.loop._take(FramesFound(Report(frames, damaged, Cursor())))
            self.reported = end

    def frame(self, number: int) -> Frame:
        paths = (f"storm-1/{self.attempt}/out_{number:08d}.nc",)
        about = self.attempt, "output", key(number), paths, 0, 1000, 1.0, 1.1, "header"
        return Frame("storm-1", *about)

    def turn(self, *, release: bool = True, sync: bool = True) -> None:
        """A turn of the driver's loop."""
        production = self.up()
        # Turns follow each other at once.
        self.dispatch._files._rest = production.releases._rest = 0.0
        self.policy.releases = release
        with self.driving():
            for event in self.dispatch.results():
                self.loop._take(event)
            self.loop._take(Turn())
            if sync:
                self.journal.sync()
            if not self.loop._refused:  # else what was renamed may not be journalled yet
                self.check_files()

    def after(self, call: Callable[..., object], *args: object, **named: object) -> None:
        """Call a part of the production as its policy does; what follows is done."""
        call(*args, **named)
        for instruction in self.state.outbox.take():
            self.loop._carry_out(instruction)

    def stop(self) -> None:
        """The driver ends in order."""
        self.up()
        with self.driving():
            self.dispatch.close()
            self.journal.append(ev.RunEnded(outcome="stopped", exit_code=4))
            self.journal.close()
        if self.production is not None:
            self.die()

    # What happens to it.

    def strike(self, what: str, calls: int, more: tuple[int, int, int]) -> None:
        """The driver is stopped, or will be killed, lose its power or the room on its disk at one
        of its next calls; perhaps the next driver as well. The model may have to start again."""
        self.up()
        if what == "stop":
            self.stop()
        elif what:
            self.arm(what, calls, more)
        self.starts_again |= more[2] == 0 and calls < 20
        if more[0] == 0:
            self.early = what, calls // 2, more

    def arm(self, what: str, calls: int, more: tuple[int, int, int]) -> None:
        self.disk.torn = more[0]
        if what == "full":
            self.disk.full_in, self.disk.full = calls, 1 + more[1]
        elif what != "stop":
            self.disk.kill_in = calls
            self.power = more if what == "power" else None

    def work(self, outcomes: tuple[str, ...], which: int) -> None:
        """Workers end with their tasks."""
        self.up()
        for outcome in outcomes:
            if self.block.tasks:
                task = self.block.tasks.pop(which % len(self.block.tasks))
                self.results.append(self.workers.end(task, outcome, 1 + which % 3))

    def deliver(self, which: int, *, twice: bool = False) -> None:
        """The driver gets the results, in any order, perhaps one of them twice."""
        production = self.up()
        while self.results and self.production is production:
            done = self.results.pop(which % len(self.results))
            self.take(done)
            given = done.results.values() if isinstance(done, WorkReturned) else ()
            made = [result.receipt is not None for result in given]
            if twice and made and all(made):
                assert isinstance(done, WorkReturned)
                self.take_as_well(done)
            twice = False

    def take(self, done: WorkReturned | FramesReleased) -> None:
        if self.production is not None:
            with self.driving():
                if isinstance(done, WorkReturned):
                    make = Make(self.production.buffer, done.batch)
                    done = self.dispatch.made(make, done.results, done.error)
                self.loop._take(done)

    def end_orphan(self, which: int, *, heard: bool) -> None:
        """A worker of a dead driver ends; the driver that lives may get its result."""
        self.up()
        if self.orphans:
            task = self.orphans.pop(which % len(self.orphans))
            done = self.workers.end(task, "made" if which % 2 else "same", 1)
            if heard and isinstance(done, WorkReturned):
                self.take_as_well(done)
            elif isinstance(done, WorkReturned):
                for result in done.results.values():
                    self.workers.unheard(result.staged)

    def steer(self, control: str) -> None:
        """A person steers."""
        self.up()
        with self.driving():
            self.journal.append(ev.ControlReceived(control=control))

    def take_as_well(self, done: WorkReturned) -> None:
        """The driver gets what it has not submitted, or has got already."""
        if self.production is not None:
            again = Batch(done.batch.orders)
            self.production.sending._batches.append(again)
            self.production.backlog.under_way += len(again.orders)
            self.take(replace(done, batch=again))

    # What must hold.

    def check_history(self) -> None:
        """What the driver knows is what its journal adds up to."""
        if self.production is not None and not self.journal._lines._held:
            self.ledger.look()
            assert state_of(self.ledger.history) == state_of(self.production.history)

    def check_files(self) -> None:
        """Files and index agree with the journal, as far as the disk has taken them."""
        assert self.production is not None
        publisher = self.dispatch.publisher
        if not self.journal._lines._held and not publisher._index._held:
            with self.disk.off():
                self.ledger.look()
                self.ledger.check(self.run, self.disk.renamed, self.lost)

    def finish(self) -> None:
        """The model ends, the driver makes what is outstanding, and none is lost."""
        self.disk.calm()
        self.early = self.power = None
        production = self.up()
        written = self.model.setdefault(self.attempt, [])
        written += (True,) * (max(map(len, self.model.values())) - len(written))
        while self.reported < len(written):
            self.watch(())
        self.steer("resume-watching")
        for _ in range(TURNS):
            self.turn()
            if production.settled:
                break
            self.work(("made",) * len(self.block.tasks), 0)
            self.deliver(0)
        assert production.settled, "the run does not come to its end"
        for number in range(len(written)):
            for name in self.ledger.wanted(key(number)):
                about = name, "output", key(number)
                assert production.history.settled(about, self.attempt), f"{about} is lost"
        assert not production.space.files, "raw frames stay"
        left = {f".incoming/{path.name}" for path in self.run.incoming.iterdir()}
        assert left <= self.workers.astray
        self.check_history()
        self.stop()
        self.run.sweep()
        assert not list(self.run.incoming.iterdir())
