"""A run that continues from a checkpoint is the run in one piece, bit by bit."""

from __future__ import annotations

import os

import pytest

from burstlens.core.errors import RecipeError, SimulationError
from burstlens.workflows.awm.checkpoint_files import step_of


def test_each_checkpoint_continues_the_run_bit_by_bit(run, values, tmp_path):
    run("whole").go()
    whole = values(tmp_path / "whole")
    kept = sorted((tmp_path / "whole").glob("*.awm"))
    assert [step_of(path.name) for path in kept] == [10, 20, 30, 40, 50, 60]
    for path in kept[:-1]:
        assert run(path.stem, path).go() == 0
        later = values(tmp_path / path.stem)
        assert later.items() <= whole.items()
        assert {name for name, _ in later} >= {"stations.nc", "surface_000007.nc"}


def test_a_run_in_many_pieces_is_the_run_in_one(run, values, tmp_path):
    run("whole", checkpoint={"every": 0}).go()
    pieces, restart = {}, None
    for n in range(12):
        steps = 5 * (n + 1)
        run(str(n), restart, time={"steps": steps}, checkpoint={"every": 5, "keep": 1}).go()
        (restart,) = (tmp_path / str(n)).glob("*.awm")
        pieces |= {
            key: value for key, value in values(tmp_path / str(n)).items()
            if not key[0].startswith("stations_")
        }  # fmt: skip
    whole = values(tmp_path / "whole")
    assert pieces == {k: v for k, v in whole.items() if not k[0].startswith("stations_")}


def test_only_the_latest_are_kept(run, tmp_path):
    run("one", checkpoint={"every": 10, "keep": 2}).go()
    assert [path.name for path in sorted((tmp_path / "one").glob("*.awm"))] == [
        "checkpoint_0000050.awm", "checkpoint_0000060.awm",
    ]  # fmt: skip


@pytest.mark.parametrize("where", ["head", "field", "cut", "empty"])
def test_a_damaged_checkpoint_is_refused(run, tmp_path, where):
    run("one", time={"steps": 10}).go()
    path = tmp_path / "one" / "checkpoint_0000010.awm"
    data = bytearray(path.read_bytes())
    if where in {"head", "field"}:
        data[30 if where == "head" else -100] ^= 1
    path.write_bytes(data[: {"cut": len(data) - 7, "empty": 0}.get(where, len(data))])
    with pytest.raises(RecipeError, match=r"is not a whole checkpoint|is damaged"):
        run("two", path).go()


@pytest.mark.parametrize(
    "tables",
    [
        {"grid": {"nx": 33, "ny": 28, "nz": 24}},
        {"source": {"x_m": 1500.0, "y_m": 1400.0, "depth_m": 900.0, "mxx_n_m": 1e15}},
        {"time": {"step_s": 0.007, "steps": 20}},
        {"absorbing": {"points": 12}},
        {"station": [{"name": "S0", "x_m": 900.0, "y_m": 1500.0}]},
    ],
)
def test_a_checkpoint_of_another_run_is_refused(run, tmp_path, tables):
    run("one", time={"steps": 10}).go()
    with pytest.raises(RecipeError, match="is of another run"):
        run("two", tmp_path / "one" / "checkpoint_0000010.awm", **tables).go()


def test_a_run_may_go_on_longer_and_write_other_frames(run, tmp_path):
    run("one", time={"steps": 10}).go()
    path = tmp_path / "one" / "checkpoint_0000010.awm"
    longer = run("two", path, time={"steps": 20}, output={"surface_every": 4, "peaks": True})
    assert longer.go() == 0
    with pytest.raises(RecipeError, match="the run ends at step 10"):
        run("three", path, time={"steps": 10}).go()


def test_a_checkpoint_that_cannot_be_written_leaves_no_part_and_the_others(
    run, tmp_path, monkeypatch
):
    one = run("one", time={"steps": 20})
    real, calls = os.fsync, []

    def full(handle: int) -> None:
        calls.append(handle)
        if len(calls) > 2:
            raise OSError(28, "No space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SimulationError, match=r"cannot write checkpoint_0000020\.awm: No space"):
        one.go()
    assert [path.name for path in (tmp_path / "one").iterdir() if "checkpoint" in path.name] == [
        "checkpoint_0000010.awm"
    ]
