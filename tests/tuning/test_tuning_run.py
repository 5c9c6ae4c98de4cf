"""Tunings with real processes: the command, its supervisor, its workers, what they survive."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from debian import UnavailableError, provided
from tuning_case import FACTORS, Tuning

pytest.importorskip("optuna")
pytestmark = [pytest.mark.integration, pytest.mark.slow]


@pytest.fixture
def tuning(tmp_path):
    return Tuning(tmp_path)


def test_a_gain_is_found_proved_and_written_as_a_recipe_that_runs(tuning):
    code, out, err = tuning.tune("--runs", "4", "--set", "simulation.environment.B=a b")
    assert code == 0, err
    tuned = str(tuning.run.path / "tuning" / "tuned.toml")
    assert f"burstlens run {tuned} --set 'simulation.environment.B=a b'\n" in out
    assert "I/O for output: default 8 s, tuned 2 s" in out
    shown = [line.split()[0] for line in out.splitlines() if line.startswith("trial-")]
    assert shown == [one["job"] for one in tuning.events("trial.ended")]
    assert tuning.result["gain"] is True
    assert tuning.result["leader"] == {"simulation.environment.EACH": "1.0"}
    names = {path.name for path in (tuning.run.path / "tuning").iterdir()}
    assert names == {"trials.tsv", "tuning.json", "tuning.png", "tuned.toml", "verdict.txt"}
    assert not list((tuning.folder / "buffer").glob("*/*")), "the buffer is given back"
    report = tuning.folder / "report.html"
    code, _, err = tuning.end(tuning.start("report", "t", "--out", str(report)))
    assert code == 0, err
    assert report.read_text().count("data:image/png") == 1
    assert "EACH=1.0" in report.read_text()
    code, _, err = tuning.end(tuning.start("run", tuned, "--name", "again"))
    assert code == 0, err
    assert tuning.starts[-1].split()[1] == "1.0"


def test_equal_values_gain_nothing_and_json_is_one_document(tmp_path):
    tuning = Tuning(tmp_path, '[tune.factors]\n"simulation.environment.OTHER" = ["a", "b"]\n')
    code, out, err = tuning.tune("--runs", "3", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert (found["gain"], found["outcome"], found["run"]) == (False, "done", "t")
    assert not (tuning.run.path / "tuning" / "tuned.toml").exists()


def test_values_that_crash_hang_or_say_nothing_are_passed_over(tmp_path):
    factors = (
        '"simulation.environment.FAULT" = ["crash", "hang", "quiet", "short", "alien", "none"]'
    )
    limit = '[tune]\nset = { "simulation.walltime" = "00:00:03" }\n'
    tuning = Tuning(tmp_path, f"{limit}{FACTORS}{factors}\n")
    code, out, err = tuning.tune("--runs", "9")
    assert code == 0, err
    trials = tuning.result["trials"]
    faults = {one["values"].get("simulation.environment.FAULT") for one in trials
              if one["seconds"] is None}  # fmt: skip
    assert faults <= {"crash", "hang", "quiet", "short", "alien"}
    assert faults, "no faulty value was tried"
    good = [one for one in trials if one["seconds"] is not None]
    assert all(one["values"].get("simulation.environment.FAULT", "none") == "none" for one in good)
    assert "failed" in out


def test_a_recipe_that_fails_as_it_is_ends_with_one_message(tmp_path):
    tuning = Tuning(tmp_path)
    code, _, err = tuning.tune("--set", "simulation.environment.FAULT=crash")
    assert code == 1
    assert "could not be measured: ended with exit code 3: cannot write" in err
    assert "resume" not in err, "there is nothing to go on with"
    assert "correct what is named, then tune anew" in err
    assert not list((tuning.folder / "buffer").glob("*/*")), "the buffer is given back"
    assert "Traceback" not in err
    assert len(tuning.starts) == 1


def test_a_verdict_that_cannot_be_written_is_written_by_resume(tmp_path):
    tuning = Tuning(tmp_path)
    process = tuning.start("tune", "r.toml", "--name", "t", "--runs", "2")
    tuning.wait(lambda: tuning.events("trial.submitted"))
    in_the_way = tuning.run.path / "tuning"
    in_the_way.touch()  # a file where the folder is to be
    code, _, err = tuning.end(process)
    assert code == 1
    assert f"{in_the_way} cannot be written" in err
    assert "go on with: burstlens resume t" in err
    assert not tuning.events("tuning.ended")
    in_the_way.unlink()
    starts = len(tuning.starts)
    code, out, err = tuning.end(tuning.start("resume", "t"))
    assert code == 0, err
    assert "I/O for output: default 8 s, tuned " in out
    assert len(tuning.starts) == starts, "nothing is measured again"
    assert len(tuning.events("tuning.ended")) == 1


def test_a_driver_that_is_killed_is_followed_by_one_that_goes_on(tmp_path):
    tuning = Tuning(tmp_path, pause="0.4")
    process = tuning.start("tune", "r.toml", "--name", "t", "--runs", "4")
    for count in (1, 4, 8):
        tuning.wait(lambda count=count: len(tuning.events("trial.submitted")) > count)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        process = tuning.start("resume", "t")
    code, out, err = tuning.end(process)
    assert code == 0, err
    assert "default 8 s, tuned 2 s" in out
    ended = tuning.events("trial.ended")
    assert [one["job"] for one in ended] == [f"trial-{n}" for n in range(1, len(ended) + 1)]
    assert {one["outcome"] for one in ended} == {"done"}
    assert len(tuning.starts) == len(ended), "a trial was started twice"
    phases = [one["phase"] for one in tuning.events("trial.submitting")]
    assert phases == ["pilot"] * 3 + ["search"] * 4 + ["pair"] * 6


def test_a_trial_whose_supervisor_is_killed_is_run_again(tmp_path):
    tuning = Tuning(tmp_path, pause="0.5")
    process = tuning.start("tune", "r.toml", "--name", "t", "--runs", "2")
    started = tuning.run.job("trial-2") / "started.json"
    about = json.loads(tuning.wait(lambda: started.exists() and started.read_text()))
    os.kill(about["supervisor"], signal.SIGKILL)
    code, _, err = tuning.end(process)
    assert code == 0, err
    ended = tuning.events("trial.ended")
    assert [one["outcome"] for one in ended].count("lost") == 1
    assert ended[1]["outcome"] == "lost"
    assert [one["phase"] for one in tuning.events("trial.submitting")][:4] == ["pilot"] * 4
    assert len(tuning.result["trials"]) == len(ended) - 1


def test_the_recipe_as_it_is_is_run_again_when_its_program_is_killed(tmp_path):
    tuning = Tuning(tmp_path, pause="0.5")
    process = tuning.start("tune", "r.toml", "--name", "t", "--runs", "2")
    started = tuning.run.job("trial-2") / "started.json"
    about = json.loads(tuning.wait(lambda: started.exists() and started.read_text()))
    os.killpg(about["group"], signal.SIGKILL)
    code, _, err = tuning.end(process)
    assert code == 0, err
    ended = tuning.events("trial.ended")
    assert [one["outcome"] for one in ended[:4]] == ["done", "lost", "done", "done"]
    assert tuning.result["gain"] is True


STEPS = """
[[step]]
name = "prepare"
command = ["sh", "prepare.sh"]
before = "simulation"
[[step]]
name = "late"
command = ["false"]
after = "simulation"
"""


def test_steps_that_prepare_the_inputs_run_once_also_after_a_kill(tmp_path):
    tuning = Tuning(tmp_path, FACTORS + STEPS, pause="0.4")
    prepare = tmp_path / "inputs" / "prepare.sh"
    prepare.write_text(f"#!/bin/sh\necho ran >> {tmp_path}/prepared\ncp frame.nc made.nc\n")
    program = tmp_path / "inputs" / "program.sh"
    program.write_text(program.read_text().replace("cp frame.nc", "cp made.nc"))
    process = tuning.start("tune", "r.toml", "--name", "t", "--runs", "2")
    tuning.wait(lambda: len(tuning.events("trial.submitted")) > 1)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    code, _, err = tuning.end(tuning.start("resume", "t"))
    assert code == 0, err
    assert (tmp_path / "prepared").read_text() == "ran\n"
    assert {one["outcome"] for one in tuning.events("trial.ended")} == {"done"}


def test_a_step_that_fails_ends_the_tuning_with_its_log(tmp_path):
    tuning = Tuning(tmp_path, FACTORS + STEPS.replace('["sh", "prepare.sh"]', '["false"]'))
    code, _, err = tuning.tune()
    assert code == 1
    assert "step-prepare-1 ended with exit code 1; its log is" in err
    assert not tuning.events("trial.submitting")


def test_a_step_that_fails_says_why_by_the_last_line_of_its_log(tmp_path):
    tuning = Tuning(tmp_path, FACTORS + STEPS)
    (tmp_path / "inputs" / "prepare.sh").write_text("echo no compiler\nexit 3\n")
    code, _, err = tuning.tune()
    assert code == 1
    assert "step-prepare-1 ended with exit code 3: no compiler; its log is" in err


def test_a_stop_ends_the_trial_and_resume_goes_on(tmp_path):
    tuning = Tuning(tmp_path, pause="0.5")
    process = tuning.start("tune", "r.toml", "--name", "t", "--runs", "2")
    tuning.wait(lambda: len(tuning.events("trial.submitted")) > 1)
    code, _, err = tuning.end(tuning.start("stop", "t", "--now"))
    assert code == 0, err
    code, _, err = tuning.end(process)
    assert code == 4, err
    assert "burstlens resume t" in err
    code, _, err = tuning.end(tuning.start("resume", "t"))
    assert code == 0, err
    assert tuning.result["trials"]


def test_a_stop_does_not_wait_for_a_frame_of_the_trial(tmp_path):
    tuning = Tuning(tmp_path, pause="50")
    process = tuning.start("tune", "r.toml", "--name", "t")
    tuning.wait(lambda: (tuning.run.job("trial-1") / "started.json").exists())
    process.send_signal(signal.SIGINT)
    code, _, err = tuning.end(process)
    assert code == 4, err
    (ended,) = tuning.events("trial.ended")
    assert ended["outcome"] == "stopped"
    assert ended["wall_s"] < 40.0


@pytest.mark.parametrize(
    ("more", "words", "said"),
    [
        ('[tune.factors]\n"simulation.nodes" = [0]', (), "simulation.nodes = 0"),
        (FACTORS, ("--set", "simulation.inputs=nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_tuned_is_refused_before_anything_is_made(tmp_path, more, words, said):
    tuning = Tuning(tmp_path, more)
    code, _, err = tuning.tune(*words)
    assert code == 1
    assert said in err
    assert "Traceback" not in err
    assert not tuning.run.path.exists()


MPI = """#!/bin/sh
# The hints that the environment names, as the file that ROMIO reads.
ROMIO_HINTS="$PWD/hints"
export ROMIO_HINTS
for name in romio_cb_write cb_nodes cb_buffer_size romio_ds_write; do
  eval "value=\\$$name"
  [ -z "$value" ] || echo "$name $value" >> "$ROMIO_HINTS"
