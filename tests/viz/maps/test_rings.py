"""Rings where a guard found something: the words beside them are in the picture's own units."""

from __future__ import annotations

from pathlib import Path

import pytest

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.drawing.maps.rings import _label
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.geometry.field import read_field
from burstlens.viz.product import Mark


@pytest.mark.parametrize(
    ("units", "mark", "words"),
    [
        ("degC", Mark("T2 - T2 [K]", {}, "1.5 K", 1.5, "K"), "T2 − T2 [K] 1.5 °C"),
        ("degC", Mark("T2", {}, "T2 400 K", 400.0, "K"), "T2 126.9 °C"),
        (None, Mark("T2", {}, "T2 400 K", 400.0, "K"), "T2 400 K"),
        ("degC", Mark("T2", {}, "T2 126.8 degF", 260.33, "degF"), "T2 126.8 °C"),
        ("degC", Mark("T2", {}, "T2 not finite"), "T2 not finite"),
        ("degC", Mark("T2", {}, "T2 5 blobs", 5.0, "blobs"), "T2 5 blobs"),
    ],
)
def test_a_mark_has_its_value_in_the_units_of_the_map(
    units: str | None, mark: Mark, words: str, katrina: Path
):
    with open_frame([katrina]) as frame:
        field = read_field(frame, mark.variable, level=None, crop=Crop(), units=units)
    assert _label(field, mark) == words
