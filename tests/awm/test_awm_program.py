"""The program: its outputs in every format and layout, its log, its refusals, its end."""

import signal
import subprocess
import sys
from pathlib import Path

import netCDF4
import numpy as np
import pytest

from burstlens.workflows.awm import __main__ as awm
from burstlens.workflows.awm import peak
from burstlens.workflows.awm.adapter import Awm

pytestmark = pytest.mark.integration

TEXT = """
title = "Test"
{top}
[grid]
nx = 20
ny = 16
nz = 14
spacing_m = 250.0
[time]
step_s = {step}
steps = {steps}
[material]
layers = [
    {{ top_m = 0, vp_m_s = 4000, vs_m_s = 2300, rho_kg_m3 = 2400 }},
    {{ top_m = 1000, vp_m_s = 6000, vs_m_s = 3460, rho_kg_m3 = 2700 }},
]
[source]
x_m = 2000.0
y_m = 2000.0
depth_m = 1500.0
moment_n_m = 1e16
strike_deg = 30.0
dip_deg = 60.0
rake_deg = 90.0
function = "bell"
duration_s = {duration}
[absorbing]
points = 6
[output]
surface_every = 10
volume_every = 20
volume_stride = 3
station_every = 25
{output}
[[station]]
name = "A01"
x_m = 2500.0
y_m = 2000.0
[[station]]
name = "DEEP"
x_m = 2510.0
y_m = 2100.0
depth_m = 600.0
"""


@pytest.fixture
def written(tmp_path):
    """Writes a parameter file and gives its path."""

    def write(*, step=0.018, steps=40, duration=1.2, output="", top=""):
        path = tmp_path / "awm.toml"
        path.write_text(
            TEXT.format(step=step, steps=steps, duration=duration, output=output, top=top)
        )
        return path

    return write


def started(path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "burstlens.workflows.awm", path.name],
        cwd=path.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={"PYTHONPATH": ":".join(p for p in sys.path if p), "NUMBA_NUM_THREADS": "1"},
    )


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ("growing", "netcdf4"),
        pytest.param("frame", "netcdf4", marks=pytest.mark.slow),
        ("growing", "classic"),
        pytest.param("frame", "classic", marks=pytest.mark.slow),
        pytest.param("frame", "cdf5", marks=pytest.mark.slow),
        pytest.param("growing", "cdf5", marks=pytest.mark.slow),
    ],
)
def test_every_frame_is_complete_when_its_log_line_comes(written, kind, files):
    path = written(output=f'format = "{kind}"\nfiles = "{files}"')
    seen = []
    with started(path) as process:
        for line in process.stdout:
            meaning = Awm().read_line(line)
            if meaning is None or meaning.kind != "written":
                continue
            assert Awm().identify(meaning.file).stream == meaning.stream
            record = 0
            if files == "growing":  # the model may be a record further already
                record = sum(stream == meaning.stream for stream, _, _ in seen)
            with netCDF4.Dataset(path.parent / meaning.file) as nc:
                seen.append((meaning.stream, meaning.time, float(nc["time"][record])))
                assert nc["vx"].dtype == np.float32
                assert nc.Conventions == "CF-1.8"
                assert np.isfinite(nc["vz"][record]).all()
                assert np.abs(nc["vz"][record]).max() < 10
                if files == "frame":
                    assert nc["time"].size == 1
    assert process.returncode == 0
    assert seen == [
        ("surface", "t00000000.180", 0.18),
        ("surface", "t00000000.360", 0.36),
        ("volume", "t00000000.360", 0.36),
        ("surface", "t00000000.540", 0.54),
        ("surface", "t00000000.720", 0.72),
        ("volume", "t00000000.720", 0.72),
    ]
    with netCDF4.Dataset(path.parent / "stations.nc") as nc:
        assert nc["time"].size == 40
        names = netCDF4.chartostring(nc["station_name"][:])
        assert names.tolist() == ["A01", "DEEP"]
        trace = nc["vz"][:, 0]
    last = "surface.nc" if files == "growing" else "surface_000003.nc"
    with netCDF4.Dataset(path.parent / last) as nc:
        # A01 lies on node (10, 8): two ways of reading the same velocity.
        assert nc["vz"][-1, 8, 10] == pytest.approx(trace[39], rel=1e-5)
        assert nc["x"][10] == 2500.0


