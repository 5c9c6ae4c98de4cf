"""Frames of which several come in a second, as large-eddy simulations write them (xarray)."""

from __future__ import annotations

from pathlib import Path

import pytest
from cases.fields import write_regular
from cases.looked import Case, Looked

STEPS = [0.25 * number for number in range(8)]


def elapsed(folder: Path) -> None:
    write_regular(folder / "les_slice.nc", STEPS, "s").close()


def check(look: Looked) -> None:
    assert look.code == 0, look.said
    assert len(look.times()) == 8
    values = list(look.series("tas", "--at", "46,0").values())
    assert values == pytest.approx([146.0 + record for record in range(8)], abs=0.01)


CASES = [Case("elapsed", elapsed, check)]
