"""Steering, the client's side: stop, pause and resume watching, add products to a live run.

Each request is a file in ``control/``, which the run's driver obeys, the live one or the next
one; docs/steering.md describes how it handles them.
"""

from __future__ import annotations

import contextlib
import filecmp
import os
import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from burstlens.clients.opened.attached import may_stop, subject
from burstlens.clients.opened.file_errors import writing
from burstlens.clients.opened.status import has_ended, read_status
from burstlens.core.errors import RecipeError, RunError
from burstlens.core.existence import surely_exists, surely_missing
from burstlens.core.exit_codes import COMPLETE
from burstlens.core.run.directory import RunDir, all_runs, open_run_dir
from burstlens.core.run.events import ProductAdded, ProductRefused
from burstlens.core.run.journal import read_only
from burstlens.core.run.status_file import RunStatus
from burstlens.core.whole_copy import copy_whole
from burstlens.workflows.placement import direct_requests

if TYPE_CHECKING:
    from burstlens.core.run.history import History

ANSWER_S = 10.0
"""How long to wait for the answer of a live driver; it looks twice per second."""


@dataclass(frozen=True, slots=True)
class Added:
    """The result of an addition: the names asked for, those that are new, and whether it was
    ``taken``.

    ``gone`` counts, for each new product, the frames that are no longer on the buffer, ``earlier``
    those of the products' streams that are known and not released. When not ``taken``, no driver
    has answered yet; the next one that looks will.
    """

    run: str
    names: tuple[str, ...]
    new: tuple[str, ...]
    taken: bool
    gone: dict[str, int]
    all_frames: bool = False
    earlier: int = 0

    def text(self) -> str:
        """One sentence for the user."""
        if not self.new:
            return f"nothing to add: {self.run} makes {', '.join(self.names)} already"
        names = ", ".join(self.new)
        if not self.taken:
            return f"{names}: handed to {self.run}, whose driver adds it as soon as it can"
        sentence = f"{self.run} makes {names} from now on"
        if self.all_frames:
            sentence += ", and of the earlier frames that are still on the buffer"
        elif self.earlier:
            several = self.earlier > 1
            frames = f"{self.earlier} earlier frames" if several else "earlier frame"
            these = "those" if several else "that one"
            sentence += f", not of the {frames}; with --all-frames of {these} too"
        lost = max(self.gone.values(), default=0)
        return f"{sentence}; {lost} frames are no longer on the buffer" if lost else sentence


def nothing_to_stop(run: str, status: RunStatus) -> str | None:
    """Why a run of that status cannot be stopped, as text; None when it can.

    Without a driver the model may go on, and can be stopped, until its supervisor records its end.
    """
    if has_ended(status):
        return f"{run} is over already: {status.state}"
    if status.state == "lost" and status.attached:
        return f"the driver of {run} is gone: nobody looks; burstlens resume {run} looks again"
    if status.model_ended:
        ended = f"the model of {run} has ended already; its driver is gone"
        return f"{ended}, burstlens resume {run} continues it"
    return None


def stop_refused(run: str, status: RunStatus) -> str | None:
    """Why a page or a notebook may not stop that run's model, as text; None when it may."""
    over, part = nothing_to_stop(run, status), status.attached
    if over is None and part and not may_stop(part):
        return f"{run} only looks at {part.path}: it may not stop the model there"
    return over


def question(run: RunDir) -> str:
    """What to ask a person before that run is stopped; empty where nothing has to be asked.

    Only the model of others, which the run looks at and may stop, is worth a question.
    """
    status = read_status(str(run.path))
    part = status.attached
    if not part or not may_stop(part) or nothing_to_stop(run.id, status) is not None:
        return ""
    return f"Stop {subject(part)}, the model that writes in {part.path}?"


