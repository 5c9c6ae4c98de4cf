"""A run in pieces is the run in one: through the program, and for each way of computing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import netCDF4
import numpy as np
import pytest

from burstlens.core.errors import RecipeError
from burstlens.viz.frames.file import stored_time
from burstlens.workflows.awm.adapter import Awm
from burstlens.workflows.awm.checkpoint_files import GLOB
from burstlens.workflows.awm.executing import Threads
from burstlens.workflows.awm.program import Run
from burstlens.workflows.awm.stretch import Stretch
from burstlens.workflows.models.continuation import Continuation

TEXT = """
[grid]
nx = 32
ny = 28
nz = 24
spacing_m = 100.0
[time]
step_s = 0.0075
steps = 90
[material]
layers = [
    {{ top_m = 0, vp_m_s = 4000, vs_m_s = 2300, rho_kg_m3 = 2400 }},
    {{ top_m = 1000, vp_m_s = 6000, vs_m_s = 3460, rho_kg_m3 = 2700 }},
]
[source]
x_m = 1600.0
y_m = 1400.0
depth_m = 900.0
mxx_n_m = 1e15
mxy_n_m = 4e14
function = "gaussian"
frequency_hz = 2.0
[output]
surface_every = 6
volume_every = 20
volume_stride = 2
peaks = true
station_every = 25
station_frames = true
files = "{files}"
[[station]]
name = "A"
x_m = 900.0
y_m = 1500.0
[[station]]
name = "B"
x_m = 1310.0
y_m = 1500.0
depth_m = 250.0
"""
SOFT = [
    {"vp_m_s": 2000, "vs_m_s": 1100, "rho_kg_m3": 2000},
    {"top_m": 200, "vp_m_s": 6000, "vs_m_s": 3300, "rho_kg_m3": 2700},
]


def started(model: Awm, folder: Path, wanted: Continuation) -> list[str]:
    """The lines of a program that ended well in that folder."""
    command = model.start(folder, wanted).command
    assert command[0] == sys.executable
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout.splitlines()


def joined(found: dict[tuple[str, str], bytes], more: dict[tuple[str, str], bytes]) -> None:
    """Add the records of a piece to those of the pieces before it."""
    for (name, variable), data in more.items():
        growing = name in {"surface.nc", "volume.nc"} and variable not in {"x", "y", "z"}
        found[name, variable] = found.get((name, variable), b"") + data if growing else data


@pytest.mark.integration
@pytest.mark.parametrize("files", ["frame", "growing"])
def test_a_chain_of_programs_in_folders_of_their_own_is_the_program_in_one(tmp_path, values, files):
    def folder_of(name: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "awm.toml").write_text(TEXT.format(files=files))
        return folder

    whole = folder_of("whole")
    started(Awm(), whole, Continuation())
    model = Awm().configured(whole)
    cuts, found, names = model.cuts(whole, 4), {}, []
    lines, checkpoint = [], None
    assert cuts == pytest.approx([23 * 0.0075, 45 * 0.0075, 68 * 0.0075], rel=1e-12)
    for number, until_s in enumerate([*cuts, None]):
        folder = folder_of(str(number))
        wanted = Continuation(until_s=until_s, every_s=0.06)
        if checkpoint is not None:
            (folder / checkpoint.name).symlink_to(checkpoint)
            time = model.checkpoint_of(checkpoint.name).time
            assert time == model.read_line(lines[-1]).time
            wanted = Continuation(time, (checkpoint.name,), until_s, 0.06)
        lines = started(model, folder, wanted)
        if checkpoint is not None:
            assert (folder / checkpoint.name).is_symlink()  # it deletes only its own
        assert (model.read_line(lines[-1]).kind == "cut") is (until_s is not None)
        checkpoint = sorted(folder.glob(GLOB))[-1]
        names += [path.name for path in folder.glob("*_*.nc")]
        joined(found, values(folder))
    assert found == values(whole)
    assert np.frombuffer(found["stations.nc", "vz"], np.float32).any()
    assert sorted(names) == sorted(path.name for path in whole.glob("*_*.nc"))  # each once


def test_a_growing_file_begins_anew_and_none_is_overwritten(run, tmp_path):
    growing = {"output": {"surface_every": 7, "files": "growing"}}
    run("one", until_s=0.16, **growing).go()
    checkpoint = tmp_path / "one" / "checkpoint_0000020.awm"
    run("two", checkpoint, **growing).go()
    with netCDF4.Dataset(tmp_path / "two" / "surface.nc") as nc:
        assert nc["time"][:].tolist() == pytest.approx([0.008 * step for step in range(21, 61, 7)])
    before = (tmp_path / "one" / "surface.nc").read_bytes()
    with pytest.raises(RecipeError, match=r"surface\.nc is there, and a run that continues"):
        run("one", checkpoint, **growing).go()
    assert (tmp_path / "one" / "surface.nc").read_bytes() == before


@pytest.mark.parametrize(
    "tables",
    [
        {"free_surface": False},
        {"absorbing": {"robust": True}},
        {"material": {"layers": SOFT}, "allow_unstable": True},
        {"output": {"surface_every": 7, "format": "classic", "files": "growing",
                    "station_every": 4, "peaks": True}},
    ],
    ids=["without free surface", "friction", "soft near the surface", "classic"],
)  # fmt: skip
def test_each_way_of_computing_continues_bit_by_bit(run, values, tmp_path, tables):
    whole = run("whole", checkpoint={"every": 0}, **tables)
    whole.go()
    run("one", until_s=0.2, **tables).go()
    other = run("two", tmp_path / "one" / "checkpoint_0000025.awm", **tables)
    other.go()
    for name, field in other.solver.state().items():
        np.testing.assert_array_equal(field, whole.solver.state()[name])
    found = values(tmp_path / "one")
    joined(found, values(tmp_path / "two"))
    assert found == values(tmp_path / "whole")


def test_on_other_threads_it_continues_bit_by_bit(run, values, tmp_path):
    whole = run("whole", until_s=0.4)
    whole.go()
    (tmp_path / "other").mkdir()
    restart = tmp_path / "whole" / "checkpoint_0000020.awm"
    Run(whole.parameters, tmp_path / "other", Threads(1), Stretch(restart, 0.4)).go()
    assert values(tmp_path / "other").items() <= values(tmp_path / "whole").items()
    last = "checkpoint_0000050.awm"
    assert (tmp_path / "other" / last).read_bytes() == (tmp_path / "whole" / last).read_bytes()


def test_peaks_cannot_begin_or_end_on_the_way(run, tmp_path):
    run("one", until_s=0.16).go()
    with pytest.raises(RecipeError, match=r"output\.peaks must be the same"):
        run("two", tmp_path / "one" / "checkpoint_0000020.awm", output={"peaks": False}).go()


def test_a_checkpoint_that_is_refused_leaves_the_files_in_the_folder_as_they_were(run, tmp_path):
    folder = tmp_path / "one"
    run("one", until_s=0.16).go()
    checkpoint = folder / "checkpoint_0000020.awm"
    checkpoint.write_bytes(checkpoint.read_bytes()[:-1] + b"?")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(RecipeError, match="is damaged"):
        run("one", checkpoint).go()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("step_s", [0.008, 0.0075, 0.00712345, 0.01 / 3, 1e-3 * np.pi])
def test_a_frame_and_the_checkpoint_of_a_step_have_one_key(run, tmp_path, capsys, step_s):
    tables = {
        "time": {"step_s": step_s, "steps": 35}, "output": {"surface_every": 7},
        "checkpoint": {"every": 7, "keep": 9},
    }  # fmt: skip
    run("one", **tables).go()
    model = Awm(step_s=step_s)
    lines = [model.read_line(line) for line in capsys.readouterr().out.splitlines()]
    written, kept = (
        [line for line in lines if line and line.kind == kind] for kind in ("written", "checkpoint")
    )
    assert len(written) == len(kept) == 5
    for frame, checkpoint in zip(written, kept, strict=True):
        key = model.checkpoint_of(checkpoint.file).time
        assert key == checkpoint.time == frame.time
        path = tmp_path / "one" / frame.file
        with netCDF4.Dataset(path) as nc:
            assert stored_time(nc, str(path), 0, key) is True
