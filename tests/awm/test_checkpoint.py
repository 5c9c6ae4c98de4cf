"""A run that continues from a checkpoint is the run in one piece, bit by bit."""

from __future__ import annotations

import math
import os
import time

import netCDF4
import numpy as np
import pytest

from burstlens.core.errors import RecipeError
from burstlens.workflows.awm import checkpoint
from burstlens.workflows.awm.checkpoint_files import HEAD_BYTES, step_of


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


CUTS = [[5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55], [1, 2, 3, 7, 14, 20, 21, 25, 49, 50, 59]]


@pytest.mark.parametrize("threads", [[1], [2], [1, 2]])
@pytest.mark.parametrize("cuts", CUTS)
def test_a_run_in_twelve_segments_is_the_run_in_one(run, values, tmp_path, cuts, threads):
    run("whole", checkpoint={"every": 0}).go()
    whole, found, restart = values(tmp_path / "whole"), {}, None
    for n, step in enumerate([*cuts, None]):
        until_s = step and step * 0.008
        count = threads[n % len(threads)]
        segment = run(str(n), restart, until_s, threads=count, checkpoint={"every": 0})
        assert segment.go() == 0
        files = values(tmp_path / str(n))
        again = found.keys() & files.keys()
        assert {name for name, _ in again} <= {"stations.nc"}  # each frame once
        found |= files
        restart = next((tmp_path / str(n)).glob("*.awm"), None)
    assert found == whole
    assert {name for name, _ in whole} >= {"volume_000002.nc", "stations_000002.nc", "stations.nc"}
    assert ("surface_000007.nc", "pga_larger") in whole


def test_only_the_latest_are_kept(run, tmp_path):
    run("one", checkpoint={"every": 10, "keep": 2}).go()
    assert [path.name for path in sorted((tmp_path / "one").glob("*.awm"))] == [
        "checkpoint_0000050.awm", "checkpoint_0000060.awm",
    ]  # fmt: skip


def test_while_one_is_written_there_is_at_most_one_more_than_are_kept(run, tmp_path, monkeypatch):
    folder, counts, real, unlink = tmp_path / "one", [], os.posix_fadvise, checkpoint._unlink
    monkeypatch.setattr(checkpoint, "BEGUN_BYTES", 1 << 18)
    monkeypatch.setattr(checkpoint, "_unlink", lambda paths: (time.sleep(0.05), unlink(paths)))

    def count(*about):
        counts.append(sum("checkpoint" in path.name for path in folder.iterdir()))
        real(*about)

    monkeypatch.setattr(os, "posix_fadvise", count)
    run("one", time={"steps": 8}, checkpoint={"every": 1, "keep": 2}).go()
    assert max(counts) == 3


@pytest.mark.parametrize("where", ["head", "cut", "empty"])
def test_a_damaged_checkpoint_is_refused(run, tmp_path, where):
    run("one", time={"steps": 10}).go()
    path = tmp_path / "one" / "checkpoint_0000010.awm"
    data = bytearray(path.read_bytes())
    if where == "head":
        data[30] ^= 1
    path.write_bytes(data[: {"cut": len(data) - 7, "empty": 0}.get(where, len(data))])
    with pytest.raises(RecipeError, match=r"is not a whole checkpoint|is damaged"):
        run("two", path).go()


