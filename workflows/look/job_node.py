"""A folder that only the node of a running job of the user's own sees: recognised there, by a step
of the job.

As a program it is that step: it prints what :class:`.SeenFolder` holds as one line of JSON.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlens.cluster_configs.inside import Inside
from burstlens.cluster_configs.scheduler import FORGOTTEN, EnterableScheduler, SchedulerError
from burstlens.cluster_configs.schedulers import LOCAL, scheduler
from burstlens.cluster_configs.site import Site, choose
from burstlens.core import errors
from burstlens.core.errors import AttachError, BurstlensError, RunError, SiteError
from burstlens.core.printable import printable
from burstlens.core.run.places import folder_for
from burstlens.workflows.look.folder_reader import FolderReader
from burstlens.workflows.look.observer.observed_job import require_own
from burstlens.workflows.look.preparation import (
    AwayError,
    LookRequest,
    SeenFolder,
    real_folder,
    see_folder,
)

if TYPE_CHECKING:
    from burstlens.workflows.look.folder.found import Found

PROGRAM = (sys.executable, "-P", "-m", "burstlens.workflows.look.job_node")
ANSWER = "burstlens-seen "
"""What the line with the answer starts with: prologs of jobs print other ones."""
SETTING_BYTES, SETTINGS_BYTES = 256 * 1024, 1024 * 1024
"""The largest file of settings that is taken along, and all of them together."""
POLL_S = 1.0
ON_NODE = "on its node"
"""Stands in messages for the node, whose name the step need not know."""
BEGINS_S = 120.0
"""How long a step may take to begin, with the imports of its program."""
ENDS_S = 10.0
IN_SCRIPT = "start look in the job's script"
"""What can be done where a job cannot be entered."""


@dataclass(frozen=True, slots=True)
class Place:
    """A folder to look at; only the node of ``job`` sees it, where one is named."""

    path: Path
    job: str | None = None


def place_of(path: str | os.PathLike[str], request: LookRequest, reader: FolderReader) -> Place:
    """The folder, by its real path; where this machine has none, that of the request's job, by the
    path as it was given. Raises RunError."""
    try:
        return Place(reader.real_path(path))
    except AwayError:
        if request.job is None:
            raise
    return Place(Path(os.path.abspath(os.path.expanduser(path))), request.job)


def see(place: Place, request: LookRequest, wait_s: float = 0.0) -> SeenFolder | None:
    """What the node of the place's job sees in its folder; None while nothing there shows what will
    come, for ``wait_s`` at most.

    Raises AttachError, RecipeError, RunError, SiteError; each says what to do.
    """
    runs = folder_for(place.path)
    with _token(runs) as token:
        try:
            site = choose(request.site)
            inside = entered(place.job or "", site)
            asked = {"path": str(place.path), "request": asdict(_portable(request)),
                     "token": str(token), "wait_s": wait_s}  # fmt: skip
            said = call_inside(inside, site, [*PROGRAM, json.dumps(asked)], wait_s)
        except (RunError, SiteError) as error:
            kind = RunError if isinstance(error, RunError) else SiteError
            text = f"cannot look at {place.path}: this machine has no such folder. {error}"
            raise kind(text) from error
    where = f"the node{f' {inside.node}' if inside.node else ''} of job {inside.job_id}"
    answer: dict[str, Any] | None = None
    line = next((line for line in said.splitlines() if line.startswith(ANSWER)), "")
    with contextlib.suppress(ValueError):
        answer = json.loads(line.removeprefix(ANSWER))
    if answer is None:
        raise SiteError(f"the step on {where} printed no answer, but: {printable(said[-200:])}")
    if answer.get("lacks") == "runs":
        raise RunError(
            f"{where} does not see {runs}, where the run directory would lie: BURSTLENS_RUNS has "
            "to name a folder on a file system that it sees"
        )
    if "error" in answer:
        raise _error(answer["error"], answer["text"].replace(ON_NODE, f"on {where}"))
    return _seen(inside, answer["seen"]) if answer["seen"] else None


def _portable(request: LookRequest) -> LookRequest:
    """The same for a step, whose working folder may be another one."""
    recipe = request.recipe
    if recipe is not None and os.path.exists(os.path.expanduser(recipe)):
        return replace(request, recipe=os.path.abspath(os.path.expanduser(recipe)))
    return request


@contextlib.contextmanager
def _token(runs: Path) -> Iterator[Path]:
    """A file that shows whether a node sees the same folder, and not one of the same name."""
    try:
        runs.mkdir(parents=True, exist_ok=True)
        made, name = tempfile.mkstemp(prefix=".seen-", dir=runs)
        os.close(made)
    except OSError as error:
        raise RunError(f"cannot write {runs}: {error.strerror}") from error
    try:
        yield Path(name)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)


def _error(kind: str, text: str) -> BurstlensError:
    made = getattr(errors, kind, None)
    return made(text) if made in {AttachError, errors.RecipeError, SiteError} else RunError(text)


def _seen(inside: Inside, value: dict[str, Any]) -> SeenFolder:
    from burstlens.workflows.look.folder.found import Found, StreamFound
    from burstlens.workflows.look.folder.wanted import Shown

    found, shown = value["found"], value["shown"]
    found["streams"] = tuple(StreamFound(**stream) for stream in found["streams"])
    found["passed_over"] = tuple(found["passed_over"])
    base = shown.pop("base")
    lists = {key: tuple(entries) for key, entries in shown.items()}
    settings = {name: base64.b64decode(text) for name, text in value["settings"].items()}
    what = Shown(**lists, base=Path(base) if base else None)
    return SeenFolder(Found(**found), what, inside, settings)


# Steps inside the job.


def entered(job_id: str, site: Site) -> Inside:
    """The job as its steps need it. Raises SiteError where the site cannot or does not allow it,
    RunError unless the job is this user's and runs; each says what to do."""
    if site.scheduler == LOCAL:
        raise SiteError(
            f"site {site.name} has no scheduler to reach the node of job {job_id}: --site names "
            f"the job's cluster, or {IN_SCRIPT}"
        )
    batch = scheduler(site.scheduler)(site.batch)
    if not isinstance(batch, EnterableScheduler):
        raise SiteError(
            f"{batch.title} starts no steps inside of a job that runs: {IN_SCRIPT} of job {job_id}"
        )
    if not site.look.enter_jobs:
        raise SiteError(
            f"site {site.name} does not let look enter jobs ([look] enter_jobs in its file): "
            f"{IN_SCRIPT} of job {job_id}"
        )
    if not batch.job_ids.fullmatch(job_id):
        raise RunError(f'"{printable(job_id)[:80]}" is not the id of a job of {batch.title}')
    batch.require()
    title = f"{batch.title}: job {job_id}"
    state = batch.look(job_id)
    batch.forget(job_id)  # this process does not wait for it
    if state.state == FORGOTTEN:
        raise RunError(f"{batch.title} does not know job {job_id}, or does not show it")
    if state.over or state.ending:
        raise RunError(
            f"{printable(f'{title} {state.text}')}: what lay on the disks of its nodes is gone "
            "with it, or about to go"
        )
    require_own(title, batch.owner(job_id), "look enters jobs of your own only")
    if state.waiting:
        raise RunError(
            f"{printable(f'{title} {state.text}')}: it has not begun. Repeat the command when it "
            f"runs, or {IN_SCRIPT}"
        )
    return batch.inside(job_id)


