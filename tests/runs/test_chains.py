"""Products that go from frame to frame, in a real run whose driver is killed in the middle."""

from __future__ import annotations

import json
import shutil
import signal

import pytest
from run_case import RECIPE, TIMES, Case

pytestmark = pytest.mark.slow

PLOTS = """\
import json


def path_of_storm(frame, out, state):
    points = json.loads(frame.previous.read_text()) if frame.previous else []
    points.append([frame.time, float(frame.read("W").max())])
    state.write_text(json.dumps(points))
    out.write_text(json.dumps(points))


def at_storm(frame, out):
    out.write_text(json.dumps(json.loads(frame.followed["storm"].read_text())[-1]))
"""
CHAIN = """
[[product]]
name = "at-storm"
kind = "python"
function = "plots.py:at_storm"
extension = "json"
follows = ["storm"]
[[product]]
name = "storm"
kind = "python"
function = "plots.py:path_of_storm"
extension = "json"
chained = true
"""


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    """The run at its end, after a kill of its driver when the first state stood."""
    case = Case(tmp_path_factory.mktemp("chain"), model="--interval 2", recipe=RECIPE + CHAIN)
    (case.folder / "plots.py").write_text(PLOTS)
    driver = case.launch()
    try:
        case.await_that(lambda: any((case.run / "products/.states").glob("*")), "state")
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        case.finish()
        yield case
    finally:
        case.end()
        shutil.rmtree(case.folder, ignore_errors=True)


def made(case, product, time):
    return json.loads((case.run / f"products/{product}/{product}_d01_{time}.json").read_text())


def test_each_frame_continues_from_the_one_before_across_the_kill(chain):
    for count, time in enumerate(TIMES, 1):
        assert [point[0] for point in made(chain, "storm", time)] == list(TIMES[:count])


def test_what_follows_reads_the_state_of_its_own_frame(chain):
    for time in TIMES:
        assert made(chain, "at-storm", time) == made(chain, "storm", time)[-1]


def test_each_stands_once_with_its_state_kept(chain):
    published = [
        (line["product"], line["time"])
        for line in chain.journal()
        if line["event"] == "product.published" and "storm" in line["product"]
    ]
    assert sorted(published) == [(name, time) for name in ("at-storm", "storm") for time in TIMES]
    kept = sorted(path.name for path in (chain.run / "products/.states").iterdir())
    assert kept == [f"storm_d01_{time}_1" for time in TIMES]
    assert list((chain.run / "products/.incoming").iterdir()) == []
