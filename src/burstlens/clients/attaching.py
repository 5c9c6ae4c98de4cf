"""Look at runs that others started: their run directories, their drivers, one page for all."""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from burstlens.clients.opened.file_errors import writing
from burstlens.core.errors import RunError
from burstlens.core.printable import print_stderr, printable, say
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import facts_of
from burstlens.core.run.places import folder_for
from burstlens.workflows.look.folder_reader import FolderReader
from burstlens.workflows.look.job_node import Place, place_of, see
from burstlens.workflows.look.options import note_frames, note_page, run_name
from burstlens.workflows.look.preparation import (
    LookRequest,
    SeenFolder,
    frames_of,
    known_look,
    new_look,
    quiet_after_of,
)
from burstlens.workflows.notify.asked import ask

LOOK_S = 1.0
"""How often an empty folder is looked at."""
STEP_S = 300.0
"""How long one step of a job waits for output in an empty folder."""
LEAVES_S = 15.0
"""How long a driver may take to end."""


@dataclass(frozen=True, slots=True)
class Page:
    """How the page is served; see `burstlens serve`."""

    port: int = 0
    open_browser: bool = False
    token_file: Path | None = None


def attach(
    path: str | os.PathLike[str], request: LookRequest, *, wait: bool = True
) -> tuple[RunDir, subprocess.Popen[bytes] | None, tuple[str, ...]]:
    """The run that looks at a folder, its driver if this call has started one, and remarks.

    A look that lives is joined, a dead one is taken up from its journal. ``wait``: wait for output
    where the folder shows nothing yet. Raises BurstlensError.
    """
    from burstlens.workflows.driver.detach import prepare_driver, start_driver

    with FolderReader() as reader:
        place = place_of(path, request, reader)
        run = known_look(place.path, request.name, place.job)
        if run is None:
            prepared = prepare_driver()
            try:
                made = new_look(place.path, _await_seen(place, request, reader, wait=wait), request)
                note_page(made.run, page=request.page)
                return made.run, start_driver(made.run, prepared), made.notes
            except BaseException as error:
                prepared.communicate(b"")  # it ends without a run
                run = _of_another(place, request) if isinstance(error, RunError) else None
                if run is None:
                    raise
        _add_products(run, place, request, reader)
        if _is_live(run):
            return run, None, (f"{run.id} looks at it already{_unused(request)}: this is its page",)
        note = _pass_to_next_driver(run, request)
        return run, start_driver(run), (note,)


def _pass_to_next_driver(run: RunDir, request: LookRequest) -> str:
    """Hand what a later look asks for to the run's next driver; returns it in a sentence. Raises
    OSError, RunError."""
    taken, kept = _options(request)
    if taken:
        note_frames(run, frames_of(request))
    note_page(run, page=request.page)
    note = f"{run.id} goes on" + (f" with {' and '.join(taken)}" if taken else "")
    return note + (f"; {' and '.join(kept)}: as in its first look" if kept else "")


def _unused(request: LookRequest) -> str:
    taken, kept = _options(request)
    return f", without {' and '.join([*taken, *kept])}" if taken or kept else ""


def _options(request: LookRequest) -> tuple[list[str], list[str]]:
    """The options that a later look takes, as they were given, and those that only the first look
    at a folder takes."""
    taken = {"--last": request.last, "--since": request.since, "--all": request.all or None,
             "--every": request.every if request.every > 1 else None}  # fmt: skip
    first = {
        "--recipe": request.recipe, "--stream": request.streams, "--site": request.site,
        "--time-variable": request.time_variable, "--ready": request.ready, "--log": request.log,
        "--written": request.written, "--model": request.model, "--job": request.job,
        "--pid": request.pid, "--allow-stop": request.allow_stop, "--workers": request.workers,
        "--quiet-after": request.quiet_after, "--max-read-rate": request.max_read_rate,
    }  # fmt: skip
    given = [key if value is True else f"{key} {value}" for key, value in taken.items() if value]
    return given, [key for key, value in first.items() if value]


def _is_live(run: RunDir) -> bool:
    from burstlens.clients.opened.status import has_ended, read_status

    status = read_status(str(run.path))
    return bool(status.driver_alive) and not has_ended(status)


def _of_another(place: Place, request: LookRequest) -> RunDir | None:
    """The run that another look has made at the same moment; None if there is none."""
    path = place.path
    folder = folder_for(path) / (request.name or run_name(path, place.job))
    for _ in range(20):
        run = known_look(path, request.name, place.job)
        if run is not None or not folder.is_dir():
            return run
        time.sleep(0.1)  # its directory is there, and not yet its facts
    return None


def _await_seen(
    place: Place, request: LookRequest, reader: FolderReader, *, wait: bool
) -> SeenFolder:
    """What the folder holds. Waits for it while there is nothing, without a page for as long as a
    quiet model is waited for at most. Raises RunError when there is nothing in time."""
    path, patience_s = place.path, None if request.page else quiet_after_of(request)
    seen = _see(place, request, reader, 0.0)
    if seen is None and wait:
        empty = place.job is None and reader.is_empty(path)  # only its node may see it
        what = "is empty" if empty else "has nothing yet that shows what will come"
        print_stderr(f"{printable(str(path))} {what}: waiting for output (Ctrl-C ends)")
    begin = time.monotonic()
    while seen is None:
        left_s = math.inf if patience_s is None else begin + patience_s - time.monotonic()
        if not wait or left_s <= 0:
            raise RunError(f"there is nothing in {path} yet that shows what will come")
        seen = _see(place, request, reader, left_s)
    return seen


