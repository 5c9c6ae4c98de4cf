"""Whole runs on a real Slurm with persistent buffers: what holds, whatever happens to them."""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import time
from typing import Any

import pytest
from run_case import WAITS
from testbed import Testbed


def test_one_command_makes_a_buffer_runs_publishes_and_gives_the_buffer_back(
    slurm: Testbed, make_case: Any
) -> None:
    case = make_case(model=WAITS)
    # A login shell's variables are not in the jobs: the level of the logs travels otherwise.
    case.environment |= {"BURSTLENS_LOG": "debug", "SBATCH_EXPORT": "PATH,HOME,USER"}
    driver = case.launch()
    case.await_event("product.published")
    simulation, viewing = case.await_job("attempt-1"), case.await_job("parsl")
    assert simulation["JobId"] != viewing["JobId"]
    assert simulation["Comment"] == viewing["Comment"] == "r"
    assert not (case.run / "attempts" / "1" / "ended.json").exists(), "nothing came while it ran"
    case.go_on()
    assert case.wait(driver).code == 0, case.said()
    assert not case.faults(), case.said()
    assert case.jobs("parsl")[0]["NumCPUs"] == "1", "one for its one worker"
    events = [line["event"] for line in case.journal()]
    for before, after in (
        ("buffer.requested", "buffer.created"),
        ("buffer.created", "simulation.submitted"),
        ("viewing.queued", "viewing.started"),
        ("viewing.started", "product.published"),
        ("simulation.submitted", "stagein.done"),
        ("stagein.done", "frame.ready"),
        ("product.published", "simulation.ended"),
        ("stageout.done", "buffer.released"),
    ):
        assert events.index(before) < events.index(after), (before, after)
    journal = (case.run / "journal.jsonl").read_text()
    assert str(slurm.root / "datawarp") not in journal, "a path on the buffer in the journal"
    logs = {path.name.partition("-")[0]: path.read_text()
            for path in (case.run / "logs" / "burstlens").glob("*.log")}  # fmt: skip
    assert f"job {simulation['JobId']} is submitted: " in logs["driver.log"]
    assert f"batch job {simulation['JobId']}" in logs["supervisor"]
    assert " DEBUG worker " in logs["worker"]
    lying = {path.name for path in case.run.iterdir()}
    assert "output" in lying
    assert not list(case.run.rglob("trace")), "inputs came to the target"


@pytest.mark.slow
def test_a_buffer_that_exists_is_used_and_left(slurm: Testbed, make_case: Any) -> None:
    made = slurm.submit(
        "#!/bin/sh\n"
        "#BB create_persistent name=storms capacity=1GiB access=striped type=scratch\n:\n"
    )
    slurm.wait(made)
    case = make_case()
    recipe = case.folder / "r.toml"
    recipe.write_text(recipe.read_text().replace("[buffer]\n", '[buffer]\nname = "storms"\n'))
    assert case.wait(case.launch()).code == 0, case.said()
    assert not case.faults(), case.said()
    assert set(slurm.burst()) == {"storms"}
    (root,) = (slurm.root / "datawarp" / "instances").glob("*/data")
    assert not list(root.iterdir()), "the run's folder is left on the buffer"


def test_another_users_buffer_is_refused(slurm: Testbed, make_case: Any) -> None:
    script = (
        "#!/bin/sh\n#BB create_persistent name=taken capacity=1GiB access=striped type=scratch\n:\n"
    )
    nobody = pwd.getpwnam("nobody")
    as_nobody: Any = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}

    def submit(script: str) -> str:
        done = subprocess.run(
            ["sbatch", "--parsable", "--output=/dev/null"],
            input=script, env=slurm.env, cwd="/tmp", text=True, check=True, capture_output=True,
            **as_nobody,
        )  # fmt: skip
        return done.stdout.strip()

    slurm.wait(submit(script))
    case = make_case()
    recipe = case.folder / "r.toml"
    recipe.write_text(recipe.read_text().replace("[buffer]\n", '[buffer]\nname = "taken"\n'))
    life = case.wait(case.launch())
    assert life.code == 1
    assert "a buffer taken exists and belongs to nobody" in life.said
    slurm.wait(submit("#!/bin/sh\n#BB destroy_persistent name=taken\n:\n"))


