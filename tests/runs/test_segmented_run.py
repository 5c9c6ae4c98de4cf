"""A run that is cut into attempts that resume from each other: it is the run in one piece."""

from __future__ import annotations

import json

import netCDF4
import pytest
from parts_case import TIMES, prepare, results

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def runs(scene):
    """The same run in one piece and in four."""
    made = {}
    for name, segments in (("whole", 1), ("parts", 4)):
        made[name] = run = prepare(scene(name))
        output, _ = (process := run.start("--set", f"segments={segments}")).communicate(timeout=250)
        assert process.returncode == 0, output
    return made


def test_four_attempts_go_on_from_each_other(runs):
    began = runs["parts"].events("simulation.submitting")
    cuts = ["t00000000.180", "t00000000.360", "t00000000.540"]
    assert [one.get("checkpoint") for one in began] == [None, *cuts]
    assert [one.get("written_by") for one in began] == [None, 1, 2, 3]
    outcomes = [one["outcome"] for one in runs["parts"].events("simulation.ended")]
    assert outcomes == ["done"] * 4
    assert [one["time"] for one in runs["parts"].events("checkpoint.whole")] == cuts


def test_its_products_are_those_of_the_run_in_one_piece_byte_by_byte(runs):
    whole, parts = (results(runs[name].run_dir) for name in ("whole", "parts"))
    assert whole == parts
    assert not runs["parts"].events("product.superseded")
    shown = [line["time"] for line in runs["parts"].index() if line["product"] == "motion"]
    assert sorted(shown) == TIMES


def test_its_frames_and_seismograms_are_those_of_the_run_in_one_piece(runs):
    whole, parts = (runs[name].run_dir / "output" for name in ("whole", "parts"))
    names = sorted(path.name for path in whole.iterdir())
    assert len(names) == 13
    assert sorted(path.name for path in parts.iterdir()) == names
    for name in names:
        with netCDF4.Dataset(whole / name) as one, netCDF4.Dataset(parts / name) as other:
            assert one.variables.keys() == other.variables.keys()
            for variable in one.variables:
                here, there = one[variable][:].data, other[variable][:].data
                assert here.tobytes() == there.tobytes(), (name, variable)


def test_its_status_has_the_stretches(runs):
    assert "segments" not in json.loads((runs["whole"].run_dir / "status.json").read_text())
    status = json.loads((runs["parts"].run_dir / "status.json").read_text())
    assert [one["attempt"] for one in status["segments"]] == [1, 2, 3, 4]
    assert [one.get("begin", "") for one in status["segments"]][1:] == [
        one["end"] for one in status["segments"][:-1]
    ]
    assert {one["outcome"] for one in status["segments"]} == {"done"}
