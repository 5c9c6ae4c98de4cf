"""Judges a run by what it left on disk, without a line of Burstlens.

It reads the run directory as any program may: journal and index as JSON lines, products with
Pillow, netCDF4 and VTK, and compares them with what the model wrote. What that is comes from
``replay.py``, the tests' own model: its files when nothing disturbs it, its record of each frame.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import json
import os
import re
import struct
import threading
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np

Line = dict[str, Any]
ENDS_S = 120.0
"""For processes to end, beside other tests on two cores."""
_ONE_AT_A_TIME = threading.Lock()
"""netCDF's library is not safe in several threads, and tests judge runs in some."""
BEFORE_VALUES, AFTER_VALUES = b'burstlensFeed("', b'");\n'


@dataclass(frozen=True)
class Evidence:
    """Where a run lies, what was asked of it, and how its last driver ended."""

    run: Path
    reference: Path
    """The model's files as an undisturbed model leaves them."""
    record: Path
    """What the models of this run wrote, by their own word: JSON lines, see ``replay.py``."""
    products: Mapping[str, str]
    """The kind of each product of the recipe, by name."""
    exit_code: int
    said: str
    """All output of the drivers."""
    kept: bool = True
    """Whether raw frames are brought home."""
    owned_folders: tuple[Path, ...] = ()
    """Folders that are empty again after the run, such as its buffer and TMPDIR."""
    marker: Path | None = None
    """A folder that is named in command, environment or working folder of all its processes."""


def violations(of: Evidence, ends_s: float = ENDS_S) -> list[str]:
    """What is wrong with a run that is to be done; empty when nothing is."""
    found: list[str] = []
    for check in (_journal, _outcome, _frames, _products, _index, _strays, _raw, _words):
        try:
            with _ONE_AT_A_TIME:
                found += check(of)
        except (OSError, ValueError, KeyError, TypeError) as error:
            found.append(f"{check.__name__.strip('_')} cannot be judged: {error!r}")
    found += _processes(of, ends_s)
    return found + list(_left_files(of))


def journal(run: Path) -> list[Line]:
    """All whole lines of all volumes. Raises ValueError on one that is not JSON."""
    lines: list[Line] = []
    for path in (*sorted(run.glob("journal-*.jsonl")), run / "journal.jsonl"):
        with contextlib.suppress(FileNotFoundError):
            lines += [json.loads(line) for line in path.read_text().split("\n")[:-1]]
    return lines


_STANDING = ("product.published", "product.kept")
"""What makes a file the product of an attempt."""


def _events(of: Evidence, *names: str) -> list[Line]:
    return [line for line in journal(of.run) if line["event"] in names]


def _journal(of: Evidence) -> Iterator[str]:
    lines = journal(of.run)
    if not (of.run / "journal.jsonl").read_bytes().endswith(b"\n"):
        yield "the journal ends with half a line"
    names = [line["event"] for line in lines]
    if names.count("run.started") != 1 or names[0] != "run.started":
        starts = names.count("run.started")
        yield f"the journal begins with {names[:1]} and has run.started {starts} times"
    epochs = [line["driver"] for line in lines]
    if epochs != sorted(epochs):
        yield "lines of an earlier driver follow those of a later one"
    same = Counter(json.dumps(line, sort_keys=True) for line in lines)
    yield from (f"journalled {n} times: {line[:200]}" for line, n in same.items() if n > 1)
    ends = Counter(line["driver"] for line in lines if line["event"] == "run.ended")
    yield from (f"driver {epoch} ended {n} times" for epoch, n in ends.items() if n > 1)
    begun = {line["uuid"] for line in lines if line["event"] == "product.publishing"}
    for line in lines:
        if line["event"] == "product.published" and line["uuid"] not in begun:
            yield f"{line['name']} is published without product.publishing"
    submitted = [line for line in lines if line["event"] == "simulation.submitted"]
    jobs = {(line["attempt"], line["job_id"]) for line in submitted}
    for attempt, n in Counter(attempt for attempt, _ in jobs).items():
        if n > 1:
            yield f"{n} simulations in attempt {attempt}"
    had = max(
        names.count("buffer.created") + names.count("buffer.adopted"),
        names.count("buffer.requested"),  # `free` settles a request that no buffer has answered
    )
    if names.count("buffer.released") > had:
        yield f"the buffer was released {names.count('buffer.released')} times"


