"""A product that takes a worker's memory away ends with its own frame; all others are made."""

from __future__ import annotations

import json
from typing import Any

import pytest
from run_case import RECIPE, TIMES

HUNGRY = """
[[product]]
name = "hungry"
kind = "python"
function = "hungry.py:draw"
extension = "txt"
"""
# What the kernel sends when there is no memory left; no limit of a test machine is touched.
PROGRAM = """
import os, signal
def draw(frame, out):
    if frame.time == {time!r}:
        os.kill(os.getpid(), signal.SIGKILL)
    out.write_text("well")
"""


@pytest.mark.slow
def test_a_worker_that_is_killed_each_time_costs_one_product_of_one_frame(make_case: Any) -> None:
    case = make_case(recipe=RECIPE + HUNGRY)
    (case.folder / "hungry.py").write_text(PROGRAM.format(time=TIMES[1]))
    life = case.burstlens("run", "r.toml", "--name", "r")
    assert life.code == 0, life.said
    assert "Traceback" not in life.said
    journal = case.journal()
    [failed] = [line for line in journal if line["event"] == "product.failed"]
    assert (failed["product"], failed["time"]) == ("hungry", TIMES[1])
    assert failed["reason"].startswith("the worker that made it (python) was killed 3 times")
    published = {
        (line["product"], line["time"]) for line in journal if line["event"] == "product.published"
    }
    wanted = {(name, time) for name in ("w", "core", "hungry") for time in TIMES}
    assert wanted - published <= {("hungry", TIMES[1])}
    alarms = [
        alarm["text"] for alarm in json.loads((case.run / "status.json").read_text())["alarms"]
    ]
    assert any("hungry of d01" in text and "want of memory" in text for text in alarms), alarms
