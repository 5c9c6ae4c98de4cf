"""Which pictures of two runs are seen in a reader's limits while values of one of them lag or are
missing: as the page's own modules say."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from burstlens.viz import live

NODE = shutil.which("node")
PAGE = Path(__file__).parent / "pairs_of_page.js"
pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(NODE is None, reason="no Node.js"),
]


@pytest.fixture(scope="module")
def seen() -> Any:
    """The second of two days is asked for, of which the other run's picture has a name."""
    assert NODE is not None
    command: list[str | Path] = [NODE, PAGE, Path(live.__file__).parent]
    return json.loads(subprocess.run(command, check=True, text=True, capture_output=True).stdout)


@pytest.mark.parametrize("way", ["film", "still"])
def test_both_pictures_are_painted_once_their_values_are_here(seen: Any, way: str) -> None:
    assert seen["second"][way] == {"day": "02", "mine": True, "theirs": True}


def test_a_film_waits_for_no_values_of_the_other_run(seen: Any) -> None:
    assert seen["late"]["film"] == {"day": "02", "mine": True, "theirs": False}


def test_pictures_that_stay_change_together(seen: Any) -> None:
    assert seen["late"]["still"] == {"day": "01", "mine": True, "theirs": True}


@pytest.mark.parametrize("way", ["film", "still"])
def test_a_missing_picture_of_the_other_run_holds_back_none(seen: Any, way: str) -> None:
    assert seen["gone"][way] == {"day": "02", "mine": True, "theirs": False}
