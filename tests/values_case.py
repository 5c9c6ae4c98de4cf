"""Runs without a model whose pictures have values, as the driver's own writers leave them."""

from __future__ import annotations

import json
import time
import zlib
from pathlib import Path

import numpy as np

from burstlens.core.decode import record
from burstlens.core.durable import write_json
from burstlens.core.lines import Lines
from burstlens.core.run.directory import RunDir
from burstlens.core.run.index import grid_path, values_path
from burstlens.core.run.snapshot import new_snapshot
from burstlens.core.valid_time import calendar_key
from burstlens.viz.geometry.projection import Projection, longitude_latitude
from burstlens.viz.values.grid import Axis, GridScript, axes_grid
from burstlens.viz.values.quantised import quantised
from burstlens.viz.values.script import script

LAMBERT = Projection("+proj=lcc +lat_1=30 +lat_2=60 +lat_0=25 +lon_0=-90 +R=6370000")
ROWS, COLUMNS = 80, 100


def axis_of(start: float, step: float, count: int, units: str, dimension: str, first=0, by=1):
    points = start + step * np.arange(count)
    edges = (float(points[0] - step / 2), float(points[-1] + step / 2))
    name = "x" if dimension == "west_east" else "y"
    return Axis(points, edges, name, units, dimension=dimension, first=first, step=by)


def degrees_grid(
    west: float = -95.0, north: float = 30.0, step: float = 0.1, rows: int = ROWS
) -> GridScript:
    """Longitudes from ``west``, latitudes from ``north`` down; rows count from the south."""
    return axes_grid(
        axis_of(west, step, COLUMNS, "degrees", "west_east"),
        axis_of(north, -step, rows, "degrees", "south_north", rows - 1, -1),
        longitude_latitude(-90.0),
    )


def plane_grid(projection: Projection | None = None, spacing: float = 3000.0) -> GridScript:
    """A plane in metres, about its middle."""
    return axes_grid(
        axis_of(-spacing * COLUMNS / 2, spacing, COLUMNS, "m", "west_east"),
        axis_of(spacing * ROWS / 2, -spacing, ROWS, "m", "south_north", ROWS - 1, -1),
        projection,
    )


def ramp(number: int = 0) -> np.ndarray:
    """A field of which each value says where it is: row + column / 1000 + 1000 * number."""
    rows, columns = np.mgrid[0:ROWS, 0:COLUMNS]
    return rows + columns / 1000 + 1000.0 * number


class ValuesRun:
    """A run with maps that have values."""

    def __init__(self, folder: Path, name: str = "made", kind: str = "map") -> None:
        self.run = RunDir(folder / name)
        self.run.create()
        table = {"product": [{"name": "t2", "kind": kind}]}
        write_json(self.run.facts, {"run": name, "title": "Made", "created": 1.0, "table": table})
        self.update_status(state="done")
        (self.run.products / "live").mkdir(exist_ok=True)
        self.index = Lines(self.run.index)

    def update_status(self, **values: object) -> None:
        beats = {"host": "elsewhere", "pid": 1, "heartbeat": time.time()}
        snapshot = record(new_snapshot(self.run)) | {"driver": beats} | values
        write_json(self.run.status, snapshot)

    def publish(
        self, hour: int, *fields: tuple[np.ndarray, GridScript], product: str = "t2",
        stream: str = "d01", units: str = "K", variable: str = "T2", picture: int | None = None,
        time_: str | None = None, values: bool = True, attempt: int = 1, log: bool = False,
        stride: int = 1,
        **line: object,
    ) -> Path:  # fmt: skip
        """Publish a frame; returns the file of its values. ``picture`` is the checksum in their
        header where it is not the index's."""
        key = time_ or calendar_key(2005, 8, 28 + hour // 24, hour % 24, 0, 0)
        name = f"{product}/{product}_{stream}_{key}.png"
        crc32 = 1000 * attempt + hour
        path = values_path(self.run.products / name)
        path.parent.mkdir(exist_ok=True)
        (self.run.products / name).write_bytes(b"picture")
        entry: dict[str, object] = {
            "product": product, "stream": stream, "time": key, "attempt": attempt, "name": name,
            "bytes": 7, "crc32": crc32, "t": 1.7e9 + hour + attempt,
            "facts": {"variable": variable, "units": units},
        }  # fmt: skip
        if values:
            parts = []
            for number, (field, grid) in enumerate(fields or [(ramp(hour), degrees_grid())]):
                facts = {"variable": variable, "long_name": "temperature at 2 m", "units": units,
                         "printed": units, "level": "", "stride": stride,
                         "grid": grid.hash}  # fmt: skip
                parts.append((facts | ({"label": f"d0{number + 1}"} if number else {}),
                              *quantised(field, 16, log=log)))  # fmt: skip
                grid_path(self.run.products, grid.hash).write_bytes(grid.text)
            head = {"product": product, "stream": stream, "time": key, "attempt": attempt,
                    "picture": crc32 if picture is None else picture}  # fmt: skip
            text = script(head, parts)
            path.write_bytes(text)
            entry["values"] = {"name": path.name, "bytes": len(text), "crc32": zlib.crc32(text)}
        self.index.append(entry | line)
        return path


def objects(text: str | bytes) -> list[object]:
    """The JSON values in lines."""
    return [json.loads(line) for line in text.splitlines()]
