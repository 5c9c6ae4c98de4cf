"""A run whose second attempt resumes from a checkpoint of the first one, as the driver's own
writers leave it."""

from __future__ import annotations

import io
import time
import zlib
from pathlib import Path

from PIL import Image

from burstlens.clients.opened.view import RunView
from burstlens.core.decode import record
from burstlens.core.durable import write_json
from burstlens.core.lines import Lines
from burstlens.core.run.directory import RunDir
from burstlens.core.run.snapshot import new_snapshot
from burstlens.core.valid_time import calendar_key

SIZE = 64, 48


def at(hour: int) -> str:
    """The key of an hour of the run's day."""
    return calendar_key(2005, 8, 28, hour, 0, 0)


FORK = at(3)
SEGMENTS = [
    {"attempt": 1, "end": FORK, "job_id": "4711", "outcome": "failed"},
    {"attempt": 2, "begin": FORK, "job_id": "4712"},
]


class ForkedRun:
    """A run with the product ``t2``: the first attempt published hours 0 to 5, its checkpoint is of
    hour 3, and the second one has published hour 4 so far."""

    def __init__(self, folder: Path) -> None:
        self.run = RunDir(folder / "forked")
        self.run.create()
        table = {"product": [{"name": "t2", "kind": "map"}], "simulation": {"model": "wrf"}}
        facts = {"run": "forked", "title": "Forked", "created": 1.0, "table": table}
        write_json(self.run.facts, facts)
        self.run.recipe.write_text('title = "Forked"\n')
        self.run.journal.touch()
        self.index = Lines(self.run.index)
        for hour in range(6):
            self.publish(hour, 1)
        self.publish(4, 2)
        self.update_status(segments=SEGMENTS)

    @property
    def view(self) -> RunView:
        """As clients open it."""
        return RunView(self.run)

    def update_status(self, **values: object) -> None:
        """Write the status with these values, as a driver on another host does."""
        beats = {"host": "elsewhere", "pid": 1, "heartbeat": time.time()}
        fixed = {"driver": beats, "state": "running", "products": {"t2": {"published": 6}}}
        fixed["products"]["t2"] |= {"failed": 0, "kind": "map"}
        write_json(self.run.status, record(new_snapshot(self.run)) | fixed | values)

    def publish(self, hour: int, attempt: int, **line: object) -> None:
        """Publish the frame of an hour: its picture has the red of its hour, and the blue of its
        attempt."""
        name = f"t2/t2_d01_{at(hour)}.png"
        held = io.BytesIO()
        Image.new("RGB", SIZE, (40 * hour, 120, 100 * attempt)).save(held, "PNG")
        path = self.run.products / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(held.getvalue())
        facts = {"variable": "T2", "units": "K", "min": 270.0, "max": 300.0 + hour}
        entry = {
            "product": "t2", "stream": "d01", "time": at(hour), "attempt": attempt, "name": name,
            "bytes": path.stat().st_size, "crc32": zlib.crc32(held.getvalue()),
            "t": 1.7e9 + 10 * attempt + hour, "facts": facts,
        }  # fmt: skip
        self.index.append(entry | line)