def test_peaks_are_those_of_every_step_as_stations_record_them(written, monkeypatch):
    path = written(duration=0.3, steps=60, output="peaks = true", top="allow_unstable = true")
    monkeypatch.chdir(path.parent)
    assert awm.main([path.name]) == 0
    with netCDF4.Dataset("stations.nc") as nc:
        step = nc.step_s
        motion = np.stack([nc["vx"][:, 0], nc["vy"][:, 0]])
    before = np.concatenate([np.zeros((2, 1)), motion], axis=1)
    acceleration = np.diff(before, axis=1) / step
    displacement = np.cumsum((before[:, 1:] + before[:, :-1]) * step / 2, axis=1)
    expected = {
        "pgv": np.hypot(*motion).max(),
        "pga": np.hypot(*acceleration).max(),
        "pgd": np.hypot(*displacement).max(),
        "pgv_larger": np.abs(motion).max(),
        "pga_larger": np.abs(acceleration).max(),
    }
    seen = []
    for source in sorted(Path().glob("surface_*.nc")):
        with netCDF4.Dataset(source) as nc:
            # A01 lies on node (10, 8).
            seen.append({name: float(nc[name][0, 8, 10]) for name in expected})
            assert nc["pga"].units == "m s-2"
    assert seen[-1] == pytest.approx(expected, rel=1e-4)
    for name in expected:
        values = [frame[name] for frame in seen]
        assert values == sorted(values)


def test_a_station_may_have_any_name(written, monkeypatch):
    path = written(steps=25, output="station_frames = true")
    path.write_text(path.read_text().replace('"DEEP"', '"Città 7"'), encoding="utf-8")
    monkeypatch.chdir(path.parent)
    assert awm.main([path.name]) == 0
    for name in ("stations.nc", "stations_000000.nc"):
        with netCDF4.Dataset(name) as nc:
            names = netCDF4.chartostring(nc["station_name"][:], encoding="utf-8")
            assert names.tolist() == ["A01", "Città 7"]


def test_station_frames_together_hold_the_same_samples_as_stations_nc(written, monkeypatch, capsys):
    path = written(steps=60, output="station_frames = true")
    monkeypatch.chdir(path.parent)
    assert awm.main([path.name]) == 0
    lines = [Awm().read_line(line) for line in capsys.readouterr().out.splitlines()]
    lines = [
        line for line in lines if line and line.kind == "written" and line.stream == "stations"
    ]
    times = ["t00000000.450", "t00000000.900", "t00000001.080"]
    assert [(line.file, line.time) for line in lines] == [
        (f"stations_{n:06d}.nc", time) for n, time in enumerate(times)
    ]
    parts = []
    for line in lines:
        with netCDF4.Dataset(line.file) as nc:
            assert nc["time"][:].tolist() == [pytest.approx(float(line.time[1:]))]
            assert nc.featureType == "timeSeries"
            parts.append((nc["sample_time"][:], nc["vz"][:]))
    with netCDF4.Dataset("stations.nc") as nc:
        np.testing.assert_array_equal(np.concatenate([t for t, _ in parts]), nc["time"][:])
        np.testing.assert_array_equal(np.concatenate([v for _, v in parts]), nc["vz"][:])


def test_the_volume_ends_at_the_surface_and_keeps_its_stride(written, monkeypatch):
    path = written(steps=20)
    monkeypatch.chdir(path.parent)
    assert awm.main([path.name]) == 0
    with netCDF4.Dataset("volume_000000.nc") as nc, netCDF4.Dataset("surface_000001.nc") as top:
        assert nc["z"][:].tolist() == [-3000.0, -2250.0, -1500.0, -750.0, 0.0]
        assert nc["z"].positive == "up"
        for name in ("vx", "vy", "vz"):
            np.testing.assert_array_equal(nc[name][0, -1], top[name][0, ::3, ::3])


