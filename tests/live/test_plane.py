"""When the page draws a plane from values, and what of it: as the page's own modules say."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from burstlens.viz import live

NODE = shutil.which("node")
PAGE = Path(__file__).parent / "planes_of_page.js"
pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(NODE is None, reason="no Node.js"),
]


@pytest.fixture(scope="module")
def said() -> Any:
    assert NODE is not None
    modules = Path(live.__file__).parent
    done = subprocess.run([NODE, PAGE, modules], check=True, text=True, capture_output=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "values",
    [
        "cells larger than pixels",
        "every second point, as fine as pixels",
        "a domain of cells larger than pixels in a wide map",
    ],
)
def test_values_that_hold_all_of_a_picture_take_its_plane_s_place(said: Any, values: str) -> None:
    assert said["coarser"][values] is False


@pytest.mark.parametrize(
    "values",
    [
        "cells smaller than pixels",
        "neighbours blended",
        "rows sampled",
        "an older version",
        "every second point",
        "a nest of which every second point is kept",
        "a nest of cells smaller than pixels",
        "a domain of cells smaller than pixels in a wide map",
    ],
)
def test_a_picture_that_shows_more_than_its_values_keeps_its_plane(said: Any, values: str) -> None:
    assert said["coarser"][values] is True


def test_without_what_lies_over_it_a_plane_is_not_drawn_from_values(said: Any) -> None:
    assert said["damaged"]["wholes"] == [{"isReady": False}] * 2


def test_an_image_that_could_not_be_decoded_is_tried_again(said: Any) -> None:
    assert said["damaged"]["decoded"] == 2


def test_words_that_are_left_out_are_covered_where_the_picture_has_them(said: Any) -> None:
    assert said["covered"] == [["2", True, True], ["1", True, True], ["0", False, True]]
    assert said["bare"] == [["2", True, False], ["1", True, False]]


def test_rows_of_pixels_that_are_alike_are_painted_once_and_a_nest_lies_over_its_parent(
    said: Any,
) -> None:
    assert said["painted"] == {"same": True, "colours": 25 - 9 + 64 + 8}