def test_a_changed_bit_is_refused_and_the_field_is_named(run, tmp_path):
    run("one", time={"steps": 10}).go()
    path = tmp_path / "one" / "checkpoint_0000010.awm"
    data, begin = path.read_bytes(), HEAD_BYTES
    fields = checkpoint.read_head(path)["fields"]
    assert {"vx", "syz", "layer 0", "peak displacement", "station rows"} <= {
        field["name"] for field in fields
    }
    for field in fields:
        size = math.prod(field["shape"]) * np.dtype(field["type"]).itemsize
        changed = bytearray(data)
        changed[begin + size // 2] ^= 16
        path.write_bytes(changed)
        with pytest.raises(RecipeError, match=f"is damaged: its field {field['name']} was changed"):
            run("two", path).restore()
        begin += size
    assert begin == len(data)


def test_a_checkpoint_of_another_format_is_refused_with_the_version_that_wrote_it(
    run, tmp_path, monkeypatch
):
    monkeypatch.setattr(checkpoint, "FORMAT", checkpoint.FORMAT + 1)
    monkeypatch.setattr(checkpoint, "__version__", "999.1")
    run("one", time={"steps": 10}).go()
    monkeypatch.undo()
    with pytest.raises(
        RecipeError, match=r"was written by awm 999\.1 in format 2: awm .* format 1"
    ):
        run("two", tmp_path / "one" / "checkpoint_0000010.awm")


@pytest.mark.parametrize(
    ("tables", "names"),
    [
        ({"grid": {"nx": 33, "ny": 28, "nz": 24}}, "grid"),
        (
            {"source": {"x_m": 1500.0, "y_m": 1400.0, "depth_m": 900.0, "mxx_n_m": 1e15}},
            "source",
        ),
        ({"time": {"step_s": 0.007, "steps": 20}}, r"time\.step_s"),
        ({"absorbing": {"points": 12}}, "absorbing"),
        ({"station": [{"name": "S0", "x_m": 900.0, "y_m": 1500.0}]}, "station"),
        (
            {"material": {"layers": [{"vp_m_s": 5100, "vs_m_s": 2900, "rho_kg_m3": 2700}]},
             "free_surface": False},
            "free_surface, material",
        ),
    ],
)  # fmt: skip
def test_a_checkpoint_of_another_run_is_refused_with_what_differs(run, tmp_path, tables, names):
    run("one", time={"steps": 10}).go()
    with pytest.raises(RecipeError, match=f"is of another run: {names} must be the same"):
        run("two", tmp_path / "one" / "checkpoint_0000010.awm", **tables)


def test_a_material_file_whose_values_changed_is_refused(run, tmp_path):
    def basin(folder, vs):
        (tmp_path / folder).mkdir()
        with netCDF4.Dataset(tmp_path / folder / "basin.nc", "w") as nc:
            for name, count in (("z", 24), ("y", 28), ("x", 32)):
                nc.createDimension(name, count)
                axis = nc.createVariable(name, "f8", (name,))
                axis.units = "m"
                axis[:] = 100.0 * np.arange(count) - (2300.0 if name == "z" else 0.0)
            for name, value, units in (
                ("vp", 5000.0, "m s-1"), ("vs", vs, "m s-1"), ("rho", 2700.0, "kg m-3"),
            ):  # fmt: skip
                variable = nc.createVariable(name, "f4", ("z", "y", "x"))
                variable.units = units
                variable[:] = value

    file = {"material": {"layers": None, "file": "basin.nc"}}
    for folder, vs in (("one", 2900.0), ("same", 2900.0), ("two", 2901.0)):
        basin(folder, vs)
    run("one", until_s=0.08, **file).go()
    path = tmp_path / "one" / "checkpoint_0000010.awm"
    run("same", path, **file)
    with pytest.raises(RecipeError, match="another run: the material's values must be the same"):
        run("two", path, **file)


EDGES = [
    {"vp_m_s": 4000, "vs_m_s": 2200, "rho_kg_m3": 2000},
    {"top_m": 500, "vp_m_s": 6000, "vs_m_s": 3300, "rho_kg_m3": 2700},
]
"""Without friction in 2000 steps, with it in more."""


@pytest.mark.parametrize("given", [None, False])
def test_a_longer_run_that_needs_friction_says_how_to_continue(run, tmp_path, given):
    tables = {"material": {"layers": EDGES}, "allow_unstable": True}
    one = run(
        "one", until_s=0.08, time={"steps": 2000}, absorbing={"robust": given}, **tables
    )  # fmt: skip
    one.go()
    path, longer = tmp_path / "one" / "checkpoint_0000010.awm", {"time": {"steps": 2001}, **tables}
    with pytest.raises(
        RecipeError, match=r"without friction .* set robust = false in \[absorbing\]"
    ):
        run("two", path, **longer)
    later = run("two", path, until_s=0.16, absorbing={"robust": False}, **longer)
    assert later.go() == 0


def test_limits_that_are_only_checked_may_change(run, tmp_path):
    run("one", time={"steps": 10}).go()
    grid = {"nx": 32, "ny": 28, "nz": 24, "points_per_wavelength": 6.0}
    path = tmp_path / "one" / "checkpoint_0000010.awm"
    assert run("two", path, grid=grid, allow_unstable=True, time={"steps": 12}).go() == 0


@pytest.mark.parametrize("stream", ["surface", "volume"])
def test_a_stream_that_is_switched_off_and_on_again_continues_its_numbers(run, tmp_path, stream):
    folder = tmp_path / "one"
    output = {"surface_every": 5, "volume_every": 5}
    for restart, until_s, every in ((None, 0.08, 5), (10, 0.16, 0), (20, 0.24, 5)):
        path = restart and folder / f"checkpoint_{restart:07d}.awm"
        run("one", path, until_s, output={**output, f"{stream}_every": every}).go()
    found = {}
    for path in folder.glob(f"{stream}_*.nc"):
        with netCDF4.Dataset(path) as nc:
            found[path.name] = round(float(nc["time"][0]) / 0.008)
    assert found == {f"{stream}_{n:06d}.nc": step for n, step in enumerate([5, 10, 25, 30])}


def test_a_run_that_is_refused_leaves_what_another_one_is_writing(run, tmp_path):
    run("one", time={"steps": 10}).go()
    part = tmp_path / "one" / ".checkpoint_0000020.awm.part"
    part.write_bytes(b"half")
    path = tmp_path / "one" / "checkpoint_0000010.awm"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(RecipeError, match="is damaged"):
        run("one", path).go()
    assert part.exists()


def test_one_whose_name_may_not_be_on_disk_is_reported_and_counts(
    run, tmp_path, monkeypatch, capsys
):
    one, real = run("one", time={"steps": 40}, checkpoint={"every": 10, "keep": 1}), os.fsync

    def failing(handle):
        if one.solver.steps == 20 and os.path.isdir(f"/proc/self/fd/{handle}"):
            raise OSError(5, "Input/output error")
        real(handle)

    monkeypatch.setattr(os, "fsync", failing)
    assert one.go() == 0
    assert "cannot write checkpoint_0000020.awm: " in capsys.readouterr().out
    assert [path.name for path in (tmp_path / "one").glob("*.awm")] == ["checkpoint_0000040.awm"]


def test_a_run_may_go_on_longer_and_write_other_frames(run, tmp_path):
    run("one", time={"steps": 10}).go()
    path = tmp_path / "one" / "checkpoint_0000010.awm"
    longer = run("two", path, time={"steps": 20}, output={"surface_every": 4, "peaks": True})
    assert longer.go() == 0
    with pytest.raises(RecipeError, match="the run ends at step 10"):
        run("three", path, time={"steps": 10}).go()
