"""What ``look`` does before its run exists: recognise the folder, choose products, create."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from burstlens.cluster_configs.schedulers import LOCAL, own_job
from burstlens.cluster_configs.site import Site, choose
from burstlens.core.errors import AttachError, RunError, SiteError
from burstlens.core.quantity import parse_bytes, parse_duration_with_unit, show_bytes
from burstlens.core.run.directory import RunDir
from burstlens.core.run.places import folder_for
from burstlens.core.valid_time import parse_key
from burstlens.workflows.frames.arrival import NEWEST
from burstlens.workflows.look.options import Look, run_name
from burstlens.workflows.notify.asked import ask

if TYPE_CHECKING:
    from burstlens.cluster_configs.inside import Inside
    from burstlens.workflows.frames.hdf5 import Prober
    from burstlens.workflows.look.folder.found import Found
    from burstlens.workflows.look.folder.wanted import Shown


T = TypeVar("T")
SETTINGS = "watched/settings"
"""Where a run keeps the settings of a model whose folder the driver cannot see."""


@dataclass(frozen=True, slots=True)
class LookRequest:
    """What a user asked ``look`` for, as it was given; see the command's options."""

    products: Sequence[str] = ()
    recipe: str | None = None
    streams: Mapping[str, str] = field(default_factory=dict)
    time_variable: str | None = None
    ready: str | None = None
    log: str | None = None
    written: str | None = None
    model: str | None = None
    last: str | None = None
    since: str | None = None
    all: bool = False
    every: int = 1
    job: str | None = None
    pid: int | None = None
    allow_stop: bool = False
    page: bool = True
    quiet_after: str | None = None
    workers: int | None = None
    max_read_rate: str | None = None
    site: str | None = None
    name: str | None = None
    notify: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class SeenFolder:
    """What a folder holds, and what to show of it. ``inside``: only the node of that job sees it;
    ``settings`` are then the model's small files of settings by name, which the driver reads in
    their place."""

    found: Found
    shown: Shown
    inside: Inside | None = None
    settings: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Looked:
    """The run of a look, and what a user should be shown."""

    run: RunDir
    notes: tuple[str, ...] = ()


class AwayError(RunError):
    """There is no such folder, as this machine sees it."""


