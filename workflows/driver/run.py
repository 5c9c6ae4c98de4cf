"""A run from its creation to its end, and its resumption after an interruption."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import secrets
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs
from msgspec.structs import replace

from burstlens.cluster_configs.site import Site, choose
from burstlens.core.errors import BurstlensError, NoSpaceError, RunError
from burstlens.core.existence import surely_exists
from burstlens.core.outcome import Outcome, is_full
from burstlens.core.run import events as ev
from burstlens.core.run.continuation import read_wanted
from burstlens.core.run.directory import RunDir, runs_folder
from burstlens.core.run.facts import RunFacts, facts_of, write_facts
from burstlens.core.run.heartbeat import driver_process, note_start, read_start
from burstlens.core.run.history import History
from burstlens.core.run.history_file import history_of
from burstlens.core.run.journal import Journal
from burstlens.core.run.log_level import log_level
from burstlens.core.run.making import made_aside
from burstlens.core.run.record import stamp
from burstlens.core.run.requests import catch_signals
from burstlens.core.run.snapshot import new_snapshot, read_snapshot, write_snapshot
from burstlens.core.run.status_file import DriverPart, StatusFile
from burstlens.core.toml.table import NAME
from burstlens.core.whole_copy import copy_whole
from burstlens.viz.live.feed import FrameFeed, write_recipe, write_status
from burstlens.viz.live.page import write_page
from burstlens.workflows.driver.addition import table_of
from burstlens.workflows.driver.claim import (
    forget_stop,
    idle_s,
    model_left,
    require_host,
    take_over,
)
from burstlens.workflows.driver.driver_log import driver_log, log_event
from burstlens.workflows.driver.noticing import (
    begin_notices,
    close_notices,
    end_due,
    send_driver_word,
)
from burstlens.workflows.driver.run_kinds import RunKind, kind_of
from burstlens.workflows.placement.machine_limits import require_room
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.publishing.snapshot import Snapshot
from burstlens.workflows.recipe.layers import Source
from burstlens.workflows.recipe.load import check
from burstlens.workflows.recipe.recipe import Recipe

if TYPE_CHECKING:
    from burstlens.workflows.making.early import EarlyWorker

_log = logging.getLogger(__name__)

PLAIN_PATH = re.compile(r"[\w/.,:@%+=-]+")


def create(
    recipe: Recipe,
    table: dict[str, Any],
    source: Path,
    site: str,
    name: str | None,
    *,
    folder: Path | None = None,
    attached: dict[str, Any] | None = None,
    tuning: dict[str, Any] | None = None,
    complete: Callable[[RunDir], None] = lambda run: None,
) -> RunDir:
    """Make the run directory of a new run, with everything it needs later, or none at all.

    ``folder`` is where runs are kept, if not at the usual place; ``attached`` are the options of
    ``look``, ``tuning`` those of ``tune``; ``complete`` adds to the directory before it has its
    name. Raises RunError when it exists or cannot be written.
    """
    if name is not None and not NAME.fullmatch(name):
        raise RunError(
            f"--name {name!r}: a run's name is 1 to 64 letters, digits, '_' or '-', "
            "as it names folders"
        )
    require_room(local=choose(site).viewing.placement == "local")
    moment = time.strftime("%Y%m%d-%H%M%S")
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", recipe.name).strip("-")[:40] or "run"
    final = RunDir((folder or runs_folder()) / (name or f"{stem}-{moment}-{secrets.token_hex(2)}"))
    if not PLAIN_PATH.fullmatch(str(final.path)):
        # Parsl writes the path into a shell script without quotes.
        raise RunError(
            f"the run directory {final.path} has characters that Parsl's scripts cannot hold; "
            "BURSTLENS_RUNS names another place"
        )
    with made_aside(final) as run:
        try:
            _fill(run, recipe, table, source, site, attached, tuning)
            show_new(run, final.products)
            complete(run)
        except OSError as error:
            place = str(error.filename or run.path).replace(str(run.path), str(final.path))
            raise RunError(f"cannot write {place}: {error.strerror}") from error
    return final


def _fill(
    run: RunDir,
    recipe: Recipe,
    table: dict[str, Any],
    source: Path,
    site: str,
    attached: dict[str, Any] | None,
    tuning: dict[str, Any] | None,
) -> None:
    """Write what a new run needs. Raises OSError."""
    copy_whole(source, run.recipe)
    for product in recipe.products:
        for file in product.kind.ships(product.options):
            target = run.files / file
            target.parent.mkdir(parents=True, exist_ok=True)
            copy_whole(recipe.folder / file, target)
    for file in recipe.model.settings_files:
        is_inside = not os.path.isabs(file) and ".." not in Path(file).parts
        if is_inside and (recipe.inputs / file).is_file():
            target = run.settings / file
            target.parent.mkdir(parents=True, exist_ok=True)
            copy_whole(recipe.inputs / file, target)
    simulation = table["simulation"] | {"inputs": str(recipe.inputs)}
    facts = RunFacts(
        run=run.id,
        # Runs of one name in two folders must not meet on the buffer.
        buffer_folder=f"{run.id}-{secrets.token_hex(4)}",
        title=recipe.title,
        recipe=recipe.name,
        source=str(source),
        table={**table, "simulation": simulation},
        site=site,
        created=round(time.time(), 3),
        host=socket.gethostname(),
        attached=attached,
        tuning=tuning,
        **stamp(),
        python=sys.version.split()[0],
    )
    write_facts(run, facts)
    note_start(run, 1, os.getpid())


def show_new(run: RunDir, products: Path) -> None:
    """Write what viewers read of a run that waits for its driver, so that no page lacks a file.
    ``products`` is where they will be: the run directory may still be made aside."""
    show(run, replace(new_snapshot(run), pictures=str(products)))
    FrameFeed(run).write()
    write_recipe(run)
    run.index.touch()
    write_page(run)


def show(run: RunDir, snapshot: StatusFile) -> None:
    """Write a snapshot that no driver's loop has made. Raises OSError."""
    write_status(run, write_snapshot(run, snapshot))


