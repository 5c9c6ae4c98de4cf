"""The series of a product at a place: from Python, and from the server as a page asks for it."""

from __future__ import annotations

import http.client
import json
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.pipeline import Scratch
from bench.report import Figure, median, spread
from bench.serving import Client, _server
from burstlens.clients.opened.pictured import Pictured
from burstlens.clients.opened.points import Files, Grids
from burstlens.clients.opened.series import reader, samples
from burstlens.clients.opened.spot import Spot
from burstlens.clients.serving.access import Access
from burstlens.core.durable import write_json
from burstlens.core.lines import Lines
from burstlens.core.run.directory import RunDir
from burstlens.core.run.index import grid_path, values_path
from burstlens.core.valid_time import elapsed_key
from burstlens.viz.geometry.projection import Projection
from burstlens.viz.values.grid import Axis, GridScript, axes_grid
from burstlens.viz.values.quantised import quantised
from burstlens.viz.values.script import script

SIDE = 500
OTHERS = 9
"""Products beside it, whose lines of the index have to be passed over."""
FIRST_S, WHOLE_S = 0.5, 3.0
FACTS = {"variable": "T2", "units": "K", "limits": [270.0, 312.0], "shape": [SIDE, SIDE]}
AT = Spot.of(20.1, -90.2)
LAMBERT = Projection("+proj=lcc +lat_1=15 +lat_2=25 +lat_0=20 +lon_0=-90 +R=6370000")
SPACING_M = 3000.0


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """A standing grid, and a nest that moves with each frame."""
    count, repeats = (100, 2) if quick else (2000, 5)
    figures = []
    for name, moving in (("standing", False), ("moving", True)):
        run = write_run(scratch.runs / name, count, moving=moving)
        note = f"{count} frames of {SIDE} x {SIDE} points, each with a file of its own"
        note += ", each on a grid of its own" if moving else ""
        firsts, wholes = zip(*(_python(run, count) for _ in range(repeats)), strict=True)
        figures += _figures(f"series, {name} grid, Python", list(firsts), list(wholes), note)
        with _server(scratch) as (_, client):
            pairs = [_http(client, name, count) for _ in range(repeats)]
        firsts, wholes = zip(*pairs, strict=True)
        figures += _figures(f"series, {name} grid, server", list(firsts), list(wholes), note)
    return figures


def _figures(name: str, firsts: list[float], wholes: list[float], note: str) -> list[Figure]:
    note = f"{spread(wholes, ' s')}; {note}"
    return [
        Figure(f"{name}: first value", median(firsts), "s", FIRST_S, note=spread(firsts, " s")),
        Figure(f"{name}: all", median(wholes), "s", WHOLE_S, note=note),
    ]


def _python(run: RunDir, count: int) -> tuple[float, float]:
    begin = time.perf_counter()
    entries = Pictured(run, "t2").entries()[::-1]
    found = samples(reader(Files(run.products), AT, Grids()), entries, None)
    firsts = [next(found)]
    first = time.perf_counter() - begin
    rest = list(found)
    whole = time.perf_counter() - begin
    if len(rest) != count - 1 or any(one.gap for one in firsts + rest):
        raise RuntimeError(f"gaps: {[one for one in firsts + rest if one.gap][:3]}")
    return first, whole


def _http(client: Client, name: str, count: int) -> tuple[float, float]:
    connection = http.client.HTTPConnection("127.0.0.1", client.port)
    begin = time.perf_counter()
    folder = Access(client.token, client.port).folder
    path = f"{folder}/{name}/series?product=t2&lat={AT.lat}&lon={AT.lon}"
    connection.request("GET", path, headers=client.headers)
    answer = connection.getresponse()
    answer.readline()
    answer.readline()
    first = time.perf_counter() - begin
    rest = answer.read().splitlines()
    whole = time.perf_counter() - begin
    connection.close()
    if len(rest) != count - 1 or json.loads(rest[-1])[1] is None:
        raise RuntimeError(f"{len(rest)} values, the last is {rest[-1:]}")
    return first, whole


def write_run(path: Path, count: int, *, moving: bool) -> RunDir:
    """A run directory with ``count`` frames of a map with values, and lines of other products."""
    run = RunDir(path)
    run.create()
    write_json(run.facts, {"run": run.id, "title": "Pins", "created": 1.0, "table": {}})
    fields = [_field(number) for number in range(8)]
    (run.products / "t2").mkdir()
    (run.products / "live").mkdir()
    index = Lines(run.index)
    for number, grid in zip(range(count), _grids(moving=moving), strict=False):
        text = script({"picture": number}, [
            ({"variable": "T2", "units": "K", "printed": "K", "stride": 1, "grid": grid.hash},
             *fields[number % 8])
        ])  # fmt: skip
        key = elapsed_key(60.0 * number)
        name = f"t2/t2_d01_{key}.png"
        values_path(run.products / name).write_bytes(text)
        grid_path(run.products, grid.hash).write_bytes(grid.text)
        line = {"stream": "d01", "time": key, "attempt": 1, "bytes": 60_000, "crc32": number,
                "t": 1.0, "facts": FACTS}  # fmt: skip
        for other in range(OTHERS):
            product = f"other{other}"
            index.append({"product": product, **line, "name": f"{product}/{product}_{key}.png"})
        values = {"name": f"t2/t2_d01_{key}.values.js", "bytes": len(text),
                  "crc32": zlib.crc32(text)}  # fmt: skip
        index.append({"product": "t2", **line, "name": name, "values": values})
    index.close()
    return run


def _grids(*, moving: bool) -> Iterator[GridScript]:
    """The same grid for each frame, or one that moves by a point from frame to frame."""
    points = SPACING_M * (np.arange(SIDE) - SIDE / 2)
    number = 0
    while True:
        x = points + SPACING_M * 0.05 * number * moving
        edges = (float(x[0]) - SPACING_M / 2, float(x[-1]) + SPACING_M / 2)
        up = (-float(points[0]) + SPACING_M / 2, -float(points[-1]) - SPACING_M / 2)
        yield axes_grid(
            Axis(x, edges, "x", "m", dimension="west_east", first=number),
            Axis(-points, up, "y", "m", dimension="south_north", first=SIDE - 1, step=-1),
            LAMBERT,
        )
        number += moving


def _field(number: int) -> Any:
    """Codes and scale of a smooth field with noise of 1 % of its spread."""
    y, x = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    noise = np.random.default_rng(number).normal(size=(SIDE, SIDE))
    return quantised(290 + 10 * np.sin(7 * x + number) * np.cos(5 * y) + 0.1 * noise, 12)
