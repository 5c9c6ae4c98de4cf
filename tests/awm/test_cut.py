"""A run stops at a model time or on a signal with a checkpoint, and says so."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import netCDF4
import numpy as np
import pytest

from burstlens.core.errors import RecipeError, SimulationError
from burstlens.workflows.awm import __main__ as awm
from burstlens.workflows.awm.adapter import Awm
from burstlens.workflows.awm.checkpoint_files import GLOB, step_of


def steps_of(folder):
    return [step_of(path.name) for path in sorted(folder.glob(GLOB))]


def at_step(run, step, act):
    """Has the run act after that step's fields are computed."""
    advance = run.solver.advance

    def advanced():
        advance()
        if run.solver.steps == step:
            act()

    run.solver.advance = advanced
    return run


def sent(run, step, *numbers):
    return at_step(run, step, lambda: [os.kill(os.getpid(), number) for number in numbers])


@pytest.mark.parametrize(
    ("until_s", "step"),
    [
        (0.16, 20),
        (0.16 * (1 + 5e-10), 20),
        (0.16 * (1 + 2e-9), 21),
        (0.1601, 21),
        (3 * 0.008, 3),
        (0.001, 1),
    ],
)
def test_it_stops_after_the_first_step_at_or_beyond_a_time(run, tmp_path, capsys, until_s, step):
    assert run("cut", until_s=until_s, checkpoint={"every": 0}).go() == 0
    assert steps_of(tmp_path / "cut") == [step]
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == (
        f"awm: stopped at step {step} of 60, t = {0.008 * step:.3f} s, "
        f"with checkpoint checkpoint_{step:07d}.awm"
    )


@pytest.mark.parametrize("until_s", [0.48, 0.5, 1e9, 1e308])
def test_at_its_end_it_is_done_as_ever(run, tmp_path, capsys, until_s):
    assert run("whole", until_s=until_s, checkpoint={"every": 0}).go() == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("awm: done, 60 steps in ")
    assert steps_of(tmp_path / "whole") == []


def test_all_of_the_last_step_is_reported_before_its_only_checkpoint(run, tmp_path, capsys):
    run("cut", until_s=0.28, checkpoint={"every": 35}).go()  # step 35, that of a frame
    lines = [Awm().read_line(line) for line in capsys.readouterr().out.splitlines()]
    lines = [line for line in lines if line and line.time == "t00000000.280"]
    assert [line.kind for line in lines] == ["written", "progress", "checkpoint", "cut"]
    assert lines[2].file == lines[3].file == "checkpoint_0000035.awm"
    assert lines[2].took_s > 0
    with netCDF4.Dataset(tmp_path / "cut" / "stations.nc") as nc:
        assert nc["time"].size == 35


def test_the_interval_of_the_option_wins_over_that_of_the_file(run, tmp_path):
    for name, every_s, steps in (
        ("nearest", 0.131, [16, 32, 48]), ("each", 1e-6, [1, 2]), ("file", None, [10, 20]),
        ("beyond all", 1e308, [0]),
    ):  # fmt: skip
        count = max(steps) + 1
        tables = {"time": {"step_s": 0.008, "steps": count}, "checkpoint": {"every": 10, "keep": 9}}
        run(name, every_s=every_s, **tables).go()
        written = [*filter(None, steps), *([count] if name == "each" else [])]
        assert steps_of(tmp_path / name) == written


def test_a_signal_asks_for_a_checkpoint_and_the_run_goes_on(run, tmp_path, capsys):
    one = sent(run("one", checkpoint={"every": 0}), 3, signal.SIGUSR1)
    assert one.go() == 0
    assert one.solver.steps == 60
    assert steps_of(tmp_path / "one") == [3]
    assert capsys.readouterr().out.splitlines()[-1].startswith("awm: done, ")


def test_another_signal_asks_for_a_checkpoint_with_which_it_stops(run, tmp_path, capsys):
    one = sent(run("one", checkpoint={"every": 0}), 3, signal.SIGUSR2)
    assert one.go() == 0
    assert steps_of(tmp_path / "one") == [3]
    assert capsys.readouterr().out.splitlines()[-1] == (
        "awm: stopped at step 3 of 60, t = 0.024 s, with checkpoint checkpoint_0000003.awm"
    )


@pytest.mark.parametrize(
    ("how", "name"),
    [
        ({"checkpoint": {"every": 50}}, "checkpoint_0000003.awm"),
        ({"checkpoint": {"every": 3}}, "checkpoint_0000003.awm"),
        ({"checkpoint": {"every": 0}, "every_s": 0.4}, "checkpoint_0000003.awm"),
        ({"checkpoint": {"every": 0}, "until_s": 0.4}, "checkpoint_0000003.awm"),
        ({"checkpoint": {"every": 0}}, None),
    ],
)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_with_checkpoints_that_a_signal_ends_writes_one(
    run, tmp_path, capsys, how, name, number
):
    assert sent(run("one", **how), 3, number).go() == 128 + number
    assert steps_of(tmp_path / "one") == ([3] if name else [])
    lines = capsys.readouterr().out.splitlines()
    said = f"awm: stopped by {number.name} at step 3"
    assert lines[-1] == (f"{said}, with checkpoint {name}" if name else said)
    assert sum("wrote checkpoint" in line for line in lines) == (1 if name else 0)