def test_a_buffer_too_large_for_the_pool_is_refused_at_once(make_case: Any) -> None:
    case = make_case(capacity="900 TiB")
    life = case.wait(case.launch())
    assert life.code == 1
    assert "buffer.capacity asks for 900 TiB, and pool wlm_pool has" in life.said
    assert not case.jobs()


def test_an_input_that_cannot_be_read_is_reported_with_the_command_that_frees_the_buffer(
    slurm: Testbed, make_case: Any
) -> None:
    case = make_case()
    (case.inputs / "secret").write_text("")
    (case.inputs / "secret").chmod(0o600)
    life = case.wait(case.launch())
    assert life.code == 1
    assert "stage in failed" in life.said
    assert f"{case.inputs}/secret (Permission denied)" in life.said
    assert "burstlens free r" in life.said
    assert case.buffer_name() in slurm.burst()
    assert case.burstlens("free", "r").code == 0
    assert not slurm.burst()


def test_inputs_come_by_directive_and_failures_are_reported_at_once(
    slurm: Testbed, make_case: Any
) -> None:
    buffer = 'kind = "datawarp"\nstage_in = "directive"'
    case = make_case(buffer=buffer)
    # The scheduler brings files alone: folders are made by the program that stages in.
    (case.inputs / "empty" / "deeper").mkdir(parents=True)
    program = case.inputs / "wrf.exe"
    touch = "touch empty/deeper/made || exit 9"
    program.write_text(program.read_text().replace("\n", f"\n{touch}\n", 1))
    with slurm.knobs(fail_stage="namelist"):
        life = case.wait(case.launch(), 90)
    assert life.code == 1
    assert "cannot start, says Slurm" in life.said
    assert "namelist" in life.said
    case.finish()
    assert not case.faults(), case.said()
    staged = [call for call in slurm.calls("data_in") if call.code == 0]
    assert staged, "the scheduler has staged nothing in"


def test_a_job_that_can_never_start_is_reported_at_once(make_case: Any) -> None:
    case = make_case()
    recipe = case.folder / "r.toml"
    recipe.write_text(recipe.read_text().replace("[simulation]\n", "[simulation]\nnodes = 7\n"))
    life = case.wait(case.launch(), 60)
    assert life.code == 1
    assert "cannot start, says Slurm: PartitionConfig" in life.said
    assert not case.faults() or "burstlens free r" in life.said


@pytest.mark.fault
def test_a_cancelled_simulation_is_reported_and_the_run_can_be_resumed(
    slurm: Testbed, make_case: Any
) -> None:
    case = make_case(model=WAITS)
    driver = case.launch()
    case.await_event("frame.ready")
    slurm.run(["scancel", case.await_job("attempt-1")["JobId"]])
    life = case.wait(driver)
    case.go_on()
    assert life.code == 1
    assert "CANCELLED" in life.said
    case.finish()
    assert not case.faults(), case.said()


IN_JOB = {
    "jobdw": 'kind = "datawarp"\nlifetime = "job"',
    "node-local": 'kind = "posix"\nfolders = ["$NVME"]',
}


@pytest.mark.parametrize("kind", IN_JOB)
def test_a_buffer_of_the_jobs_own_is_seen_from_inside_the_job(
    slurm: Testbed, make_case: Any, kind: str
) -> None:
    case = make_case(model="--interval 3", buffer=IN_JOB[kind], placement="same-job")
    nvme = case.folder / "nvme"
    nvme.mkdir()
    os.chown(nvme, slurm.user.pw_uid, slurm.user.pw_gid)
    site = case.folder / "sites" / "bed.toml"
    site.write_text(site.read_text().replace('job_init = "', f'job_init = "export NVME={nvme};'))
    driver = case.launch()
    case.await_event("product.published")
    assert len(case.jobs()) == 1, "all is inside one job"
    assert "viewing.started" in [line["event"] for line in case.journal()]
    assert case.wait(driver).code == 0, case.said()
    assert not case.faults(), case.said()
    assert not list(nvme.iterdir())