def real_folder(path: str | os.PathLike[str], where: str = "") -> Path:
    """The real path of a folder. Raises RunError when it cannot be read, AwayError when there is
    none; ``where``, in words, is part of the message."""
    given = Path(os.path.expanduser(os.fspath(path)))
    try:
        found = given.resolve(strict=True)
        if not found.is_dir():
            raise RunError(f"{given} is a file; look takes the folder in which a model writes")
        os.scandir(found).close()
    except (OSError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or error
        kind = AwayError if isinstance(error, FileNotFoundError) else RunError
        raise kind(f"cannot look at {given}{where and ' '}{where}: {why}") from error
    return found


def recognised(path: Path, request: LookRequest, prober: Prober | None = None) -> Found | None:
    """What writes in a folder, as far as the request does not say it; None while nothing shows it.

    Closes ``prober``, which starts again when it is needed. Raises AttachError, RecipeError.
    """
    from burstlens.workflows.look.folder.recognition import recognise
    from burstlens.workflows.models import registry

    globs = {name: re.sub(r"\{\w+\}", "*", glob) for name, glob in request.streams.items()}
    found = recognise(
        path, streams=globs, time_variable=request.time_variable, model=request.model, prober=prober
    )
    logs = request.log and [request.log]
    said = {"ready": request.ready, "written": request.written, "log_patterns": logs}
    more: dict[str, object] = {key: value for key, value in said.items() if value is not None}
    if found is None or not (more or request.streams):
        return found
    if found.model != "command":
        raise AttachError(
            f"--ready, --log and --written are for models that are not known; this is {found.model}"
        )
    settings = {**found.settings, **more}
    if request.streams:
        settings["frames"] = dict(request.streams)
    registry.load("command")(argv=("true",), **settings)  # raises for a pattern that is not valid
    return replace(found, settings=settings)


def see_folder(path: Path, request: LookRequest, prober: Prober | None = None) -> SeenFolder | None:
    """What a folder holds and what to show of it; None while nothing there shows what will come.

    Closes ``prober``, as :func:`recognised` does. Raises AttachError, RecipeError.
    """
    from burstlens.workflows.look.folder.wanted import shown

    found = recognised(path, request, prober)
    if found is None:
        return None
    what = shown(path, found, tuple(request.products), request.recipe)
    return SeenFolder(replace(found, settings=dict(found.settings)), what)


def new_look(path: Path, seen: SeenFolder, request: LookRequest) -> Looked:
    """The run that looks at that folder, made unless it is there already.

    ``path`` is a real path. Making the run directory is the lock: of two at once, one makes it.
    Raises RecipeError, SiteError, RunError.
    """
    from burstlens.workflows.driver.run import create
    from burstlens.workflows.look.folder.wanted import recipe_table, write_recipe
    from burstlens.workflows.recipe.layers import Source
    from burstlens.workflows.recipe.load import check

    chosen = choose(request.site)
    found, what = seen.found, seen.shown
    table = recipe_table(path, found, what)
    name = request.name or run_name(path, request.job if seen.inside else None)
    if seen.inside:
        table["simulation"]["inputs"] = str(folder_for(path) / name / SETTINGS)
    if not request.allow_stop:
        for guard in table.get("guard", []):
            guard["then"] = "alarm"
    left_out = (*what.left_out, *(f"passed over: {text}" for text in found.passed_over))
    look = _look(path, found, request, chosen, left_out, seen.inside)

    def complete(run: RunDir) -> None:
        if seen.inside:
            _keep(run, seen.settings)
        ask(run, request.notify)

    site = request.site or ""
    known_as = os.path.abspath(site) if site.endswith(".toml") else chosen.name
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "look.toml"
        source.write_text(write_recipe(path, found, what), encoding="utf-8")
        base = (what.base or Path(folder)) / "look.toml"
        recipe, full = check(Source("look", base, table))
        run = create(
            recipe, full, source, known_as, name, folder=folder_for(path), attached=asdict(look),
            complete=complete,
        )  # fmt: skip
    return Looked(run, notes=(found.reason, *left_out))


def _keep(run: RunDir, settings: Mapping[str, bytes]) -> None:
    """Write the model's settings into the run directory. Raises RunError."""
    try:
        (run.path / SETTINGS).mkdir(parents=True)
        for name, data in settings.items():
            (run.path / SETTINGS / name).write_bytes(data)
    except OSError as error:
        raise RunError(f"cannot write {error.filename or run.path}: {error.strerror}") from error


def known_look(path: Path, name: str | None, job: str | None = None) -> RunDir | None:
    """The run that looks at that folder already, if there is one; with ``job`` at that of the disk
    of its node. Raises RunError when the run of that name looks at another folder."""
    from burstlens.core.run.facts import facts_of

    run = RunDir(folder_for(path) / (name or run_name(path, job)))
    if not run.facts.is_file():
        return None
    attached = facts_of(run).attached or {}
    inside = attached.get("job") if attached.get("inside") else None
    if (attached.get("path"), inside) != (str(path), job):
        raise RunError(f"{run.path} is another run; --name takes another name")
    return run


def _look(
    path: Path, found: Found, request: LookRequest, site: Site, left_out: tuple[str, ...],
    inside: Inside | None,
) -> Look:  # fmt: skip
    """The options as the site allows them. Raises SiteError, RunError."""
    block = request.site is not None and site.scheduler != LOCAL and inside is None
    _require_allowed(site, in_block=block or inside is not None)
    limits = site.look
    here = inside.cpus if inside else limits.workers or os.cpu_count() or 1
    most = 256 if block else min(here, limits.workers or here)
    if request.workers is not None and not 1 <= request.workers <= most:
        raise RunError(f"--workers {request.workers}: site {site.name} allows 1 to {most}")
    rate = _read(parse_bytes, request.max_read_rate, "--max-read-rate")
    if limits.max_read_rate is not None:
        if rate is not None and rate > limits.max_read_rate:
            allowed = show_bytes(limits.max_read_rate)
            raise RunError(f"--max-read-rate: site {site.name} allows {allowed} per second")
        rate = rate or limits.max_read_rate
    return Look(
        path=str(path), model=found.model, reason=found.reason, **frames_of(request),
        job=request.job, pid=request.pid, mark=_mark(request, site), allow_stop=request.allow_stop,
        page=request.page, quiet_after_s=quiet_after_of(request),
        workers=request.workers or (0 if block else 1), max_read_rate=rate, poll_s=limits.poll_s,
        block=block, inside=inside, left_out=left_out,
        streams=tuple(one.name for one in found.streams if one.files),
    )  # fmt: skip


def frames_of(request: LookRequest) -> dict[str, Any]:
    """Which frames of those that are there it takes, as :class:`.Look` has it. Raises RunError."""
    if request.every < 1:
        raise RunError(f"--every {request.every}: it must be at least 1")
    narrowed = request.since is not None or request.last is not None
    return {
        "newest": None if request.all or narrowed else NEWEST,
        "since": _read(parse_key, request.since, "--since"),
        "last_s": _read(parse_duration_with_unit, request.last, "--last"),
        "every": request.every,
    }


def quiet_after_of(request: LookRequest) -> float | None:
    """The seconds of ``--quiet-after``, None without it. Raises RunError."""
    return _read(parse_duration_with_unit, request.quiet_after, "--quiet-after")


def _mark(request: LookRequest, site: Site) -> str | None:
    """What names the job or process for good. Raises RunError or SiteError when it is not there, or
    cannot be stopped and should be."""
    if request.job is None and request.pid is None and not request.allow_stop:
        return None
    from burstlens.cluster_configs.schedulers import scheduler
    from burstlens.workflows.look.observer.observer import Observer

    batch = None if site.scheduler == LOCAL else scheduler(site.scheduler)(site.batch)
    job, pid = request.job, request.pid
    return Observer(job=job, pid=pid, scheduler=batch, allow_stop=request.allow_stop).mark


def _require_allowed(site: Site, *, in_block: bool) -> None:
    """Raise SiteError where the site's login nodes are not for this."""
    if site.look.login_nodes == "refuse" and not in_block and own_job() is None:
        raise SiteError(
            f"site {site.name} refuses look on its login nodes: --site {site.name} puts the "
            "workers into a job of their own, or start it inside a job"
        )


def _read(parse: Callable[[str], T], text: str | None, option: str) -> T | None:
    if text is None:
        return None
    try:
        return parse(text)
    except ValueError as error:
        raise RunError(f"{option}: {error}") from None