def show_loading(run: RunDir, epoch: int) -> None:
    """Show that this process drives the run from now on, and loads what it needs for that."""
    beat = round(time.time(), 3)
    driver = DriverPart(**driver_process(), epoch=epoch, heartbeat=beat, loading=True)
    with contextlib.suppress(OSError):
        try:
            known = read_snapshot(run)
        except RunError:  # what is damaged is written anew
            known = new_snapshot(run)
        show(run, replace(known, state="starting", outcome=None, driver=driver))


def site_of(run: RunDir) -> Site:
    """The site of a run. Raises RunError, SiteError."""
    return choose(str(facts_of(run, "site").site))


def recipe_of(run: RunDir) -> tuple[Recipe, Site]:
    """The recipe that a run was created with, with the products that were added to it since, and
    its site. Raises RunError, RecipeError, SiteError."""
    facts = facts_of(run, "recipe", "source", "table")
    table = table_of(run, history_of(run.journal))
    recipe, _ = check(Source(str(facts.recipe), Path(str(facts.source)), table))
    return recipe, kind_of(run).site(site_of(run))


def _wanted(run: RunDir) -> dict[str, Any]:
    """The checkpoint that a person wants this driver to resume from, for its first event."""
    wanted = read_wanted(run)
    return {} if wanted is None else structs.asdict(wanted)


