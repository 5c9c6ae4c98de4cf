"""A run that is cut into attempts that go on from each other: it is the run in one piece."""

from __future__ import annotations

import json
from pathlib import Path

import netCDF4
import pytest
from segmented_scene import MODEL, RECIPE, TIMES

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def runs(scene):
    """The same run in one piece and in four."""
    made = {}
    for name, segments in (("whole", 1), ("parts", 4)):
        made[name] = run = scene(name)
        (run.folder / "inputs" / "awm.toml").write_text(MODEL)
        (run.folder / "recipe.toml").write_text(RECIPE)
        output, _ = (process := run.start("--set", f"segments={segments}")).communicate(timeout=250)
        assert process.returncode == 0, output
    return made


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "index.jsonl" and "live" not in path.parts
    }


def states(products: dict[str, bytes]) -> dict[str, bytes]:
    """Those of chained products, without the attempt in their names."""
    return {name.rpartition("_")[0]: data for name, data in products.items() if ".states" in name}


def test_four_attempts_go_on_from_each_other(runs):
    began = runs["parts"].events("simulation.submitting")
    cuts = ["t00000000.180", "t00000000.360", "t00000000.540"]
    assert [one.get("checkpoint") for one in began] == [None, *cuts]
    assert [one.get("written_by") for one in began] == [None, 1, 2, 3]
    outcomes = [one["outcome"] for one in runs["parts"].events("simulation.ended")]
    assert outcomes == ["done"] * 4
    assert [one["time"] for one in runs["parts"].events("checkpoint.whole")] == cuts


def test_its_products_are_those_of_the_run_in_one_piece_byte_by_byte(runs):
    whole, parts = (files(runs[name].run_dir / "products") for name in ("whole", "parts"))
    for found in (whole, parts):
        for name in [name for name in found if name.endswith(".html")]:
            del found[name]
    assert states(whole) == states(parts)
    assert {n: d for n, d in whole.items() if ".states" not in n} == {
        n: d for n, d in parts.items() if ".states" not in n
    }
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