done
[ -z "$cb_nodes" ] || echo "cb_config_list *:2" >> "$ROMIO_HINTS"
export ROMIO_PRINT_HINTS=1
exec MPIEXEC -n 2 ./writer 4 4000 640 .
"""
HINTS = """
[tune.factors]
"simulation.environment.romio_cb_write" = ["enable", "disable"]
"simulation.environment.romio_ds_write" = ["automatic", "disable"]
[tune.factors."simulation.environment.cb_nodes"]
values = ["1", "2"]
when = { "simulation.environment.romio_cb_write" = ["enable"] }
"""


def test_a_real_mpi_program_is_tuned_to_an_honest_verdict(tmp_path):
    try:
        compiler = provided("mpicc.mpich", package="libmpich-dev")
        launcher = provided("mpiexec.mpich", "mpiexec.hydra", package="mpich")
    except UnavailableError as error:
        pytest.skip(str(error))
    tuning = Tuning(tmp_path, HINTS)
    source = Path(__file__).parents[1] / "data" / "tuning" / "writer.c"
    writer = tmp_path / "inputs" / "writer"
    subprocess.run([compiler, "-O2", "-o", writer, source], check=True)
    program = tmp_path / "inputs" / "program.sh"
    program.write_text(MPI.replace("MPIEXEC", launcher))
    recipe = tmp_path / "r.toml"
    recipe.write_text(recipe.read_text().replace("out_*.nc", "out_*.dat"))
    code, _, err = tuning.tune("--runs", "5")
    assert code == 0, err
    trials = tuning.result["trials"]
    assert all(one["seconds"] > 0 for one in trials)
    pairs = [one for one in trials if one["phase"] == "pair"]
    default = [one["seconds"] for one in pairs if not one["values"]]
    leader = [one["seconds"] for one in pairs if one["values"]]
    proved = len(leader) == 3 and min(default) > max(leader)
    assert tuning.result["gain"] is proved
    for number, one in enumerate(trials, 1):
        wanted = one["values"].get("simulation.environment.romio_cb_write")
        log = (tuning.run.logs / f"trial-{number}" / "model.log").read_text()
        assert re.search(rf"key = romio_cb_write\s+value = {wanted or 'automatic'}", log)
