"""A run that ends without a product of its recipe, and what its resume makes."""

from __future__ import annotations

import pytest
from run_case import RECIPE, TIMES, Case

PRODUCT = """
[[product]]
name = "mine"
kind = "python"
function = "mine.py:draw"
extension = "txt"
"""
FAILS = "def draw(frame, out):\n    raise OSError('the licence server does not answer')\n"
WORKS = "def draw(frame, out):\n    out.write_text('well')\n"


@pytest.mark.integration
@pytest.mark.slow
def test_a_product_that_failed_on_each_frame_fails_the_run_and_a_resume_makes_it(tmp_path):
    case = Case(tmp_path / "case", recipe=RECIPE + PRODUCT, model="--interval 0.1")
    (case.folder / "mine.py").write_text(FAILS)
    life = case.burstlens("run", "r.toml", "--name", "r")
    assert life.code == 1, life.said
    assert "product mine could not be made of any frame: " in life.said
    assert "the licence server does not answer" in life.said
    (case.run / "files" / "mine.py").write_text(WORKS)  # the server answers again
    life = case.burstlens("resume", "r")
    assert life.code == 0, life.said
    journal = case.journal()
    assert not (case.run / "attempts" / "2").exists()  # the model is not run again
    made = [line for line in journal if line["event"] == "product.published"]
    of = [(line["product"], line["time"]) for line in made]
    assert sorted(of) == sorted((name, time) for name in ("w", "core", "mine") for time in TIMES)
    assert not list(case.buffer.glob("*/*/*"))
