"""A time twice in one file, as a model leaves it that was restarted (xarray, xBOUT)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from cases.fields import write_regular
from cases.looked import Case, Looked

ONCE, BACK = (0, 1, 2, 2, 3, 4), (0, 1, 2, 3, 1, 2, 3, 4)
UNITS = "hours since 2010-02-01 10:00:00"


def write(hours: Sequence[int]) -> Callable[[Path], None]:
    return lambda folder: write_regular(folder / "telemac.nc", hours, UNITS).close()


def check(hours: Sequence[int]) -> Callable[[Looked], None]:
    later = {f"20100201T{10 + hour:02d}0000": record for record, hour in enumerate(hours)}

    def whole(look: Looked) -> None:
        assert look.code == 0, look.said
        assert "come twice" in look.said
        assert {one["time"]: one["record"] for one in look.events("frame.ready")} == later
        values = look.series("tas", "--at", "46,0")
        assert values == pytest.approx({time: 146 + n for time, n in later.items()}, abs=0.01)

    return whole


CASES = [
    Case("the hour of a restart", write(ONCE), check(ONCE)),
    Case("some hours back", write(BACK), check(BACK)),
]