def _outcome(of: Evidence) -> Iterator[str]:
    last = next(
        (line for line in reversed(journal(of.run)) if line["event"].startswith("run.")), None
    )
    if last is None:
        yield "the run never began"
        return
    status = json.loads((of.run / "status.json").read_text())
    told = (last.get("event"), last.get("outcome"), last.get("exit_code"))
    if told != ("run.ended", "done", 0):
        yield f"the journal ends with {told}"
    shown = (status["state"], (status["outcome"] or {}).get("exit_code"))
    if shown != ("done", 0):
        yield f"status.json says {shown}"
    if of.exit_code != 0:
        yield f"exit code {of.exit_code} of a run that is done"
    if (status["outcome"] or {}).get("left"):
        yield f"status.json says that something is left: {status['outcome']['left']}"


def _frames(of: Evidence) -> Iterator[str]:
    """Each frame is ready once in its attempt, and none before the model had written it."""
    written = _written(of.record)
    ready = Counter((line["attempt"], line["time"]) for line in _events(of, "frame.ready"))
    yield from (f"frame.ready {n} times: {frame}" for frame, n in ready.items() if n > 1)
    attempts = sorted({attempt for attempt, _ in ready})
    last = attempts[-1] if attempts else 0
    times = set(_reference(of.reference))
    frames = list(_events(of, "frame.ready"))
    whole = {(f["time"], f["bytes"]) for f in frames if f["time"] in written.get(f["attempt"], ())}
    for line in frames:  # a model that is killed may have closed a file and not said so
        if line["signal"] == "ended" and (line["time"], line["bytes"]) in whole:
            written.setdefault(line["attempt"], set()).add(line["time"])
    for line in _events(of, "frame.damaged"):
        # A model that was killed leaves the frame that it was writing.
        if line["time"] in written.get(line["attempt"], ()) or line["attempt"] == last:
            yield f"damaged in attempt {line['attempt']}: {line['time']}, {line['reason']}"
    for attempt in attempts if written else ():
        early = {when for at, when in ready if at == attempt} - written.get(attempt, set())
        if early:
            yield f"ready and not written whole in attempt {attempt}: {sorted(early)}"
    missing = times - {when for attempt, when in ready if attempt == last}
    if missing:
        yield f"never ready in attempt {last}: {sorted(missing)}"


def _written(record: Path) -> dict[int, set[str]]:
    """The frames that each attempt's model recorded as written whole, by valid time."""
    written: dict[int, set[str]] = {}
    for line in record.read_text().splitlines() if record.exists() else ():
        entry = json.loads(line)
        if "frame" in entry:
            attempt = int(Path(entry["folder"]).name)
            written.setdefault(attempt, set()).add(_key(entry["frame"]))
    return written


def _key(time_of_wrf: str) -> str:
    return re.sub(r"[-:]", "", time_of_wrf).replace("_", "T")


@functools.cache
def _reference(folder: Path) -> dict[str, tuple[Path, int]]:
    """File and record of each valid time in the model's own files."""
    found = {}
    for path in sorted(folder.glob("wrfout_*")):
        with netCDF4.Dataset(path) as file:
            for record, text in enumerate(netCDF4.chartostring(file["Times"][:])):
                found[_key(str(text))] = path, record
    return found


def _published(of: Evidence) -> dict[tuple[str, str], Line]:
    """The latest publication of each product and time."""
    return {(e["product"], e["time"]): e for e in _events(of, *_STANDING)}


def _products(of: Evidence) -> Iterator[str]:
    events = _events(of, "product.published")
    keys = Counter((e["product"], e["stream"], e["time"], e["attempt"]) for e in events)
    yield from (f"published {n} times: {key}" for key, n in keys.items() if n > 1)
    truth = _reference(of.reference)
    wanted = {(name, time) for name in of.products for time in truth}
    published = _published(of)
    if wanted - published.keys():
        yield f"never published: {sorted(wanted - published.keys())}"
    if published.keys() - wanted:
        yield f"published and not asked for: {sorted(published.keys() - wanted)}"
    last = max((e["attempt"] for e in _events(of, "frame.ready")), default=0)
    for (name, valid_time), event in published.items():
        if event["attempt"] != last:
            yield f"{event['name']} is of attempt {event['attempt']}, not {last}"
        for part in (event, *(event.get("values") or ())):
            yield from _bytes(of.run / "products" / part["name"], part)
        if (event["facts"] or {}).get("placeholder"):
            yield f"{event['name']} is a placeholder: {event['facts'].get('reason')}"
        elif name in of.products and valid_time in truth:
            judge = _JUDGES.get(of.products[name], _any_file)
            path = of.run / "products" / event["name"]
            try:
                yield from (
                    f"{event['name']}: {fault}" for fault in judge(path, event, *truth[valid_time])
                )
            except Exception as error:  # a reader's own: the file cannot be read
                yield f"{event['name']} does not open: {error!r}"


