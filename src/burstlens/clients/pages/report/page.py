"""A run's report, put together: what ran, how it went, what was seen, and with what.

The templates beside this file lay it out. Any text in it may be another user's: jinja2 escapes
all that a template prints, and control characters are dropped.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from burstlens.clients.opened.file_errors import writing
from burstlens.clients.opened.products import ProductView
from burstlens.clients.opened.segment_texts import SEGMENT_HEADS, segment_facts, segment_rows
from burstlens.clients.opened.status import facts, is_over
from burstlens.clients.opened.table import clock_time, time_label
from burstlens.clients.opened.view import RunView
from burstlens.clients.pages.report.gallery import BUDGET_BYTES, gallery, tuning_picture
from burstlens.clients.pages.report.plot import Line, Plot, TimeAxis
from burstlens.clients.pages.report.story import Story, story_of
from burstlens.core.durable import write_whole
from burstlens.core.printable import printable
from burstlens.core.quantity import counted, show_bytes, show_duration
from burstlens.core.run.directory import RunDir
from burstlens.core.run.events import GuardTripped
from burstlens.core.run.facts import facts_of
from burstlens.core.run.job_record import TrialRecord
from burstlens.core.run.status_file import OutcomePart
from burstlens.core.version import __version__

HASHED_BYTES = 64 * 2**20
"""For a larger file the size is given, but no digest."""
MOST_ROWS = 200
TRIAL_HEADS = ("trial", "phase", "why", "output#", "load#", "values, or what went wrong")
"""Of the rows of trials; one that ends with # is above numbers."""


@dataclass(frozen=True, slots=True)
class Report:
    """A complete report at ``path``: its size, and that of the pictures in it."""

    path: Path
    run: str
    bytes: int
    picture_bytes: int
    pictures: int


def write_report(run: RunView, out: Path) -> Report:
    """Write the run's report as exactly ``out``. Raises RunError; then no file is left."""
    status, products = run.read_status(), list(run.products.values())
    entries = [entry for view in products for entry in view.entries]
    series = gallery(run.directory.products, [entry for entry in entries if not entry.stale])
    shown = [it for one in series for it in (one.newest, *one.small)]
    picture_bytes = sum(len(it.uri) for it in shown)
    story, over = story_of(run.events()), is_over(status)
    elsewhere = {"pictures", *(label for label, _ in segment_facts(status))}
    known = [fact for fact in facts(status) if fact[0] not in elsewhere]
    text = _templates().get_template("report.html").render(
        run=run, title=status.title or run.id, status=status, over=over,
        outcome=status.outcome or OutcomePart(),
        facts=[("begun", _utc(status.started)), *known], series=series,
        story=story, axis=_axis(story, over=over), plots=_plots(story),
        guards=[[it.name or "", it.text or "", it.state or ""] for it in status.guards or ()],
        trips=[_trip(it) for it in story.trips[:MOST_ROWS]],
        marks=[(_utc(mark.t), mark.text) for mark in story.marks[:MOST_ROWS]],
        segment_heads=SEGMENT_HEADS, segments=segment_rows(status),
        products=[_product(view, story) for view in products], what_ran=_what_ran(run, story),
        stale=sum(entry.stale for entry in entries),
        recipe=_recipe(run), files=_files(run.directory), entries=entries,
        trial_heads=TRIAL_HEADS, trials=[trial_row(*it) for it in story.trials.items()],
        tuning=tuning_picture(run.directory),
        pictures=len(shown), picture_bytes=picture_bytes,
    )  # fmt: skip
    with writing(out, "; --out names another place"):
        write_whole(out, text, sync=False)
    return Report(out, run.id, len(text.encode()), picture_bytes, len(shown))


def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True,
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        finalize=lambda it: it if isinstance(it, Markup) else printable(str(it)),
    )  # fmt: skip
    environment.filters |= {"counted": counted, "duration": show_duration, "size": show_bytes}
    environment.filters |= {"utc": _utc, "valid": time_label}
    environment.globals |= {"now": time.time(), "version": __version__}
    environment.globals |= {"budget_bytes": BUDGET_BYTES, "most_rows": MOST_ROWS}
    return environment


def _axis(story: Story, *, over: bool) -> TimeAxis | None:
    """From the run's first event to its last, or to now; None for a run without a journal."""
    if story.begin is None or story.end is None:
        return None
    return TimeAxis(story.begin, story.end if over else max(story.end, time.time()))


