"""A real run whose field grows from rest: its limits widen, and its driver dies meanwhile."""

from __future__ import annotations

import json
import signal
import zlib
from collections import Counter
from collections.abc import Iterator

import pytest
from run_case import RECIPE, TIMES, WAITS, Case


@pytest.fixture
def grown(tmp_path) -> Iterator[Case]:
    """The run at its end: it was resumed before the model wrote its last frame."""
    case = Case(tmp_path / "case", model=WAITS, recipe=RECIPE.replace("limits = [-2, 2]\n", ""))
    driver = case.launch()
    case.await_event("product.limits")
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    case.go_on()
    case.finish()
    yield case
    case.end()


@pytest.mark.slow
def test_all_pictures_of_a_run_have_the_same_limits_at_its_end(grown):
    journal = [line for line in grown.journal() if line.get("product") == "w"]
    limits = [line["limits"] for line in journal if line["event"] == "product.limits"]
    widths = [high - low for low, high in limits]
    assert len(widths) > 1
    assert widths == sorted(set(widths))

    listed = (grown.run / "products" / "index.jsonl").read_text().splitlines()
    newest = {line["time"]: line for line in map(json.loads, listed) if line["product"] == "w"}
    assert sorted(newest) == list(TIMES)
    assert [line["facts"]["limits"] for line in newest.values()] == [limits[-1]] * len(TIMES)
    for line in newest.values():
        data = (grown.run / "products" / line["name"]).read_bytes()
        assert zlib.crc32(data) == line["crc32"]

    # Each stands once: what is made again supersedes what stood.
    times = Counter(line["time"] for line in journal if line["event"] == "product.published")
    times -= Counter(line["time"] for line in journal if line["event"] == "product.superseded")
    assert times == Counter(TIMES)
    status = json.loads((grown.run / "status.json").read_text())
    assert status["products"]["w"]["published"] == len(TIMES)
    assert list((grown.run / "products" / ".incoming").iterdir()) == []
