"""The real model's writes, replayed in its place: whole runs, in each of its ways to write.

The slow tier has a growing file, nested domains, files of a server that writes behind the log, and
tiles; the watcher is held against every way in tests/watching, `make fault` runs whole runs of all.
"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import netCDF4
import numpy as np
import pytest

from burstlens import __version__
from burstlens.core import valid_time
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.product import Context
from burstlens.viz.registry import product_kind

pytestmark = pytest.mark.slow
TESTS = Path(__file__).parents[1]
IO_FORM = {"pnetcdf_growing": 11, "pnetcdf_one": 11, "tiles": 102}
SLOW = {"classic_growing", "nest", "quilting", "tiles"}
TRACES = (
    "classic_growing",
    "classic_one",
    "nest",
    "netcdf4_growing",
    "netcdf4_one",
    "pnetcdf_growing",
    "pnetcdf_one",
    "quilting",
    "ready_flag",
    "tiles",
)
EACH = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.fault] * (name not in SLOW)) for name in TRACES],
)
RECIPE = """
title = "Replayed"
[simulation]
model = "wrf"
inputs = "inputs"
[buffer]
capacity = "100 MiB"
[stage_out]
keep = ["wrfout_*"]
[[product]]
name = "w"
kind = "map"
variable = "W"
level = 5
limits = [-0.1, 0.1]
[[product]]
name = "wind"
kind = "netcdf"
variables = ["U", "T"]
"""
NESTED = (
    ("max_dom                             = 1,", "max_dom = 2,"),
    ("history_interval_s = 60,", "history_interval_s = 60, 60,"),
)
NEST = """
[[product]]
name = "inner"
kind = "netcdf"
stream = "d02"
variables = ["T"]
[[product]]
name = "both"
kind = "map"
variable = "W"
level = 5
limits = [-0.1, 0.1]
nests = ["d02"]
nest_fields = true
"""


@pytest.fixture(scope="session")
def replay():
    spec = importlib.util.spec_from_file_location("replay_runs", TESTS / "replay.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["replay_runs"] = module
    spec.loader.exec_module(module)
    return module


def prepare(made, name: str) -> None:
    inputs = made.folder / "inputs"
    shutil.copy(TESTS / "replay.py", inputs)
    shutil.copytree(TESTS / "data" / "traces" / name, inputs / "trace")
    text = (TESTS / "data" / "traces" / "namelist.input").read_text()
    old = "io_form_history                     = 2"
    assert old in text
    text = text.replace(old, f"io_form_history = {IO_FORM.get(name, 2)}")
    if name == "nest":  # a namelist of two domains: maps of d01 wait for d02 only if it will come
        for one, two in NESTED:
            assert one in text
            text = text.replace(one, two)
    (inputs / "namelist.input").write_text(text)
    program = inputs / "wrf.exe"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} replay.py trace --interval 0.7\n")
    program.chmod(0o755)
    # Output of an earlier run, under the very names that the model is about to use.
    for old_name in ("wrfout_d01_0001-01-01_00:01:00", "wrfout_d01_0001-01-01_00_00_00"):
        (inputs / old_name).write_bytes(b"CDF\x01" + bytes(4000))
    (inputs / "rsl.error.0000").write_text("wrf: SUCCESS COMPLETE WRF\n")
    (made.folder / "recipe.toml").write_text(RECIPE + (NEST if name == "nest" else ""))


@pytest.fixture(scope="session")
def selected(request):
    """The traces that tests are selected of."""
    asked = {item.callspec.params.get("name") for item in request.session.items
             if hasattr(item, "callspec") and item.path == Path(__file__)}  # fmt: skip
    return [name for name in TRACES if name in asked]


@pytest.fixture(scope="session")
def runs(scene, selected):
    """Their runs, three at a time."""

    def go(name: str):
        made = scene(name)
        prepare(made, name)
        process = made.start()
        output, _ = process.communicate(timeout=240)
        return name, (made, process.returncode, output)

    with ThreadPoolExecutor(3) as pool:
        return dict(pool.map(go, selected))


@pytest.fixture(scope="session")
def finals(replay, selected, tmp_path_factory):
    """The files that each trace leaves, and their frames: (stream, key) to (files, record)."""

    def final(name: str):
        folder = tmp_path_factory.mktemp(f"final_{name}")
        trace = replay.Trace.load(TESTS / "data" / "traces" / name)
        player = replay.Player(trace, folder)
        for _ in trace.ops:
            player.step()
        player.finish()
        frames: dict[tuple[str, str], tuple[list[Path], int]] = {}
        for path in sorted(folder.glob("wrfout_*")):
            with netCDF4.Dataset(path) as data:
                for record, letters in enumerate(data["Times"][:]):
                    key = valid_time.wrf_key(b"".join(letters))
                    stream = path.name.split("_")[1]
                    frames.setdefault((stream, key), ([], record))[0].append(path)
        return trace, frames

    return {name: final(name) for name in selected}


@EACH
def test_the_run_ends_well_and_frees_its_buffer(runs, name):
    made, code, output = runs[name]
    assert code == 0, output
    assert made.on_buffer() == []


@EACH
def test_each_frame_gives_each_product_exactly_once(runs, finals, name):
    made, _, _ = runs[name]
    _, frames = finals[name]
    outer = {key for stream, key in frames if stream == "d01"}
    expected = {("w", "d01", key) for key in outer} | {("wind", "d01", key) for key in outer}
    nested = {key for stream, key in frames if stream == "d02"}
    expected |= {("inner", "d02", key) for key in nested}
    expected |= {("both", "d01", key) for key in outer if nested}
    listed = [(line["product"], line["stream"], line["time"]) for line in made.index()]
    assert sorted(listed) == sorted(expected)
    published = [
        (event["product"], event["stream"], event["time"])
        for event in made.events("product.published")
    ]
    assert sorted(published) == sorted(expected)
    assert list((made.run_dir / "products" / ".incoming").iterdir()) == []


@EACH
def test_values_are_those_of_the_finished_file(runs, finals, name):
    made, _, _ = runs[name]
    _, frames = finals[name]
    for (stream, key), (paths, record) in frames.items():
        product, variable = ("wind", "U") if stream == "d01" else ("inner", "T")
        (place,) = (made.run_dir / "products" / product).glob(f"*_{stream}_{key}.nc")
        with (
            netCDF4.Dataset(place) as shown,
            open_frame(paths, record, stream=stream, time=key) as source,
        ):
            np.testing.assert_array_equal(
                np.ma.filled(shown[variable][0], np.nan), source.read(variable)
            )


@EACH
def test_pixels_are_those_of_the_finished_file(runs, finals, name, tmp_path):
    made, _, _ = runs[name]
    _, frames = finals[name]
    kind = product_kind("map")
    options = kind.options(variable="W", level=5, limits=(-0.1, 0.1))
    for (stream, key), (paths, record) in frames.items():
        if stream != "d01":
            continue
        context = Context(
            run="it",
            title="Replayed",
            product="w",
            stream=stream,
            time=key,
            files=tmp_path,
            version=__version__,
        )
        out = tmp_path / f"{key}.png"
        with open_frame(paths, record, stream=stream, time=key) as reader:
            kind.make(options, reader, out, context)
        shown = made.run_dir / "products" / "w" / f"w_{stream}_{key}.png"
        assert _pixels(shown) == _pixels(out)


def _pixels(path: Path) -> bytes:
    from PIL import Image

    with Image.open(path) as picture:
        return picture.convert("RGB").tobytes()


def test_the_parent_s_maps_show_the_nest_s_frames_of_their_own_times(runs, finals):
    made, _, _ = runs["nest"]
    _, frames = finals["nest"]
    shown = {
        line["time"]: line["facts"]["nests"][0]
        for line in made.index()
        if line["product"] == "both"
    }
    assert shown.keys() == {key for stream, key in frames if stream == "d01"}
    for (stream, key), (paths, record) in frames.items():
        if stream == "d02":
            with open_frame(paths, record) as inner:
                highest = inner.read("W")[5].max()
            assert (shown[key]["time"], shown[key].get("missing")) == (key, None)
            assert shown[key]["max"] == highest


@EACH
def test_the_models_files_are_those_of_an_unwatched_run(runs, finals, name):
    made, _, _ = runs[name]
    trace, _ = finals[name]
    home = {
        path.name: (path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())
        for path in (made.run_dir / "output").iterdir()
    }
    assert home == {file: tuple(what) for file, what in trace.final.items() if "wrfout" in file}


@EACH
def test_logs_and_settings_come_home(runs, name):
    made, _, _ = runs[name]
    logs = made.run_dir / "logs" / "attempt-1"
    assert "SUCCESS COMPLETE WRF" in (logs / "rsl.error.0000").read_text()
    assert (logs / "namelist.input").is_file()


@EACH
def test_the_signal_that_decided_is_journalled(runs, name):
    made, _, _ = runs[name]
    signals = {event["signal"] for event in made.events("frame.ready")}
    assert signals
    if name == "quilting":
        assert "log" not in signals  # there it runs ahead of the file