@pytest.mark.parametrize("until_s", [None, 0.48])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR2])
def test_a_signal_in_the_last_step_finds_a_run_that_is_done(run, tmp_path, capsys, number, until_s):
    assert sent(run("one", until_s=until_s), 60, number).go() == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("awm: done, 60 steps in ")
    with netCDF4.Dataset(tmp_path / "one" / "stations.nc") as nc:
        assert nc["time"].size == 60


def test_a_signal_at_a_cut_ends_it_with_its_code_and_the_checkpoint(run, tmp_path, capsys):
    assert sent(run("one", until_s=0.16), 20, signal.SIGTERM).go() == 128 + signal.SIGTERM
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "awm: stopped by SIGTERM at step 20, with checkpoint checkpoint_0000020.awm"


def test_a_signal_that_ends_it_counts_more_than_one_that_asks(run, tmp_path):
    one = sent(run("one", checkpoint={"every": 0}), 3, signal.SIGUSR2, signal.SIGTERM)
    assert one.go() == 128 + signal.SIGTERM
    assert steps_of(tmp_path / "one") == [3]


@pytest.mark.parametrize("field", ["vy", "sxz", "layer 3"])
@pytest.mark.parametrize("number", [0, signal.SIGTERM])
def test_a_state_that_is_not_finite_is_never_a_checkpoint(run, tmp_path, field, number):
    one = run("one")

    def blow_up():
        values = one.solver.state()[field].reshape(-1)
        values[values.size // 2] = np.inf
        if number:
            os.kill(os.getpid(), number)

    with pytest.raises(SimulationError, match=r"the velocities are not finite at step 2[01]"):
        at_step(one, 20, blow_up).go()
    assert steps_of(tmp_path / "one") == [10]


def test_an_unfinished_checkpoint_of_a_killed_run_is_removed(run, tmp_path):
    (tmp_path / "one").mkdir()
    old = tmp_path / "one" / ".checkpoint_0000010.awm.part"
    old.write_bytes(b"half")
    other = tmp_path / "one" / ".notes.part"
    other.write_bytes(b"mine")
    run("one", until_s=0.01).go()
    assert (old.exists(), other.exists()) == (False, True)


def test_a_run_deletes_none_of_the_checkpoints_of_others(run, tmp_path):
    folder = tmp_path / "one"
    run("one", until_s=0.16).go()
    assert steps_of(folder) == [10, 20]
    run("one", folder / "checkpoint_0000020.awm", checkpoint={"every": 10, "keep": 1}).go()
    assert steps_of(folder) == [10, 20, 60]


def test_to_stop_where_it_begins_is_refused_and_no_file_changes(run, tmp_path):
    run("one", until_s=0.16).go()
    folder = tmp_path / "one"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(RecipeError, match=r"t = 0\.160 s: --until 0\.1 is not beyond it"):
        run("one", folder / "checkpoint_0000020.awm", until_s=0.1)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "soon"])
@pytest.mark.parametrize("option", ["--until", "--checkpoint-every"])
def test_only_a_number_of_seconds_above_0_is_a_time(capsys, option, text):
    with pytest.raises(SystemExit) as ended:
        awm.main(["awm.toml", f"{option}={text}"])
    assert ended.value.code == 2
    assert "a number of seconds above 0 is expected" in capsys.readouterr().err


@pytest.mark.integration
def test_a_signal_to_stop_is_noted_while_kernels_are_compiled(tmp_path):
    (tmp_path / "awm.toml").write_text("""
grid = { nx = 20, ny = 20, nz = 20, spacing_m = 100.0 }
time = { step_s = 0.008, steps = 500000 }
material = { layers = [{ vp_m_s = 5000, vs_m_s = 2900, rho_kg_m3 = 2700 }] }
source = { x_m = 900, y_m = 900, depth_m = 900, mxx_n_m = 1e15, function = "gaussian", frequency_hz = 2.0 }
""")  # noqa: E501
    command = [sys.executable, "-m", "burstlens.workflows.awm", "awm.toml"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "awm: compiling kernels\n"
        process.send_signal(signal.SIGUSR2)
        *_, last = process.stdout
    assert process.returncode == 0
    assert last.startswith("awm: stopped at step 1 of 500000, t = 0.008 s, with checkpoint ")
    assert steps_of(tmp_path) == [1]