@pytest.mark.fault
@pytest.mark.slow
def test_a_job_with_its_own_buffer_outlives_the_driver_and_is_found_again(
    make_case: Any,
) -> None:
    case = make_case(model=WAITS, buffer=IN_JOB["jobdw"], placement="same-job")
    driver = case.launch()
    case.await_event("product.published")
    driver.kill()
    driver.wait()
    case.go_on()
    case.finish()
    assert not case.faults(), case.said()
    assert len(case.jobs()) == 1
    assert {line.get("attempt", 1) for line in case.journal()} == {1}


@pytest.mark.slow
def test_a_shared_folder_is_a_buffer_on_any_slurm(make_case: Any) -> None:
    case = make_case(buffer='kind = "posix"\nfolders = ["HERE/buffer"]')
    assert case.wait(case.launch()).code == 0, case.said()
    assert not case.faults(), case.said()
    assert not list(case.buffer.glob("*/*"))


def test_a_buffer_folder_that_may_not_be_written_is_named(make_case: Any) -> None:
    case = make_case(buffer='kind = "posix"\nfolders = ["/etc/ssl/private/no"]')
    life = case.wait(case.launch())
    assert life.code == 1
    assert "there is no folder for the buffer: /etc/ssl/private/no" in life.said
    assert "Permission denied" in life.said
    assert "names another folder" in life.said


@pytest.mark.slow
def test_a_disk_of_the_node_that_may_not_be_written_is_named(
    slurm: Testbed, make_case: Any
) -> None:
    case = make_case(buffer=IN_JOB["node-local"], placement="same-job")
    site = case.folder / "sites" / "bed.toml"
    site.write_text(
        site.read_text().replace('job_init = "', 'job_init = "export NVME=/etc/ssl/private/no;')
    )
    life = case.wait(case.launch())
    assert life.code == 1
    assert "cannot make /etc/ssl/private/no" in life.said
    assert "(Permission denied)" in life.said


def test_stop_ends_a_job_that_still_waits(slurm: Testbed, make_case: Any) -> None:
    case = make_case(options='options = ["--begin=now+1hour"]')
    driver = case.launch()
    case.await_that(lambda: case.jobs("attempt-1"), "the simulation's job")

    def place():
        return json.loads((case.run / "status.json").read_text()).get("queue")

    case.await_that(place, "its place in the queue")
    assert place()["by"] == "Slurm"
    assert place()["start"] == pytest.approx(time.time() + 3600, abs=300)
    assert "by Slurm's estimate" in case.burstlens("status", "r").said
    assert case.burstlens("stop", "r").code == 0
    life = case.wait(driver, 60)
    assert life.code == 4, life.said
    assert not [job for job in case.jobs() if job["JobState"] == "PENDING"]
    status = json.loads((case.run / "status.json").read_text())
    assert status["state"] == "stopped"


@pytest.mark.fault
def test_the_scheduler_is_asked_less_and_less_often(make_case: Any) -> None:
    case = make_case(model="--interval 60")
    driver, launched = case.launch(counted=True), time.monotonic()

    def asked(*more: str) -> int:
        calls = [file.read_text().splitlines() for file in case.calls.glob("driver.*.calls")]
        queries = ("start scontrol", "start squeue", "start sacct", *more)
        return sum(call in queries for file in calls for call in file)

    case.await_event("frame.ready", 1)
    time.sleep(max(0.0, launched + 60 - time.monotonic()))
    assert asked("start sbatch", "start scancel") < 12, "in the first minute"
    case.await_event("frame.ready", 2)

    before, begin = asked(), time.monotonic()
    case.await_event("frame.ready", 3)
    jobs, seconds = 2, time.monotonic() - begin
    assert asked() - before <= jobs * (1 + seconds / 30)
    assert case.wait(driver).code == 0, case.said()


@pytest.mark.slow
def test_the_five_steps_of_the_talk_are_one_recipe(slurm: Testbed, make_case: Any) -> None:
    case = make_case(model="--interval 3")
    settings = {"inputs": case.inputs, "variable": "W", "product.map.level": 3, "capacity": "1 GiB"}
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    driver = case.start("run", "wrf-live", "--site", "bed", "--name", "r", *words)
    case.await_event("product.published")
    assert case.buffer_name() in slurm.burst()
    assert case.wait(driver).code == 0, case.said()
    assert not slurm.burst()
    assert len(list((case.run / "products" / "map").glob("*.png"))) == 3
    assert len(list((case.run / "products" / "wind").glob("*.vts"))) == 3
