"""Runs to be steered: a recorded WRF whose model waits at its end, with files of products."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from run_case import RECIPE, WAITS, Case

LAST_CALL = 5391
"""Call at which the recorded model waits, with all three frames written."""
MINE = """
[[product]]
name = "mine"
kind = "python"
function = "plots.py:field"
extension = "txt"
"""
PLOTS = """
def field(frame, out_path):
    out_path.write_text(f"{frame.read('W').mean():.6f}\\n")
"""
SECTION = """
[[product]]
name = "u"
kind = "map"
variable = "U"
level = 2
limits = [-50, 50]
"""


class Steered(Case):
    """A case with ``mine.toml``, a function of the user's, and ``u.toml``, a map."""

    def __post_init__(self) -> None:
        super().__post_init__()
        (self.folder / "mine.toml").write_text(MINE)
        (self.folder / "plots.py").write_text(PLOTS)
        (self.folder / "u.toml").write_text(SECTION)

    def events(self, kind: str) -> list[dict[str, Any]]:
        """The journal's events of that kind so far."""
        return [event for event in self.journal() if event["event"] == kind]

    def published(self, product: str) -> list[str]:
        """The valid times of a product, in the order of publication."""
        made = self.events("product.published")
        return [event["time"] for event in made if event["product"] == product]

    @property
    def control(self) -> Path:
        """The folder in which clients drop requests."""
        return self.run / "control"

    def ask(self, *words: str) -> str:
        """Run ``burstlens words``, which must succeed, to its end; returns its output."""
        before = len(self.said())
        assert self.burstlens(*words).code == 0, self.said()
        return self.said()[before:]


@pytest.fixture
def steered(tmp_path: Path) -> Iterator[Any]:
    """Makes a case, by the pace of its model; ``wait``: it waits at its end for ever, ``held``:
    ahead of its last frame, until :meth:`Case.go_on`."""
    made: list[Steered] = []

    def make(
        interval_s: float = 0.5,
        *,
        wait: bool = False,
        held: bool = False,
        capacity: str = "100 MiB",
        buffer: str = "",
    ) -> Steered:
        pause = f" --pause-at {LAST_CALL}:3000" if wait else ""
        case = Steered(
            tmp_path / "case",
            model=WAITS if held else f"--interval {interval_s}{pause}",
            capacity=capacity,
            recipe=RECIPE.replace("[buffer]", f"[buffer]\n{buffer}"),
        )
        made.append(case)
        return case

    yield make
    for case in made:
        case.end()
        shutil.rmtree(case.buffer, ignore_errors=True)