def _plots(story: Story) -> list[Plot]:
    held = story.held if story.held[-1:] != story.raw[-1:] else []  # else both are the same line
    plots = (
        Plot("From frame written to product published", show_duration,
             [Line("one", "latency", story.latency)]),
        Plot("Bytes so far: frames, and products brought out", show_bytes,
             [Line("one", "frames", story.raw), Line("two", "products", story.brought)]),
        Plot("Frames on the buffer", show_bytes, [Line("one", "on the buffer", held)]),
        Plot("Time of each output, by the model's log", show_duration,
             [Line(kind, stream, points) for kind, (stream, points) in
              zip(("one", "two"), story.output.items(), strict=False)]),
    )  # fmt: skip
    return [plot for plot in plots if any(line.points for line in plot.lines)]


def trial_row(name: str, record: TrialRecord) -> tuple[str, ...]:
    """A trial of a tuning in the columns of ``TRIAL_HEADS``."""
    from burstlens.workflows.tuning.options import configuration_of

    begun, ended = record.submitting, record.ended
    values = configuration_of(begun.values).text() if begun.values else "the recipe as it is"
    what, took, load = values, "", ""
    if ended is not None:
        done = ended.outcome == "done"
        took = f"{sum((ended.seconds or {}).values()):.4g} s" if done else ended.outcome
        load = "" if ended.load is None else f"{ended.load:.1f}"
        what += "" if done or not ended.message else f": {ended.message}"
    return name.rpartition("-")[2], begun.phase, begun.origin, took, load, what


def _trip(event: GuardTripped) -> tuple[str, ...]:
    found = _utc(event.t if event.found is None else event.found)
    place = _place(event.place or {})
    return found, event.guard, event.text, time_label(event.time), place, event.then


def _product(view: ProductView, story: Story) -> tuple[str, ...]:
    """Its row of the table, without what is stale."""
    entries = [entry for entry in view.entries if not entry.stale]
    holes = sum(bool(entry.placeholder) for entry in entries)
    ends = [time_label(entries[at].time) for at in (0, -1)] if entries else ["", ""]
    size = show_bytes(sum(it.bytes for it in entries))
    failed = story.failures.get(view.name, "")
    return view.name, view.kind, str(len(entries) - holes), str(holes), size, *ends, failed


def _what_ran(run: RunView, story: Story) -> list[tuple[str, str]]:
    known = facts_of(run.directory)
    recipe: Any = known.table or {}
    simulation = recipe.get("simulation") or {}
    nodes, ranks = simulation.get("nodes", 1), simulation.get("ranks_per_node", 1)
    size = f"{counted(nodes, 'node')}, {counted(ranks, 'rank')} on each"
    return [
        ("what", str(recipe.get("description", ""))),
        ("model", str(simulation.get("model", ""))),
        ("inputs", str(simulation.get("inputs", ""))),
        ("size", "" if known.attached else size),
        ("recipe", f"{known.recipe or ''}, from {known.source or ''}"),
        ("site", known.site or ""),
        ("host", known.host or ""),
        ("buffer", story.buffer),
        ("created", _utc(known.created)),
        ("with", f"Burstlens {known.burstlens or ''}, Python {known.python or ''}"),
        ("brought home", ", ".join(f"{name} ({show_bytes(size)})" for name, size in story.home)),
    ]


def _recipe(run: RunView) -> str:
    try:
        return run.directory.recipe.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        return f"cannot be read: {error.strerror}"


def _files(run: RunDir) -> list[tuple[str, int, str]]:
    """Name, bytes and SHA-256 of the run's inputs and results."""
    place, journal = run.path, [path.name for path in run.journal_files]
    names = ["recipe.toml", "run.json", *journal[-MOST_ROWS:], "products/index.jsonl"]
    for folder in ("files", "output", "tuning"):
        found = sorted(path for path in (place / folder).rglob("*") if path.is_file())
        names += [str(path.relative_to(place)) for path in found[:MOST_ROWS]]
    files = []
    for name in names:
        try:
            with (place / name).open("rb") as file:
                size = (place / name).stat().st_size
                digest = f"not taken above {show_bytes(HASHED_BYTES)}"
                if size <= HASHED_BYTES:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                files.append((name, size, digest))
        except OSError:
            continue  # gone or never made: the others are worth stating
    return files


def _place(place: Mapping[str, Any]) -> str:
    """``grid y 24, x 20; x 8000 m, y 9600 m``: the index, then the coordinates with units."""
    index = place.get("index")
    grid = [f"{name} {value}" for name, value in index.items()] if isinstance(index, dict) else []
    units = {"x": "xy_units", "y": "xy_units", "z": "z_units"}
    near = [
        f"{name} {place[name]:.5g} {place.get(units.get(name, ''), '')}".rstrip()
        for name in ("lon", "lat", "x", "y", "z")
        if isinstance(place.get(name), int | float)
    ]
    parts = (f"grid {', '.join(grid)}" if grid else "", ", ".join(near))
    return "; ".join(filter(None, parts))


def _utc(seconds: object) -> str:
    shown = clock_time(seconds) if isinstance(seconds, int | float) else ""
    return f"{shown} UTC" if shown else ""