def test_the_log_shows_phase_progress_and_end(written, monkeypatch, capsys):
    path = written()
    monkeypatch.chdir(path.parent)
    assert awm.main([path.name]) == 0
    read = [Awm().read_line(line) for line in capsys.readouterr().out.splitlines()]
    lines = [line for line in read if line is not None]
    kinds = [line.kind for line in lines]
    assert kinds[:2] == ["phase", "phase"]
    assert kinds[-1] == "end"
    last = [line for line in lines if line.kind == "progress"][-1]
    assert (last.elapsed_s, last.total_s) == (0.72, 0.72)
    assert last.rate_mpps > 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"step": 0.03}, "longest stable step is 0.020619 s"),
        ({"duration": 0.3}, "gets 1.5 points per wavelength and needs 5"),
        ({"output": 'formt = "cdf5"'}, "output.formt: unknown key; did you mean format?"),
        ({"top": "free_surfaces = true"}, "free_surfaces: unknown key; did you mean free_surface?"),
        ({"output": 'format = "hdf4"'}, "output.format"),
        ({"steps": "0\nduration_s = -1"}, "time.duration_s"),
    ],
)
def test_what_cannot_work_is_refused_in_one_line(written, capsys, change, words):
    assert awm.main([str(written(**change))]) == 2
    out = capsys.readouterr().out
    assert out.startswith("awm: error: ")
    assert words in out
    assert out.count("\n") == 1


def test_a_missing_parameter_file_is_refused(tmp_path, capsys):
    assert awm.main([str(tmp_path / "none.toml")]) == 2
    assert "there is no such parameter file" in capsys.readouterr().out


def test_a_wave_that_blows_up_ends_the_run_in_one_line(written, monkeypatch, capsys):
    path = written(step=0.035, steps=400, top="allow_unstable = true")
    monkeypatch.chdir(path.parent)
    assert awm.main([path.name]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("awm: error: the velocities are not finite")


def test_a_failed_write_ends_the_run_in_one_line(written, monkeypatch, capsys):
    path = written()
    (path.parent / "surface_000000.nc").mkdir()
    monkeypatch.chdir(path.parent)
    assert awm.main([path.name]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("awm: error: cannot write surface_000000.nc: ")


def test_sigterm_ends_the_run_with_every_reported_frame_complete(written):
    path = written(steps=100000, output='files = "growing"')
    reported = 0
    with started(path) as process:
        for line in process.stdout:
            meaning = Awm().read_line(line)
            if meaning is not None and meaning.kind == "written" and meaning.stream == "surface":
                reported += 1
                if reported == 3:
                    process.send_signal(signal.SIGTERM)
    assert process.returncode == 143
    with netCDF4.Dataset(path.parent / "surface.nc") as nc:
        assert nc["time"].size == reported
        np.testing.assert_allclose(nc["time"][:], 0.18 * np.arange(1, reported + 1))


def test_peak_ground_velocity_is_the_greatest_horizontal_speed_of_all_frames(written, monkeypatch):
    path = written()
    monkeypatch.chdir(path.parent)
    assert awm.main([path.name]) == 0
    assert peak.main(["surface_*.nc", "pgv.nc"]) == 0
    frames = []
    for source in sorted(Path().glob("surface_*.nc")):
        with netCDF4.Dataset(source) as nc:
            frames.append(np.hypot(nc["vx"][0], nc["vy"][0]))
    with netCDF4.Dataset("pgv.nc") as nc:
        np.testing.assert_allclose(nc["pgv"][:], np.max(frames, axis=0), rtol=1e-6)
        assert nc.frames == 4
    assert peak.main(["nothing_*.nc", "pgv.nc"]) == 1


def test_a_check_says_that_all_is_right(written, capsys):
    path = written()
    assert awm.main([str(path), "--check"]) == 0
    said = capsys.readouterr().out
    assert said == f"awm: {path} is right; --plan says what the run will do\n"
