"""The loop that the talk showed: look at a fixed interval, start a new Python for each frame.

``python talk_way.py FRAME.nc OUT.png`` draws one frame with netCDF4 and pyplot.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Picture:
    """A finished picture: its frame's number, when it was finished, what its process took."""

    number: int
    done: float
    cpu_s: float
    peak_bytes: int


def watch(folder: Path, period_s: float, more: Callable[[], bool]) -> list[Picture]:
    """Draw each frame that appears in ``folder`` until ``more`` says no and none is left.

    A frame that cannot be drawn, because it is still being written, is tried again at the next
    look. A frame that was drawn is deleted.
    """
    pictures = []
    while True:
        last = not more()
        for frame in sorted(folder.glob("frame_*.nc")):
            picture = frame.with_suffix(".png")
            drawing = subprocess.Popen(
                [sys.executable, __file__, str(frame), str(picture)], stderr=subprocess.DEVNULL
            )
            _, status, used = os.wait4(drawing.pid, 0)
            drawing.returncode = os.waitstatus_to_exitcode(status)
            if drawing.returncode == 0:
                cpu_s, peak = used.ru_utime + used.ru_stime, used.ru_maxrss * 1024
                number = int(frame.stem.rpartition("_")[2])
                pictures.append(Picture(number, time.time(), cpu_s, peak))
                frame.unlink()
        if last:
            return pictures
        time.sleep(period_s)


def draw(frame: str, picture: str) -> None:
    """One level of one variable, as most people's first script does it."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    import netCDF4

    with netCDF4.Dataset(frame) as data:
        field = data["v0"][0, 10]
        plt.figure(figsize=(9, 7.5))
        plt.imshow(field, origin="lower", vmin=-13, vmax=13, cmap="RdBu_r")
        plt.colorbar(label=data["v0"].units)
        plt.title(f"{data['v0'].long_name}, t = {data['time'][0]:g} s")
        plt.savefig(picture)


if __name__ == "__main__":
    draw(sys.argv[1], sys.argv[2])