def _bytes(path: Path, event: Line) -> Iterator[str]:
    data = path.read_bytes() if path.exists() else b""
    if (len(data), zlib.crc32(data)) != (event["bytes"], event["crc32"]):
        yield f"{event['name']} has {len(data)} bytes that are not the journal's {event['bytes']}"


def _map(path: Path, event: Line, file: Path, record: int) -> Iterator[str]:
    """A whole picture that is not empty, of this frame's values, with the values beside it."""
    from PIL import Image

    with Image.open(path) as image:
        image.load()
        if image.size[0] < 100 or len(image.convert("L").getcolors() or ()) < 20:
            yield "an empty picture"
    facts = event["facts"]
    level = int(re.sub(r"\D", "", facts["level"]))
    with netCDF4.Dataset(file) as source:
        field = np.asarray(source[facts["variable"]][record])
    model = float(field[level].min()), float(field[level].max())
    if not np.allclose(model, (facts["min"], facts["max"]), rtol=1e-4, atol=1e-6):
        yield f"shows {facts['min']} to {facts['max']}, the model has {model}"
    for part in event.get("values") or ():
        if part["name"].endswith(".values.js"):
            yield from _values(path.parents[1] / part["name"], event)


def _values(path: Path, event: Line) -> Iterator[str]:
    """The script of a picture's values: whole, and of this picture."""
    script = path.read_bytes()
    if not (script.startswith(BEFORE_VALUES) and script.endswith(AFTER_VALUES)):
        yield "its values are cut short"
        return
    payload = base64.b64decode(script[len(BEFORE_VALUES) : -len(AFTER_VALUES)], validate=True)
    (length,) = struct.unpack_from("<I", payload, 4)
    header = json.loads(payload[8 : 8 + length])
    if (header["picture"], header["time"]) != (event["crc32"], event["time"]):
        yield "its values belong to another picture"


def _volume(path: Path, event: Line, file: Path, record: int) -> Iterator[str]:
    """A grid with the model's winds on it, of this frame."""
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOXML import vtkXMLStructuredGridReader

    reader = vtkXMLStructuredGridReader()
    reader.SetFileName(str(path))
    reader.Update()
    grid = reader.GetOutput()
    if grid.GetNumberOfPoints() < 1000:
        yield f"only {grid.GetNumberOfPoints()} points"
        return
    array = grid.GetPointData().GetArray("W") or grid.GetCellData().GetArray("W")
    with netCDF4.Dataset(file) as source:
        field = np.asarray(source["W"][record])
    model = 0.5 * (field[:-1] + field[1:])
    shown = vtk_to_numpy(array)
    if not np.allclose(
        [shown.min(), shown.max()], [model.min(), model.max()], rtol=1e-4, atol=1e-6
    ):
        yield f"W from {shown.min()} to {shown.max()}, the model's is another"


def _crop(path: Path, event: Line, file: Path, record: int) -> Iterator[str]:
    """The model's own numbers, to the last bit."""
    with netCDF4.Dataset(path) as shown, netCDF4.Dataset(file) as source:
        for name in event["facts"]["variables"]:
            if not np.array_equal(np.asarray(shown[name][0]), np.asarray(source[name][record])):
                yield f"{name} differs from the model's"


def _any_file(path: Path, event: Line, file: Path, record: int) -> Iterator[str]:
    """Of a program of the user: its bytes are all that can be judged."""
    yield from ()


_JUDGES = {"map": _map, "vtk": _volume, "netcdf": _crop}