def live_runs() -> list[str]:
    """The ids of the runs that can be stopped, the newest first; the paths of two of one id."""
    found, runs = [], list(all_runs())
    ids = Counter(run.id for run in runs)
    for run in runs:
        with contextlib.suppress(RunError):  # one that cannot be read is not asked either
            status = read_status(str(run.path), confirm_s=0.0)
            if nothing_to_stop(run.id, status) is None:
                found.append(run.id if ids[run.id] == 1 else str(run.path))
    return found


def stop(run: RunDir, *, now: bool = False, then: str = "") -> str:
    """Ask the run to stop; returns the message for the user, with ``then`` where a driver lives.

    The frame in progress may end (60 s at most); with ``now`` the model ends within 5 s. Raises
    RunError where the control folder cannot be written.
    """
    status = read_status(str(run.path))
    if (over := nothing_to_stop(run.id, status)) is not None:
        return over
    try:
        run.request("stop-now" if now else "stop")
    except RunError as error:
        if not told_directly(run, "stop-now" if now else "stop"):
            raise
        return f"{error}; the supervisor of its model, on this machine, was told directly"
    if part := status.attached:
        if may_stop(part):
            return f"{run.id} stops {subject(part)}, the model that writes in {part.path}{then}"
        return f"{run.id} ends looking at {part.path}; the model there is not touched"
    asked = f"{run.id} is asked to stop{' now' if now else ''}"
    if status.driver_alive:
        return asked + then
    if not any((run.path / "attempts").glob("*")):
        free = f"burstlens free {run.id} cancels what it has asked for"
        return f"{asked}; its driver is gone and no model was started: {free}"
    return f"{asked}; its driver is gone, burstlens status {run.id} shows when the model has ended"


def told_directly(run: RunDir, stop: str) -> bool:
    """Give a stop that a full run directory refuses to the supervisors of the run that live on this
    machine; whether there is one."""
    folders = [path for kind in ("attempts", "steps") for path in (run.path / kind).glob("*")]
    told = [direct_requests.send(folder, stop) for folder in folders]  # all of them
    return any(told)


def pause(name: str) -> str:
    """Ask that no products are made until :func:`resume_watching`; returns the user's message.

    The model goes on, frames are found, guards are judged. Raises RunError.
    """
    run = _going_on(name)
    run.request("pause")
    then = f"burstlens resume-watching {run.id} makes them, the newest first"
    return f"{run.id} goes on and makes no products; {then}"


def resume_watching(name: str) -> str:
    """Ask that products are made again, the newest frames first. Raises RunError."""
    run = _going_on(name)
    was = surely_exists(run.pause)
    run.request("resume-watching")
    return f"{run.id} makes products again" if was else f"{run.id} was not paused"


def add(name: str, file: str, *, all_frames: bool = False) -> Added:
    """Hand the ``[[product]]`` tables of a file to the run's driver, with the files they need.

    ``all_frames``: make them also of every frame that is still on the buffer. Raises RecipeError
    with all faults, and then changes nothing; RunError when the run is over, when a needed file
    would replace another one of the run's, or when the driver refuses.
    """
    from burstlens.core.run.history_file import history_of
    from burstlens.workflows.driver.addition import Addition, check_addition
    from burstlens.workflows.driver.run_kinds import lacks_of
    from burstlens.workflows.recipe.file import layer

    run = _going_on(name)
    given = Path(os.path.expanduser(file))
    if given.exists() and not given.is_file():  # its parts are looked for beside a file
        raise RecipeError(f"{file} is not a file; write the [[product]] tables to one")
    source = given.resolve()
    addition = Addition(tuple(_tables(source)), all_frames, file=str(source))
    history = history_of(run.journal)
    products = check_addition(run, history, addition, source, (layer(source),))
    names = tuple(str(entry["name"]) for entry in addition.products)
    new = tuple(product.name for product, _ in products)
    if not new:
        return Added(run.id, names, new, True, {})
    if lacks := lacks_of(run, history, products):
        raise RecipeError(f"{file}: {'; '.join(lacks)}")
    earlier = earlier_frames(history, {product.common.stream for product, _ in products})
    ships = {ship for product, _ in products for ship in product.kind.ships(product.options)}
    _bring(sorted(ships), source.parent, run)
    try:
        request = addition.request(run)
    except OSError as error:
        raise RunError(f"cannot write to {run.control}: {error.strerror}") from error
    answers = _await_answer(run, request)
    gone = {event.product: event.gone or 0 for event in answers}
    return Added(run.id, names, new, bool(answers), gone, all_frames, earlier)


