"""A run's report, put together: what ran, how it went, what was seen, and with what."""

from __future__ import annotations

import hashlib
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from burstlens import __version__
from burstlens.durable import write_whole
from burstlens.errors import RunError
from burstlens.index import Published
from burstlens.opened.run import Run
from burstlens.opened.table import clock_time, time_label
from burstlens.printable import printable
from burstlens.quantity import counted, show_bytes, show_duration
from burstlens.run_dir import facts_of
from burstlens.status import OVER, facts
from burstlens.viz.report.element import element, listing, pairs, section, table
from burstlens.viz.report.gallery import BUDGET_BYTES, Series, Shown, gallery
from burstlens.viz.report.plot import Line, time_plot, timeline
from burstlens.viz.report.story import Story, tell

_CSS = Path(__file__).with_name("report.css")
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
HASHED_BYTES = 64 * 2**20
"""A larger file is named with its size alone."""
MOST_ROWS = 200


@dataclass(frozen=True, slots=True)
class Report:
    """A report that stands whole at ``path``: its size, and that of the pictures in it."""

    path: Path
    run: str
    bytes: int
    picture_bytes: int
    pictures: int


def write_report(run: Run, out: Path) -> Report:
    """Write the run's report as exactly ``out``. Raises RunError; then no file is left."""
    entries = [entry for view in run.products.values() for entry in view.entries]
    series = gallery(run.directory.products, entries)
    shown = [it for one in series for it in (one.newest, *one.small)]
    text = _html(run, tell(run.journal()), entries, series)
    try:
        write_whole(out, text, sync=False)
    except OSError as error:
        raise RunError(
            f"cannot write {out}: {error.strerror}; --out names another place"
        ) from error
    held = sum(len(it.uri) for it in shown)
    return Report(out, run.id, len(text.encode()), held, len(shown))


def _html(run: Run, story: Story, entries: Sequence[Published], series: Sequence[Series]) -> str:
    status = run.status
    title = str(status["title"] or run.id)
    head = element("head")
    SubElement(head, "meta", {"charset": "utf-8"})
    SubElement(head, "meta", {"http-equiv": "Content-Security-Policy", "content": _POLICY})
    SubElement(head, "meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"})
    SubElement(head, "meta", {"name": "generator", "content": f"Burstlens {__version__}"})
    SubElement(head, "title").text = printable(f"{title} · {run.id}")
    SubElement(head, "style").text = _CSS.read_text(encoding="utf-8")
    body = element(
        "body",
        _top(run.id, title, status),
        *_pictures(series),
        _course(story, status),
        *_warnings(story, status),
        _products(run, story),
        _what_ran(run, story),
        _recipe(run),
        _provenance(run, entries),
        _foot(run, series),
    )
    page = element("html", head, body, lang="en")
    return "<!doctype html>\n" + tostring(page, encoding="unicode", method="html") + "\n"


def _top(run: str, title: str, status: dict[str, Any]) -> Element:
    outcome = status.get("outcome") or {}
    state = str(status["state"])
    head = element(
        "header",
        element("p", f"Run {run}", class_="over"),
        element("h1", title),
        element("p", element("span", state, class_=f"state {state.split()[0]}"), class_="badge"),
    )
    if state not in OVER:
        head.append(element("p", "The run goes on: this is how it stands now.", class_="note"))
    if outcome.get("message"):
        head.append(element("p", str(outcome["message"]), class_="message"))
    if outcome.get("line"):
        head.append(listing(str(outcome["line"])))
    told = [(label, text) for label, text in facts(status) if label != "pictures"]
    head.append(pairs([("begun", _utc(status.get("started"))), *told]))
    return head


def _pictures(series: Sequence[Series]) -> list[Element]:
    parts = []
    for one in series:
        strip = element("div", *(_figure(it, "small") for it in one.small), class_="strip")
        parts.append(section(one.product, _figure(one.newest, "large"), strip))
    return parts


def _figure(shown: Shown, style: str) -> Element:
    entry, (width, height) = shown.entry, shown.size
    label = time_label(entry.time)
    hole = f": {entry.placeholder}" if entry.placeholder else ""
    told = f"{entry.product}, {label}{hole}"
    image = element("img", src=shown.uri, alt=told, width=str(width), height=str(height))
    return element("figure", image, element("figcaption", f"{label}{hole}"), class_=style)


def _course(story: Story, status: dict[str, Any]) -> Element:
    if story.begin is None or story.end is None:
        return section("Course", element("p", "The run has no journal yet."))
    end = story.end if status["state"] in OVER else max(story.end, time.time())
    spans = sorted(story.spans.values(), key=lambda span: span.begin)
    parts = [timeline(spans, story.frames, story.marks, story.begin, end)]
    released = story.held[-1:] != story.raw[-1:]  # else both are the same line
    plots = (
        ("From frame written to product published", show_duration, [
            Line("one", "latency", story.latency)]),
        ("Bytes so far: frames, and products brought out", show_bytes, [
            Line("one", "frames", story.raw), Line("two", "products", story.brought)]),
        ("Frames on the buffer", show_bytes, [
            Line("one", "on the buffer", story.held if released else [])]),
    )  # fmt: skip
    for title, show, lines in plots:
        if any(line.points for line in lines):
            key = [element("span", it.name, class_=it.style) for it in lines if len(lines) > 1]
            caption = element("figcaption", title, *key)
            plot = time_plot(lines, story.begin, end, show, title)
            parts.append(element("figure", caption, plot, class_="plot"))
    return section("Course", *parts)


