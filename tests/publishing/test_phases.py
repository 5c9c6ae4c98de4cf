"""Where the time of a product went, by the clock of its publication."""

from __future__ import annotations

import numpy as np
import pytest

from burstlens.core.run.events import ProductPublished
from burstlens.viz.frames.reader import FrameReader
from burstlens.viz.frames.reading_time import Spent, measured
from burstlens.workflows.publishing.phases import NAMES, phases

CLOCK = {
    "written": 100.0, "detected": 100.25, "submitted": 100.5, "started": 101.0, "read": 101.125,
    "made": 103.0, "staged": 103.5, "received": 103.6, "reading_s": 0.5, "cpu_s": 1.75,
}  # fmt: skip


def published(clock: dict[str, float | None] | None) -> ProductPublished:
    return ProductPublished(
        t=104.0, product="w", stream="d01", time="t1", attempt=1, uuid="u", incoming="i",
        name="n", bytes=1, crc32=1, clock=clock,
    )  # fmt: skip


def test_the_phases_follow_each_other_and_sum_up_to_the_latency():
    found = dict(zip(NAMES, phases(published(CLOCK)), strict=True))
    assert found == {"wait": 0.25, "queue": 0.75, "read": 0.625, "draw": 1.375, "stage": 0.5,
                     "publish": 0.5, "cpu": 1.75}  # fmt: skip
    assert sum(found.values()) - found["cpu"] == 104.0 - CLOCK["written"]


@pytest.mark.parametrize("name", ["written", "detected", "started", "read", "made", "staged"])
def test_a_phase_without_one_of_its_ends_is_not_known(name):
    found = phases(published({**CLOCK, name: None}))
    whole = phases(published(CLOCK))
    assert None in found
    assert all(one in (None, other) for one, other in zip(found, whole, strict=True))


def test_without_a_clock_nothing_is_known():
    assert phases(published(None)) == [None] * len(NAMES)


def test_a_clock_that_is_ahead_is_not_hidden():
    assert phases(published({**CLOCK, "written": 100.75}))[0] == -0.5


def test_the_time_of_reading_counts_arrays_of_any_frame_and_only_while_measured(tmp_path):
    import netCDF4

    path = tmp_path / "frame.nc"
    with netCDF4.Dataset(path, "w") as data:
        data.createDimension("x", 400_000)
        data.createVariable("v", "f8", ("x",), zlib=True)[:] = np.random.default_rng(1).random(
            400_000
        )
    first, second = (FrameReader([path], 0, "s", "n1") for _ in range(2))
    spent = Spent()
    first.read("v")
    assert spent.seconds == 0.0
    with measured(spent):
        first.read("v")
        once = spent.seconds
        second.read("v")
    assert 0.0 < once < spent.seconds
    first.close()
    second.close()