def call_inside(inside: Inside, site: Site, program: Sequence[str], limit_s: float) -> str:
    """The output of a short program that runs as a step of the job; ``limit_s`` beyond its begin.

    Raises SchedulerError when the step does not begin, fails or does not end. Ctrl-C ends it.
    """
    batch = scheduler(site.scheduler)(site.batch)
    argv = [*batch.step_words(inside, inside.cpus, quiet=True), *program]
    try:
        # In a session of its own: on Ctrl-C launchers such as srun would ask for a second one.
        step = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise SchedulerError(f"{argv[0]} cannot be started: {error.strerror}") from error
    try:
        said, trouble = step.communicate(timeout=BEGINS_S + limit_s)
    except subprocess.TimeoutExpired:
        raise SchedulerError(
            f"a step of job {inside.job_id} did not answer within {BEGINS_S + limit_s:.0f} s",
            passing=True,
        ) from None
    finally:
        _end(step)
    if step.returncode:
        lines = [line for line in trouble.splitlines() if line.strip()]
        why = printable("; ".join(lines[-2:])) or f"exit code {step.returncode}"
        raise SchedulerError(f"a step of job {inside.job_id} failed: {why}")
    return said


def _end(step: subprocess.Popen[str]) -> None:
    """End the launcher, which ends its step."""
    if step.poll() is None:
        step.send_signal(signal.SIGTERM)
        try:
            step.communicate(timeout=ENDS_S)
        except subprocess.TimeoutExpired:
            step.kill()
            step.communicate()


# What runs on the node.


def main(asked: dict[str, Any]) -> dict[str, Any]:
    """The answer to a question of :func:`see`."""
    if not os.path.exists(asked["token"]):
        return {"lacks": "runs"}
    try:
        return {"seen": _look(asked)}
    except BurstlensError as error:
        return {"error": type(error).__name__, "text": str(error)}


def _look(asked: dict[str, Any]) -> dict[str, Any] | None:
    path, request = Path(asked["path"]), LookRequest(**asked["request"])
    real_folder(path, ON_NODE)
    deadline = time.monotonic() + asked["wait_s"]
    while (seen := see_folder(path, request)) is None:
        if time.monotonic() >= deadline:
            return None
        time.sleep(POLL_S)
    found, what = seen.found, seen.shown
    settings = {name: base64.b64encode(data).decode() for name, data in _settings(path, found)}
    base = str(what.base) if what.base else None
    return {"found": asdict(found), "shown": asdict(what) | {"base": base}, "settings": settings}


def _settings(path: Path, found: Found) -> Iterator[tuple[str, bytes]]:
    """The small files that the model's adapter keeps and that are not its logs."""
    from burstlens.workflows.models import registry

    model: Any = registry.load(found.model)
    left = SETTINGS_BYTES
    with contextlib.suppress(OSError, BurstlensError, TypeError, ValueError):
        adapter = model(**found.settings) if found.model != "command" else None
        if adapter is None:
            return
        for name in sorted(os.listdir(path)):
            kept = any(fnmatch(name, glob) for glob in adapter.keep_patterns)
            if not kept or any(fnmatch(name, glob) for glob in adapter.log_patterns):
                continue
            size = (path / name).stat().st_size
            if (path / name).is_file() and size <= min(SETTING_BYTES, left):
                left -= size
                yield name, (path / name).read_bytes()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("question", type=json.loads, help="what `look` asks, as JSON")
    given = parser.parse_args()
    os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"
    print(ANSWER + json.dumps(main(given.question)), flush=True)