def _warnings(story: Story, status: dict[str, Any]) -> list[Element]:
    parts = []
    guards = [it for it in status.get("guards") or [] if isinstance(it, dict)]
    if guards or story.trips:
        rows = [[str(it.get(key, "")) for key in ("name", "text", "state")] for it in guards]
        parts.append(section("Guards", table(("guard", "condition", "state"), rows)))
    if story.trips:
        trips = [
            (
                _utc(it.get("found", it.get("t"))),
                str(it.get("guard", "")), str(it.get("text", "")),
                time_label(str(it.get("time") or "")), _place(it.get("place")),
                str(it.get("then", "")),
            )
            for it in story.trips[:MOST_ROWS]
        ]  # fmt: skip
        heads = ("at", "guard", "what", "frame", "where", "then")
        parts[-1].append(table(heads, trips))
    if story.marks:
        rows = [[_utc(mark.t), mark.text] for mark in story.marks[:MOST_ROWS]]
        more = len(story.marks) - MOST_ROWS
        note = [element("p", f"and {more} more in the journal")] if more > 0 else []
        parts.append(section("Alarms and requests", table(("at", "what"), rows), *note))
    return parts


def _place(place: object) -> str:
    """``grid y 24, x 20; x 8000 m, y 9600 m``: the index, then the coordinates with units."""
    if not isinstance(place, dict):
        return ""
    index = place.get("index")
    grid = [f"{name} {value}" for name, value in index.items()] if isinstance(index, dict) else []
    near = []
    for name in ("lon", "lat", "x", "y", "z"):
        if isinstance(place.get(name), int | float):
            units = place.get({"x": "xy_units", "y": "xy_units", "z": "z_units"}.get(name, ""), "")
            near.append(f"{name} {place[name]:.5g} {units}".rstrip())
    parts = (f"grid {', '.join(grid)}" if grid else "", ", ".join(near))
    return "; ".join(part for part in parts if part)


def _products(run: Run, story: Story) -> Element:
    rows: list[tuple[str, ...]] = []
    for view in run.products.values():
        holes = sum(bool(entry.placeholder) for entry in view.entries)
        ends = [time_label(view.entries[at].time) for at in (0, -1)] if view.entries else ["", ""]
        size = sum(entry.bytes for entry in view.entries)
        rows.append(
            (
                view.name, view.kind, str(len(view) - holes), str(holes), show_bytes(size), *ends,
                story.failures.get(view.name, ""),
            )
        )  # fmt: skip
    heads = ["product", "kind", "made#", "holes#", "size#", "first", "last", "last failure"]
    if not story.failures:
        heads, rows = heads[:-1], [row[:-1] for row in rows]
    return section("Products", table(heads, rows))


def _what_ran(run: Run, story: Story) -> Element:
    known = facts_of(run.directory)
    recipe: Any = known.get("table") or {}
    simulation = recipe.get("simulation") or {}
    nodes, ranks = simulation.get("nodes", 1), simulation.get("ranks_per_node", 1)
    home = ", ".join(f"{name} ({show_bytes(size)})" for name, size in story.home)
    told = [
        ("what", str(recipe.get("description", ""))),
        ("model", str(simulation.get("model", ""))),
        ("inputs", str(simulation.get("inputs", ""))),
        ("size", f"{counted(nodes, 'node')}, {counted(ranks, 'rank')} on each"),
        ("recipe", f"{known.get('recipe', '')}, from {known.get('source', '')}"),
        ("site", str(known.get("site", ""))),
        ("host", str(known.get("host", ""))),
        ("buffer", story.buffer),
        ("created", _utc(known.get("created"))),
        ("with", f"Burstlens {known.get('burstlens', '')}, Python {known.get('python', '')}"),
        ("brought home", home),
    ]
    return section("What ran", pairs(told))


def _recipe(run: Run) -> Element:
    try:
        text = run.directory.recipe.read_text(encoding="utf-8", errors="replace")
        tomllib.loads(text)
    except (OSError, tomllib.TOMLDecodeError) as error:
        text = f"cannot be read: {error}"
    return section("Recipe as given", listing(text))


def _provenance(run: Run, entries: Sequence[Published]) -> Element:
    place = run.directory.path
    names = ["recipe.toml", "run.json", "journal.jsonl", "products/index.jsonl"]
    for folder in ("files", "output"):
        found = sorted(path for path in (place / folder).rglob("*") if path.is_file())
        names += [str(path.relative_to(place)) for path in found[:MOST_ROWS]]
    rows = [row for name in names if (row := _hashed(place / name, name))]
    size = show_bytes(sum(entry.bytes for entry in entries))
    note = (
        f"{counted(len(entries), 'product')} of {size} altogether; the CRC-32 of each, compared "
        "with what was read back from the target, stands in products/index.jsonl."
    )
    return section("Provenance", table(("file", "bytes#", "SHA-256"), rows), element("p", note))


def _hashed(path: Path, name: str) -> tuple[str, str, str] | None:
    try:
        size = path.stat().st_size
        if size > HASHED_BYTES:
            return name, str(size), f"not taken above {show_bytes(HASHED_BYTES)}"
        return name, str(size), hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def _foot(run: Run, series: Sequence[Series]) -> Element:
    shown = [it for one in series for it in (one.newest, *one.small)]
    size = sum(len(it.uri) for it in shown)
    told = (
        f"Written {_utc(time.time())} by Burstlens {__version__} from {run.directory.path}. "
        f"{counted(len(shown), 'picture')} in {show_bytes(size)}; they may take "
        f"{show_bytes(BUDGET_BYTES)}."
    )
    return element("footer", element("p", told))


def _utc(seconds: object) -> str:
    told = clock_time(seconds) if isinstance(seconds, int | float) else ""
    return f"{told} UTC" if told else ""
