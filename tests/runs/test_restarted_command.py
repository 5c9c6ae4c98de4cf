"""Any program, killed and continued from its checkpoints: its run is that in one piece."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from pathlib import Path

import pytest

import burstlens

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parents[2] / "docs" / "long-runs.md").read_text()
(PROGRAM,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
(RECIPE,) = (text for text in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL) if "npz" in text)
PRODUCT = '[[product]]\nname = "kept"\nkind = "netcdf"\nvariables = ["temperature"]\n'
TIMES = [f"t{6 * number:08d}.000" for number in range(16)]
SAVED = """\
        os.replace("state.part", f"state_{step:05d}.npz")
"""
FLAGGED = """\
        if len(sys.argv) < 2 and step == 200:
            time.sleep(0.5)
            os.kill(os.getpid(), 9)
        open(f"state_{step:05d}.ok", "w").close()
"""
LOOP = """\
while True:
"""
WAITING = """\
waits_at = {0: 240, 200: 440}.get(step)
while True:
    if step == waits_at:
        time.sleep(100)
"""
LAST = """\
    if step == STEPS:
"""
UNTIL = """\
    if step * STEP_S > float(sys.argv[1]) - STEP_S / 2:
"""


def prepared(scene, name: str, *changes: tuple[str, str], program=PROGRAM, recipe=RECIPE):
    """The example of the page in a folder of its own, with changes of the recipe's text."""
    made = scene(name)
    (made.folder / "inputs" / "plate.py").write_text(program.replace("sleep(0.5)", "sleep(0.05)"))
    text = recipe + PRODUCT
    for old, new in (('inputs = "."', 'inputs = "inputs"'), ('"python3"', f'"{sys.executable}"')):
        assert old in text
        text = text.replace(old, new)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (made.folder / "recipe.toml").write_text(text)
    return made


def finish(process) -> None:
    output, _ = process.communicate(timeout=150)
    assert process.returncode == 0, output


def kill_model_of(run, attempt: int, checkpoint: str) -> None:
    """Kill the model of an attempt once that checkpoint of it is known."""
    end, about = time.monotonic() + 60, (attempt, checkpoint)
    while about not in [(one["attempt"], one["time"]) for one in run.events("checkpoint.whole")]:
        assert time.monotonic() < end
        time.sleep(0.05)
    started = run.run_dir / "attempts" / str(attempt) / "started.json"
    os.kill(json.loads(started.read_text())["group"], signal.SIGKILL)


def products(run) -> dict[str, bytes]:
    folder = run.run_dir / "products"
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.glob("*/*.*")
        if path.suffix in {".png", ".nc"}
    }


@pytest.fixture(scope="module")
def whole(scene):
    run = prepared(scene, "whole")
    finish(run.start())
    return run


def begins(run) -> list[str | None]:
    return [one.get("checkpoint") for one in run.events("simulation.submitting")]


def is_the_whole(run, whole) -> bool:
    """Whether its products are those of the run in one piece, byte by byte."""
    made, wanted = products(run), products(whole)
    assert len(wanted) == 2 * len(TIMES)
    assert made.keys() == wanted.keys()
    return made == wanted


def test_the_example_of_the_page_is_killed_twice_and_is_the_run_in_one_piece(scene, whole):
    cuts = ["t00000030.000", "t00000060.000"]
    run = prepared(scene, "killed", program=PROGRAM.replace(LOOP, WAITING))
    process = run.start()
    for attempt, cut in enumerate(cuts, start=1):
        kill_model_of(run, attempt, cut)
    finish(process)
    assert begins(run) == [None, *cuts]
    outcomes = [one["outcome"] for one in run.events("simulation.ended")]
    assert outcomes == ["failed", "failed", "done"]
    assert is_the_whole(run, whole)
    shown = {line["time"] for line in run.index() if line["product"] == "plate"}
    assert sorted(shown) == TIMES


def test_a_checkpoint_without_its_flag_is_passed_over(scene, whole):
    program = PROGRAM.replace(SAVED, SAVED + FLAGGED)
    witness = 'witness = { flag = "state_{step}.ok" }'
    run = prepared(scene, "flagged", ('witness = "name"', witness), program=program)
    finish(run.start())
    assert begins(run) == [None, "t00000015.000"]
    assert is_the_whole(run, whole)
    alarms = json.loads((run.run_dir / "status.json").read_text())["alarms"]
    assert any("t = 30 s is not whole: state_00200.npz: its flag" in one["text"] for one in alarms)


def test_a_program_that_stops_where_it_is_told_is_cut_by_model_time(scene, whole):
    program = PROGRAM.replace(LAST, UNTIL)
    words = '"plate.py"', '"plate.py", "{until}"'
    cut = "retries = 2", 'segments = 3\nlength = "90 s"'
    run = prepared(scene, "cut", words, cut, program=program)
    finish(run.start())
    assert begins(run) == [None, "t00000030.000", "t00000060.000"]
    assert [one["outcome"] for one in run.events("simulation.ended")] == ["done"] * 3
    assert is_the_whole(run, whole)


def test_it_continues_from_a_checkpoint_that_a_person_names(scene, monkeypatch):
    run = prepared(scene, "back", ("[buffer]", '[buffer]\ndestroy = "never"'))
    finish(run.start())
    listed = json.loads(run.call("status", "it", "--json").stdout)["checkpoints"]
    known = [(one["time"], one["attempt"], one["state"], one["files"]) for one in listed]
    assert known == [("t00000075.000", 1, "good", 1), ("t00000090.000", 1, "good", 1)]
    done = run.call("resume", "it", "--from", "75", "--set", "dt=1")
    assert done.returncode == 1
    assert "dt: no setting of a command can be changed" in done.stderr
    for name, value in run.environment.items():
        monkeypatch.setenv(name, value)
    view = burstlens.open_run(run.run_dir)
    shown = [(one.label, one.files) for one in view.checkpoints]
    assert shown == [("t = 75 s", ("state_00500.npz",)), ("t = 90 s", ("state_00600.npz",))]
    with pytest.raises(burstlens.RunError, match="walltime, settings and force go with from_"):
        view.resume(walltime=60)
    with pytest.raises(burstlens.RunError, match="there is no checkpoint of t = 70 s"):
        view.resume(70.0)
    assert view.resume(75.0, walltime="00:05:00")
    assert view.wait(100)["state"] == "done"
    assert begins(run) == [None, "t00000075.000"]