def earlier_frames(history: History, streams: Collection[str | None]) -> int:
    """How many frames of these streams are known and not released. None is the first that came; of
    several that have its time the one with the shortest name, such as d01 of WRF."""
    there = {frame[:2] for frame in history.frames if frame not in history.released}
    came = ((time, len(stream), stream) for stream, time, _ in history.frames)
    _, _, first = min(came, default=("", 0, ""))
    wanted = {stream or first for stream in streams}
    return sum(stream in wanted for stream, _ in there)


def _going_on(name: str) -> RunDir:
    run = open_run_dir(name)
    status = read_status(str(run.path))
    if has_ended(status):
        complete = status.outcome is not None and status.outcome.exit_code in COMPLETE
        verb = "looks again" if status.attached else "continues it"
        hint = "" if status.state == "done" or complete else f"; burstlens resume {run.id} {verb}"
        raise RunError(f"{run.id} is over already: {status.state}{hint}")
    return run


def _tables(source: Path) -> list[dict[str, object]]:
    from burstlens.core.toml.text import parse

    table = parse(source)
    wrong = []
    if others := [key for key in table if key != "product"]:
        wrong.append(f"only [[product]] tables can be added to a run, not {', '.join(others)}")
    entries = table.get("product")
    if not isinstance(entries, list) or not entries:
        entries = []
        wrong.append("there is no [[product]] table")
    if wrong:
        raise RecipeError(f"{source}: {'; '.join(wrong)}")
    return entries


def _bring(names: list[str], folder: Path, run: RunDir) -> None:
    """Copy the files that products need to the run's files: all of them, or none on an error."""
    wrong = []
    for name in names:
        here, there = folder / name, run.files / name
        if not here.is_file():
            wrong.append(f"there is no file {here}")
        elif there.exists() and not filecmp.cmp(here, there, shallow=False):
            wrong.append(f"the run has another {name} already: give yours another name")
    if wrong:
        raise RecipeError("the products cannot be added:\n  " + "\n  ".join(wrong))
    for name in names:
        with writing(run.files / name):
            _copy(folder / name, run.files / name)


def _copy(here: Path, there: Path) -> None:
    """Copy a file whole, never replacing one that another addition has just brought."""
    there.parent.mkdir(parents=True, exist_ok=True)
    part = there.with_name(f".{there.name}.{os.getpid()}.part")
    try:
        copy_whole(here, part)
        os.link(part, there)
    except FileExistsError:
        if not filecmp.cmp(here, there, shallow=False):
            raise
    finally:
        part.unlink(missing_ok=True)


def _await_answer(run: RunDir, request: Path) -> list[ProductAdded]:
    """The driver's ``product.added`` events; none when no driver has answered in time."""
    end = time.monotonic() + ANSWER_S
    while not surely_missing(request):
        status = read_status(str(run.path))
        if has_ended(status):
            request.unlink(missing_ok=True)
            raise RunError(f"{run.id} ended before it could add anything: {status.state}")
        if not status.driver_alive or time.monotonic() > end:
            return []
        time.sleep(0.1)
    answers = []
    for event in read_only(run.journal, ProductRefused, ProductAdded):
        match event:
            case ProductRefused(request=request.name, reason=reason):
                raise RunError(f"{run.id} refuses: {reason}")
            case ProductAdded(request=request.name):
                answers.append(event)
    return answers