def execute(
    run: RunDir,
    tick: Callable[[Snapshot], None] = lambda _: None,
    begun: Callable[[], None] = lambda: None,
    early: EarlyWorker | None = None,
) -> Outcome:
    """Drive a run, new or cut short, to its end. Call it from the main thread.

    ``tick`` is called about twice a second, ``begun`` once, when this process is the run's driver.
    The first SIGINT asks for a stop, the second for a stop at once, as does SIGTERM; SIGHUP is
    ignored, so that a run outlives its login shell. ``early`` is a worker that was started ahead.
    Raises RunError when another driver lives.
    """
    kind, site = kind_of(run), site_of(run)
    require_room(local=site.viewing.placement == "local")
    early = kind.early_worker(site, early)
    if early is None:
        # Parsl takes a second to load: whoever interrupts that finds a run that has not begun.
        import burstlens.workflows.viewing.blocks  # noqa: F401
    with contextlib.nullcontext() if early is None else early:
        return _execute(kind, tick, begun, early)


def _execute(
    kind: RunKind,
    tick: Callable[[Snapshot], None],
    begun: Callable[[], None],
    early: EarlyWorker | None,
) -> Outcome:
    run, level = kind.run, log_level()
    recipe, site = recipe_of(run)
    history = history_of(run.journal)
    require_host(run, history)
    epoch = take_over(run)
    begun()
    show_loading(run, epoch)
    history = history_of(run.journal)
    new, was_over = history.state == "new", history.outcome is not None
    host = socket.gethostname()
    begins = (
        ev.RunStarted(host=host, **stamp())
        if new
        else ev.RunResumed(host=host, **stamp(), idle_s=idle_s(run, history), **_wanted(run))
    )
    with (
        driver_log(run, level, site, epoch),
        _model_named(run, history, site, epoch),
        _target(run),
        contextlib.closing(Journal(run.journal, epoch, log_event, history.apply)) as journal,
        catch_signals(run),
    ):
        journal.append(begins)
        journal.sync()
        run.continuation.unlink(missing_ok=True)
        recipe = recipe.with_walltime(history.walltime_s)
        with contextlib.suppress(OSError):
            write_page(run)  # a newer Burstlens may have a newer one
            write_recipe(run)
        start = read_start(run)
        if not new and (start is None or start.epoch != epoch):
            # A start that was requested in advance has done so.
            forget_stop(run, history, was_over=was_over)
        context = RunContext.of(run, recipe, site, journal, history)
        begin_notices(context)
        try:
            outcome = kind.drive(context, early, tick)
            run.sweep()
        except Exception as error:
            send_driver_word(context, error)
            raise
        send = end_due(context, outcome)
        journal.append(
            ev.RunEnded(
                outcome=outcome.state,
                exit_code=outcome.exit_code,
                message=outcome.message,
                line=outcome.line,
                saved_node_hours=outcome.saved_node_hours,
                left=outcome.left,
                advice=outcome.advice,
            )
        )
        journal.sync()
        context.snapshot.end(outcome)
        send()
        close_notices(context, outcome)
        if outcome.state == "done":
            with contextlib.suppress(RunError):  # a stop that came too late
                run.clear_control()
    return outcome


@contextlib.contextmanager
def _target(run: RunDir) -> Iterator[None]:
    """End the driver with a clear error when the run directory cannot be written."""
    try:
        yield
    except OSError as error:
        place = error.filename or run.path
        kind = NoSpaceError if is_full(error) else RunError
        raise kind(
            f"cannot write {place} ({error.strerror}); when it can be again: "
            f"burstlens resume {run.id}"
        ) from error


@contextlib.contextmanager
def _model_named(run: RunDir, history: History, site: Site, epoch: int) -> Iterator[None]:
    """Let the error that ends the driver say which model goes on, and how to end it."""
    try:
        yield
    except Exception as error:
        left = model_left(history, site.scheduler)
        if not left or left in str(error) or surely_exists(run.claim(epoch + 1)):
            raise
        if isinstance(error, BurstlensError):
            kind = NoSpaceError if isinstance(error, NoSpaceError) else RunError
            raise kind(f"{error}{left}") from error
        error.add_note(left.removeprefix(". "))  # a defect
        raise
