"""What a run says that it will do, held against what it does."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burstlens.core.errors import SimulationError
from burstlens.workflows.awm import __main__ as awm
from burstlens.workflows.awm import forecast
from burstlens.workflows.awm.checkpoint_files import name_of
from burstlens.workflows.awm.executing import Threads
from burstlens.workflows.awm.forecast import Forecast
from burstlens.workflows.awm.parameters import Parameters
from burstlens.workflows.awm.program import Run
from burstlens.workflows.awm.solver import Solver
from burstlens.workflows.awm.stretch import Stretch

Make = Callable[..., Parameters]
SOFT = [
    {"vp_m_s": 2000, "vs_m_s": 1100, "rho_kg_m3": 2000},
    {"top_m": 500, "vp_m_s": 6000, "vs_m_s": 3300, "rho_kg_m3": 2700},
]

PLANNED = """
grid = { nx = 20, ny = 20, nz = 20, spacing_m = 100.0 }
time = { step_s = 0.008, steps = 50 }
material = { layers = [{ vp_m_s = 5000, vs_m_s = 2900, rho_kg_m3 = 2700 }] }
output = { surface_every = 10 }
[source]
x_m = 900
y_m = 900
depth_m = 900
mxx_n_m = 1e15
function = "gaussian"
frequency_hz = 2.0
"""


def given(parameters: Make, **tables: object) -> Parameters:
    return parameters(**{"source": {"mxx_n_m": 1e15}, **tables})


def test_the_fields_take_the_memory_that_is_forecast(parameters: Make) -> None:
    for free_surface in (True, False):
        wanted = given(parameters, free_surface=free_surface)
        solver = Solver(wanted, Path())
        w, m = solver.wavefield, solver.medium
        fields = [w.vx, w.vy, w.vz, w.sxx, w.syy, w.szz, w.sxy, w.sxz, w.syz]
        fields += [m.density, m.compliance, m.lam]
        fields += [layer.memory for layer in solver.layers]
        assert sum(field.nbytes for field in fields) == forecast.memory_bytes(wanted)


def test_a_point_inside_the_layers_takes_less_than_a_hundred_bytes(parameters: Make) -> None:
    wanted = given(parameters, grid={"nx": 120, "ny": 120, "nz": 80})
    assert forecast.memory_bytes(wanted) / (120 * 120 * 80) < 100


def test_a_rehearsal_leaves_a_solver_at_rest(parameters: Make) -> None:
    fresh, rehearsed = (Solver(given(parameters), Path()) for _ in range(2))
    assert forecast.probe(rehearsed, 300) > 0
    assert rehearsed.steps == 0
    for solver in (fresh, rehearsed):
        for _ in range(5):
            solver.advance()
    np.testing.assert_array_equal(fresh.wavefield.vx, rehearsed.wavefield.vx)


def test_resolution_step_and_friction_are_those_of_the_material(parameters: Make) -> None:
    wanted = given(
        parameters, material={"layers": SOFT}, grid={"nx": 20, "ny": 20, "nz": 20},
        source={"mxx_n_m": 1e15, "frequency_hz": 1.0, "x_m": 900, "y_m": 900, "depth_m": 900},
    )  # fmt: skip
    found = Forecast.of(Solver(wanted, Path()), 1, 0.5)
    assert found.highest_right_hz == pytest.approx(1100 / 100 / 5)
    assert found.points_per_wavelength == pytest.approx(1100 / found.highest_hz / 100)
    assert found.step_limit_s == pytest.approx(100 / (3**0.5 * 6000 * 7 / 6))
    assert (found.contrast, found.friction) == (pytest.approx(3.0), True)
    assert found.takes_s == 0.5 * wanted.time.count
    assert "friction" in "\n".join(found.lines())


def test_the_layers_have_friction_only_where_the_edges_need_it_or_it_is_asked_for(
    parameters: Make,
) -> None:
    assert not Solver(given(parameters), Path()).robust
    assert Solver(given(parameters, absorbing={"robust": True}), Path()).robust
    soft = given(parameters, material={"layers": SOFT}, allow_unstable=True)
    assert Solver(soft, Path()).robust
    less = [{**SOFT[0], "vp_m_s": 4000, "vs_m_s": 2200}, SOFT[1]]
    for steps, friction in ((2000, False), (2001, True)):
        run = given(
            parameters, material={"layers": less}, allow_unstable=True, time={"steps": steps}
        )
        assert Solver(run, Path()).robust is friction
    plain = soft.model_copy(
        update={"absorbing": soft.absorbing.model_copy(update={"robust": False})}
    )
    assert not Solver(plain, Path()).robust


def test_the_output_takes_the_bytes_that_are_forecast(parameters: Make, tmp_path: Path) -> None:
    wanted = given(
        parameters, time={"steps": 6}, station=[{"name": "A", "x_m": 100, "y_m": 100}],
        output={
            "surface_every": 2, "volume_every": 3, "volume_stride": 4, "peaks": True,
            "station_frames": True, "format": "classic",
        },
    )  # fmt: skip
    assert Run(wanted, tmp_path, Threads()).go() == 0
    found = forecast.output_bytes(wanted)
    for kind in ("surface", "volume"):
        written = sum(file.stat().st_size for file in tmp_path.glob(f"{kind}_*.nc"))
        assert found[kind] * 0.5 < written <= found[kind]
    assert forecast.output_bytes(given(parameters)) == {}


def test_a_checkpoint_takes_the_bytes_that_are_forecast(parameters: Make, tmp_path: Path) -> None:
    for number, tables in enumerate(
        ({}, {"output": {"peaks": True}, "station": [{"name": "A", "x_m": 100, "y_m": 100}]})
    ):
        wanted = given(parameters, time={"steps": 6}, checkpoint={"every": 3}, **tables)
        (folder := tmp_path / str(number)).mkdir()
        assert Run(wanted, folder, Threads()).go() == 0
        written = (folder / name_of(6)).stat().st_size
        assert forecast.checkpoint_bytes(wanted) == written


def test_the_way_from_one_checkpoint_to_the_next_is_forecast(parameters: Make) -> None:
    solver = Solver(given(parameters), Path())
    found = Forecast.of(solver, 1, 0.5, checkpoint_every=25)
    numbers = found.numbers()
    assert numbers["checkpoint_bytes"] == forecast.checkpoint_bytes(solver.parameters)
    assert numbers["checkpoint_every"] == 25
    assert numbers["checkpoint_every_s"] == 0.2
    assert numbers["between_checkpoints_s"] == 12.5
    [line] = [line for line in found.lines() if line.startswith("checkpoints: ")]
    assert line.endswith("B each, every 25 steps: 0.2 s of the model, about 12 s of computing")


def test_fields_beyond_the_memory_are_refused_before_they_are_made(parameters: Make) -> None:
    wanted = given(parameters, grid={"nx": 60000, "ny": 60000, "nz": 60})
    with pytest.raises(SimulationError, match=r"nodes take 13\.8 TB and .* are available"):
        forecast.refuse_memory(wanted)


@pytest.mark.integration
def test_memory_beyond_the_limit_of_the_process_is_refused(
    parameters: Make, tmp_path: Path
) -> None:
    import subprocess
    import sys

    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30)); "
        "from burstlens.workflows.awm.forecast import available_bytes; print(available_bytes())"
    )
    environment = {**os.environ, "PYTHONPATH": ":".join(p for p in sys.path if p)}
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert 0 < int(ended.stdout) < 2**30


def test_a_plan_is_printed_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "awm.toml"
    path.write_text(PLANNED)
    assert awm.main([path.name, "--plan", "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["steps"] == 50
    assert numbers["output_bytes"]["surface"] > 5 * 3 * 4 * 400
    assert (numbers["checkpoint_every"], numbers["checkpoint_every_s"]) == (0, 0)
    assert awm.main([path.name, "--plan", "--json", "--checkpoint-every", "0.1"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert (numbers["checkpoint_every"], numbers["checkpoint_every_s"]) == (12, 0.096)
    assert awm.main([path.name, "--plan"]) == 0
    out = capsys.readouterr().out
    assert [line.split(":")[1].strip() for line in out.splitlines()] == [
        "grid", "waves", "step", "output", "time"
    ]  # fmt: skip
    assert list(tmp_path.iterdir()) == [path]


def test_of_a_stretch_its_own_steps_time_and_output_are_forecast(
    parameters: Make, tmp_path: Path
) -> None:
    wanted = given(
        parameters, time={"steps": 20}, station=[{"name": "A", "x_m": 100, "y_m": 100}],
        output={"surface_every": 4, "volume_every": 7, "volume_stride": 4, "format": "classic"},
    )  # fmt: skip
    solver = Solver(wanted, Path())
    found = Forecast.of(solver, 1, 0.5, 3, 9, 16)
    assert (found.steps, found.takes_s) == (8, 4.0)
    assert found.numbers()["steps_of_run"] == 20
    whole = forecast.output_bytes(wanted)
    assert found.output_bytes["surface"] * 5 == whole["surface"] * 2  # steps 12 and 16
    assert found.output_bytes["volume"] * 2 == whole["volume"]  # step 14
    assert found.output_bytes["stations"] == 16 * (8 + 12)
    assert found.checkpoint_bytes == forecast.checkpoint_bytes(wanted) - 4 * (8 + 12)
    assert "time: about 4 s for steps 9 to 16 of 20, " in list(found.lines())[-1]
    until_s = 16 * wanted.time.step_s
    first = Run(wanted, tmp_path, Threads(), Stretch(until_s=8 * wanted.time.step_s))
    assert first.go() == 0
    again = Run(wanted, tmp_path, Threads(), Stretch(tmp_path / name_of(8), until_s))
    assert (again.forecast(1).first_step, again.forecast(1).last_step) == (9, 16)
    assert again.forecast(1).output_bytes == found.output_bytes
    assert again.go() == 0
    assert (tmp_path / name_of(16)).stat().st_size == found.checkpoint_bytes


def test_a_plan_of_a_continuation_is_of_its_steps_and_reads_the_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("awm.toml").write_text(PLANNED)
    assert awm.main(["awm.toml", "--until", "0.16"]) == 0
    checkpoint = Path(name_of(20))
    before = sorted(path.name for path in tmp_path.iterdir())
    capsys.readouterr()
    words = ["awm.toml", "--plan", "--json", "--restart", checkpoint.name]
    assert awm.main([*words, "--until", "0.32"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    names = "steps", "first_step", "last_step", "steps_of_run"
    assert [numbers[name] for name in names] == [20, 21, 40, 50]
    data = bytearray(checkpoint.read_bytes())
    data[-50] ^= 1
    checkpoint.write_bytes(data)
    assert awm.main(words) == 2
    assert "is damaged" in capsys.readouterr().out
    assert awm.main([*words, "--until", "0.1"]) == 2
    assert "--until 0.1 is not beyond it" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        awm.main(["awm.toml", "--check", "--restart", checkpoint.name])
    assert "--plan checks a checkpoint, too" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize("length", [{"duration_s": 1e308}, {"steps": 10**400}])
def test_more_steps_than_any_run_has_are_refused(parameters: Make, length: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"a run has at most 1e\+09 steps"):
        given(parameters, time={"steps": None, **length})