def _see(
    place: Place, request: LookRequest, reader: FolderReader, within_s: float
) -> SeenFolder | None:
    """What the folder holds, now or within some seconds: one step of a job waits for minutes."""
    if place.job is not None:
        return see(place, request, min(STEP_S, within_s))
    seen = reader.see(place.path, request)
    if seen is None and within_s:
        time.sleep(min(LOOK_S, within_s))
    return seen


def _add_products(run: RunDir, place: Place, request: LookRequest, reader: FolderReader) -> None:
    """Ask the run's driver for products that it does not make yet, and for word in further ways."""
    from burstlens.workflows.driver.addition import Addition

    ask(run, request.notify)
    if not request.products:
        return
    seen = _see(place, replace(request, recipe=None), reader, 0.0)
    if seen is None:
        return
    table = facts_of(run).table or {}
    known = {entry.get("name") for entry in table.get("product", [])}
    fresh = tuple(entry for entry in seen.shown.products if entry["name"] not in known)
    if fresh:
        Addition(fresh, all_frames=True).request(run)


@dataclass(frozen=True, slots=True)
class Attached:
    """A run that is looked at, and its driver where this process has started it."""

    path: str
    run: RunDir
    child: subprocess.Popen[bytes] | None


def look_at_all(
    paths: Sequence[str], request: LookRequest, page: Page, *, detach: bool, as_json: bool
) -> int:
    """Look at these folders until Ctrl-C; returns the exit code. Raises BurstlensError."""
    if not request.page and not detach and len(paths) == 1:
        return _in_terminal(paths[0], request, as_json=as_json)
    from burstlens.workflows.driver.detach import await_begin

    looks: list[Attached] = []
    try:
        for path in paths:
            run, child, notes = attach(path, request)
            looks.append(Attached(path, run, child))
            for note in notes:
                print_stderr(printable(note))
        for look in looks:
            if detach and look.child is not None:
                await_begin(look.run, look.child)
    except BaseException:
        _leave(looks)
        raise
    if detach:
        _print_detached(looks, allow_stop=request.allow_stop, as_json=as_json)
        return 0
    try:
        if not request.page:
            return max((look.child.wait() for look in looks if look.child), default=0)
        from burstlens.clients.serving.server import serve
        from burstlens.clients.serving.shelf import shelf_of_runs

        serve(
            shelf_of_runs([look.run for look in looks]), port=page.port,
            allow_stop=request.allow_stop, as_json=as_json, open_browser=page.open_browser,
            token_file=page.token_file,
        )  # fmt: skip
    finally:
        _leave(looks)
    for look in looks:
        print_stderr(printable(f"{look.run.id}: its pictures are in {look.run.products}"))
        entered = (facts_of(look.run).attached or {}).get("inside")
        job = f" --job {request.job}" if entered and request.job else ""
        again = f"burstlens look {look.path}{job} goes on, burstlens serve {look.run.id} shows it"
        print_stderr(printable(f"  {again}"))
    return 0


def write_recipe_of(path: str, request: LookRequest, target: Path) -> str:
    """Write the recipe that would launch and show the run in that folder; returns what to say.

    Raises BurstlensError; a file that exists is not written over.
    """
    from burstlens.workflows.look.folder.wanted import write_recipe

    with FolderReader() as reader:
        place = place_of(path, request, reader)
        seen = _await_seen(place, request, reader, wait=False)
    with writing(target), target.open("x", encoding="utf-8") as file:
        file.write(write_recipe(place.path, seen.found, seen.shown))
    return f"{seen.found.reason}\n{target} is written: burstlens check {target} looks at it"


def _in_terminal(path: str, request: LookRequest, *, as_json: bool) -> int:
    """Drive the run in this process, shown in this terminal; one that is driven is followed."""
    from burstlens.clients.driving import drive

    notes: tuple[str, ...] = ()
    with FolderReader() as reader:
        place = place_of(path, request, reader)
        run = known_look(place.path, request.name, place.job)
        is_new = run is None
        if run is None:
            made = new_look(place.path, _await_seen(place, request, reader, wait=True), request)
            run, notes = made.run, tuple(made.notes)
        else:
            _add_products(run, place, request, reader)
    for note in notes:
        print_stderr(printable(note))
    if not is_new and _is_live(run):
        from burstlens.clients.terminal import follow

        already = f"{run.id} looks at it already{_unused(request)}"
        print_stderr(printable(f"{already}: shown until it ends, Ctrl-C leaves it"))
        try:
            return follow(run, as_json=as_json)
        except KeyboardInterrupt:
            print_stderr(f"{run.id} goes on")
            return 0
    if is_new:
        note_page(run, page=False)
    else:
        print_stderr(printable(_pass_to_next_driver(run, request)))
    return drive(run, as_json=as_json)


def _print_detached(looks: Sequence[Attached], *, allow_stop: bool, as_json: bool) -> None:
    if as_json:
        say(json.dumps([{"run": look.run.id, "path": str(look.run.path)} for look in looks]))
        return
    for look in looks:
        run = look.run.id
        end = "stop the model" if allow_stop else "end it"
        say(f"{run} looks on; its page: burstlens serve {run}; to {end}: burstlens stop {run}")


def _leave(looks: Sequence[Attached]) -> None:
    """End the drivers that this process has started; the models are not touched."""
    children = [look.child for look in looks if look.child is not None]
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            child.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + LEAVES_S
    for child in children:
        try:
            child.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()  # its folder hangs; what it began is resumed by the next look
