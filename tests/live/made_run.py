"""Runs without a model, whose files the driver's own writers write: with any number of frames, in
any state, with any names."""

from __future__ import annotations

import json
import time
import zlib
from functools import cache
from pathlib import Path
from typing import Any

from burstlens.core.decode import record
from burstlens.core.durable import write_json
from burstlens.core.lines import Lines
from burstlens.core.run.directory import RunDir
from burstlens.core.run.snapshot import new_snapshot
from burstlens.core.valid_time import elapsed_key
from burstlens.viz.live.feed import FrameFeed, write_status
from burstlens.viz.live.page import write_page

WIDTH, HEIGHT = 240, 180


class MadeRun:
    """A run with one product ``t2`` of the stream ``d01``."""

    def __init__(self, folder: Path, name: str = "made", title: str = "Made") -> None:
        self.run = RunDir(folder / name)
        self.run.create()
        facts = {"run": name, "title": title, "created": time.time()}
        self.run.facts.write_text(json.dumps(facts))
        self.status = record(new_snapshot(self.run))
        self.feed = FrameFeed(self.run)
        self.index = Lines(self.run.index)
        write_page(self.run)
        self.feed.write(force=True)
        self.update_status(state="running", block="running")

    @property
    def page(self) -> Path:
        """The page."""
        return self.run.products / "index.html"

    def update_status(self, **values: Any) -> None:
        """Write the status with these values, as a driver on another host does."""
        beats = {"host": "elsewhere", "pid": 1, "heartbeat": time.time()}
        self.status |= {"driver": beats} | values
        write_json(self.run.status, self.status)
        write_status(self.run, self.status)

    def publish(
        self, number: int, picture: Path, product: str = "t2", *, attempt: int = 1, **facts: Any
    ) -> Path:
        """Publish frame ``number`` of a product, its picture as a hard link; returns its path."""
        line = self.line(number, picture, product, attempt=attempt, **facts)
        place = self.run.products / str(line["name"])
        place.parent.mkdir(exist_ok=True)
        place.unlink(missing_ok=True)
        place.hardlink_to(picture)
        self.index.append(line)
        self.feed.add(line)
        return place

    def line(
        self, number: int, picture: Path, product: str = "t2", *, attempt: int = 1, **facts: Any
    ) -> dict[str, object]:
        """The line of the index for a frame's picture."""
        key = elapsed_key(float(number))
        size, crc32 = _measured(picture)
        return {
            "product": product,
            "stream": "d01",
            "time": key,
            "attempt": attempt,
            "name": f"{product}/{product}_d01_{key}{picture.suffix}",
            "bytes": size,
            "crc32": crc32,
            "t": 1.7e9 + number,
            "written": 1.7e9 + number - 0.25,
            "raw_bytes": 10_000_000 * (number + 1),
            "fill": 0.5,
            "facts": {"variable": "T2", "units": "K", "min": 270.0, "max": 300.0 + number} | facts,
        }


@cache
def _measured(picture: Path) -> tuple[int, int]:
    data = picture.read_bytes()
    return len(data), zlib.crc32(data)


def pictures(folder: Path, count: int) -> list[Path]:
    """``count`` pictures, each of one grey, each brighter than the one before."""
    import numpy as np

    from burstlens.viz.drawing.png import write_png

    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for number in range(count):
        pixels = np.full((HEIGHT, WIDTH, 4), 255, dtype=np.uint8)
        pixels[:, :, :3] = 20 + 200 * number // max(1, count - 1)
        made.append(folder / f"{number}.png")
        write_png(pixels, made[-1], {}, 100)
    return made