def _index(of: Evidence) -> Iterator[str]:
    """A line for each publication, once; the last one of a product is the file that stands."""
    text = (of.run / "products" / "index.jsonl").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    listed = Counter((e["product"], e["time"], e["attempt"], e["crc32"]) for e in lines)
    yield from (f"listed {n} times: {key}" for key, n in listed.items() if n > 1)
    events = _events(of, *_STANDING)
    missing = {(e["product"], e["time"], e["attempt"], e["crc32"]) for e in events} ^ listed.keys()
    if missing:
        yield f"only in the journal or only in the index: {sorted(missing)}"
    standing = {(e["product"], e["time"]): e["crc32"] for e in lines}
    if standing != {key: e["crc32"] for key, e in _published(of).items()}:
        yield "the index's last lines are not the products that stand"
    counted = (of.run / "products" / "live" / "count.js").read_text()
    if str(len(lines)) not in re.findall(r"\d+", counted):
        yield f"the page's count is not {len(lines)}: {counted}"


def _strays(of: Evidence) -> Iterator[str]:
    products = of.run / "products"
    known = {e["name"] for e in _events(of, "product.published")}
    known |= {p["name"] for e in _events(of, "product.published") for p in e.get("values") or ()}
    for name in of.products:
        known |= {f"{name}.pvd", f"{name}.paraview.py"}
    for path in sorted(products.rglob("*")):
        place = str(path.relative_to(products))
        if path.is_dir() or place.startswith("live/") or place in known:
            continue
        if place not in {"index.html", "index.jsonl"}:
            yield f"unknown file among the products: {place}"
    for path in of.run.rglob("*"):
        place = path.relative_to(of.run)
        if place.parts[0] != "parsl" and re.search(r"\.(part|tmp)\b|\.~", path.name):
            yield f"temporary file left: {place}"
    if left := os.listdir(of.run / "control"):
        yield f"left in control: {left}"


def _raw(of: Evidence) -> Iterator[str]:
    """Raw files that are kept are at home, equal to the model's; the log of the end, too."""
    output = of.run / "output"
    home = {path.name: _crc(path) for path in output.iterdir()} if output.is_dir() else {}
    kept = {path.name: _crc(path) for path in of.reference.glob("wrfout_*")} if of.kept else {}
    if home != kept:
        wrong = sorted(
            name for name in home.keys() | kept.keys() if home.get(name) != kept.get(name)
        )
        yield f"output: missing, foreign or not the model's bytes: {wrong}"
    last = max((e["attempt"] for e in _events(of, "frame.ready")), default=0)
    log = of.run / "logs" / f"attempt-{last}" / "rsl.error.0000"
    if "SUCCESS COMPLETE WRF" not in (log.read_text() if log.exists() else ""):
        yield f"the model's log is not home: {log.relative_to(of.run)}"


def _crc(path: Path) -> int:
    return zlib.crc32(path.read_bytes())


def _words(of: Evidence) -> Iterator[str]:
    """No traceback is shown; the driver's log may have those of expected errors."""
    at = of.said.find("Traceback (most recent call last)")
    if at >= 0:
        yield f"a traceback: {of.said[at:].strip().splitlines()[-1][:200]}"


def live_processes(marker: Path) -> dict[int, str]:
    """Live processes with that folder in command, environment or working folder."""
    mark = os.fsencode(marker) + b"/"
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            command = (entry / "cmdline").read_bytes()
            place = os.fsencode(os.readlink(entry / "cwd")) + b"/"
            if command and mark in command + b"\0" + (entry / "environ").read_bytes() + place:
                found[int(entry.name)] = command.replace(b"\0", b" ").decode(errors="replace")
    return found


def _processes(of: Evidence, ends_s: float) -> Iterator[str]:
    end = time.monotonic() + ends_s
    while of.marker and (left := live_processes(of.marker)):
        if time.monotonic() > end:
            yield f"still alive {ends_s:.0f} s after the end: {left}"
            return
        time.sleep(0.1)


def _left_files(of: Evidence) -> Iterator[str]:
    """What is left in the folders of the run's own, but for the folder of the user on a buffer."""
    for folder in of.owned_folders:
        paths = (str(path.relative_to(folder)) for path in folder.rglob("*"))
        if left := sorted(path for path in paths if not re.fullmatch(r"burstlens-\d+", path)):
            yield f"left in {folder.name}: {left[:9]}"
