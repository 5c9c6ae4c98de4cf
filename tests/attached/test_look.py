"""Looks at folders in which real traces are replayed: once each, never early, nothing touched."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import pytest
from debian import provided
from look_case import TESTS, TRACES, LookCase, touched, tree

pytestmark = pytest.mark.integration
QUICK = {"netcdf4_one"}
EVERY = sorted(path.name for path in TRACES.iterdir() if path.is_dir())
FRAMES = {"nest": {"d01": 2, "d02": 2}} | {name: {"d01": 4} for name in EVERY if "growing" in name}
TRACED = ("strace", "-f", "-y", "-s", "0", "-e", "trace=file,desc")


def _counts(case: LookCase) -> dict[str, int]:
    """Frames by stream; one whose file was closed after it was whole may be noted again, with the
    file's new fingerprint."""
    noted = {
        (line["stream"], line["time"], str(line["fingerprint"]))
        for line in case.events("frame.ready")
    }
    assert len(noted) == len(case.events("frame.ready"))
    streams = [stream for stream, _ in {(stream, time) for stream, time, _ in noted}]
    return {stream: streams.count(stream) for stream in set(streams)}


SLOW = ("pnetcdf_growing",)  # tests/watching holds the watcher against all others, tiles too


def _tier(name: str, slow: Iterable[str]) -> pytest.MarkDecorator:
    """Those in ``slow`` belong to `make test-slow`; all of them take too long for it."""
    return pytest.mark.slow if name in slow else pytest.mark.fault


@pytest.mark.parametrize(
    "trace",
    [pytest.param(name, marks=[] if name in QUICK else [_tier(name, SLOW)]) for name in EVERY],
)
def test_each_frame_is_shown_once_and_never_early(case: LookCase, trace: str) -> None:
    recipe = case.streams("d01", "d02") if trace == "nest" else "content.toml"
    model = case.write(trace, "--interval", "2")
    code = case.end(case.start("--recipe", recipe))
    assert (code, model.wait()) == (0, 0)
    assert case.faults() == []
    assert _counts(case) == FRAMES.get(trace, {"d01": 3})
    assert len(case.newest()) == sum(_counts(case).values())
    assert case.events("run.ended")[-1]["outcome"] == "done"


@pytest.mark.fault
def test_a_finished_folder_is_left_as_it_was(case: LookCase) -> None:
    case.written()
    before = tree(case.model)
    assert case.look("--recipe", "content.toml") == 0
    assert tree(case.model) == before
    assert case.faults() == []
    assert _counts(case) == {"d01": 3}


@pytest.mark.parametrize(
    "trace",
    [
        pytest.param(name, marks=_tier(name, ["nest"]))
        for name in ("nest", "netcdf4_growing", "classic_growing", "tiles")
    ],
)
def test_no_process_of_a_look_writes_locks_or_renames_below_the_folder(
    case: LookCase, trace: str
) -> None:
    provided("strace", package="strace")
    log = case.folder / "calls"
    recipe = case.streams("d01", "d02") if trace == "nest" else "content.toml"
    model = case.write(trace, "--interval", "8")
    look = case.start("--recipe", recipe, "--product", "content" if trace != "nest" else
                      "content-d01", prefix=(*TRACED, "-o", str(log)))  # fmt: skip
    assert (case.end(look, 300.0), model.wait()) == (0, 0)
    assert case.faults() == []
    assert "O_RDONLY" in log.read_text(errors="replace")
    assert touched(log, case.model) == []


CF = {
    "files": (), "files, classic": ("--format", "NETCDF3_CLASSIC"), "renamed": ("--rename",),
    "growing": ("--growing",), "growing, classic": ("--growing", "--format", "NETCDF3_CLASSIC"),
}  # fmt: skip


@pytest.mark.parametrize(
    "how",
    [pytest.param(how, marks=_tier(how, ["files"])) for how in CF],
)
def test_cf_files_of_any_writer_are_shown_once_and_never_early(case: LookCase, how: str) -> None:
    writing = ("--frames", "6", "--interval", "2", "--pause", "0.7")
    model = case.writer(sys.executable, TESTS / "cf_writer.py", case.model, *writing, *CF[how])
    code = case.end(case.start("--recipe", "content.toml", "--quiet-after", "20s"))
    assert (code, model.wait()) == (0, 0)
    assert case.faults() == []
    assert list(_counts(case).values()) == [6]
    assert case.events("run.ended")[-1]["outcome"] == "quiet"


AWM = """
threads = 1
grid = { nx = 100, ny = 100, nz = 40, spacing_m = 200.0 }
time = { step_s = 0.015, steps = 480 }
material = { layers = [{ vp_m_s = 5000.0, vs_m_s = 2900.0, rho_kg_m3 = 2700.0 }] }
[source]
x_m = 10000.0
y_m = 10000.0
depth_m = 4000.0
strike_deg = 30.0
dip_deg = 60.0
rake_deg = 90.0
moment_n_m = 1e17
function = "bell"
duration_s = 1.5
[output]
surface_every = 80
files = "@"
"""


@pytest.mark.parametrize(
    "files", [pytest.param(name, marks=_tier(name, ["growing"])) for name in ("frame", "growing")]
)
def test_an_awm_run_by_hand_is_shown_once_and_never_early(case: LookCase, files: str) -> None:
    (case.model / "awm.toml").write_text(AWM.replace("@", files))
    program = f"exec {sys.executable} -m burstlens.workflows.awm awm.toml > model.log 2>&1"
    model = case.writer("sh", "-c", f"cd {case.model} && {program}")
    assert (case.end(case.start("--recipe", "content.toml")), model.wait()) == (0, 0)
    assert case.faults() == []
    written = (case.model / "model.log").read_text().count("awm: wrote surface record")
    assert _counts(case) == {"surface": written}
    assert len(case.newest()) == written >= 6
    assert case.events("run.ended")[-1]["outcome"] == "done"


@pytest.mark.slow
def test_what_is_under_way_when_the_looking_ends_is_not_left(case: LookCase) -> None:
    begun = case.folder / "begun"
    (case.folder / "long.py").write_text(
        "import pathlib, time\n"
        "def quick(frame, out):\n    out.write_text('1')\n"
        f"def long(frame, out):\n    pathlib.Path({str(begun)!r}).touch()\n    time.sleep(600)\n"
    )
    product = '[[product]]\nname = "{0}"\nkind = "python"\nfunction = "long.py:{0}"\n'
    product += 'extension = "json"\n'
    recipe = case.recipe("long.toml", product.format("quick") + product.format("long"))
    case.written()
    look = case.start("--recipe", recipe, "--quiet-after", "1 h")
    case.await_that(begun.exists, "long product")
    assert case.leave(look) == 0
    assert case.faults() == []
