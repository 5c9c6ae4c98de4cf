"""A driver that outlives its login shell."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from burstlens.cluster_configs.site import SITES, known, read
from burstlens.core.errors import SiteError
from burstlens.core.run.directory import RunDir
from burstlens.workflows.driver.detach import driver_job, is_ended_at_logout, submit_driver
from burstlens.workflows.plan.commands import new_run


@pytest.mark.slow
def test_a_detached_run_outlives_the_shell_that_started_it(own_runs):
    own_runs.prepare("storm", "--interval 0.3")
    words = " ".join([sys.executable, "-m", "burstlens", *own_runs.words("storm")])
    shell = subprocess.Popen(
        ["sh", "-c", f"{words} --detach --json; sleep 600"],
        cwd=own_runs.folder, env=os.environ | own_runs.environment, stdout=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip
    printed = json.loads(shell.stdout.readline())
    assert printed == {"run": "storm", "path": str(own_runs.runs / "storm")}
    claim = json.loads((own_runs.runs / "storm" / "driver-1").read_text())
    assert os.getsid(claim["pid"]) == claim["pid"] != shell.pid
    os.killpg(shell.pid, signal.SIGHUP)
    os.killpg(shell.pid, signal.SIGKILL)  # where the tests run under nohup
    shell.communicate()
    log = own_runs.runs / "storm" / "logs" / "driver.log"
    own_runs.await_that(lambda: "run.ended" in own_runs.events("storm"), "storm/logs/driver.log")
    own_runs.await_that(lambda: " ended " in log.read_text(), "storm/logs/driver.log")
    assert "\x1b" not in log.read_text()
    assert own_runs.call("status", "storm").stdout.startswith("storm: done\n")


def test_a_run_that_may_not_be_written_is_not_resumed_and_the_error_says_so(
    burstlens, recipe_file, tmp_path, monkeypatch
):
    monkeypatch.setenv("BURSTLENS_RUNS", str(tmp_path / "runs"))
    run, _ = new_run(str(recipe_file()), None, name="storm")
    run.logs.chmod(0o555)
    try:
        done = burstlens("resume", "storm", "--detach", ordinary=True)
    finally:
        run.logs.chmod(0o755)
    assert done.returncode == 1
    assert done.stderr.startswith(
        f"burstlens: cannot write {run.logs / 'driver.log'}: Permission denied\n"
    )


def test_a_driver_that_ends_at_once_is_reported_with_its_message_and_how_to_resume(
    burstlens, recipe_file, tmp_path, monkeypatch
):
    monkeypatch.setenv("BURSTLENS_RUNS", str(tmp_path / "runs"))
    site = tmp_path / "mine.toml"
    site.write_text(known()["local"].read_text())
    new_run(str(recipe_file()), str(site), name="storm")
    site.unlink()
    done = burstlens("resume", "storm", "--detach")
    assert done.returncode == 1
    assert re.fullmatch(
        r"burstlens: the driver ended at once: [^\n]*mine\.toml[^\n]*\n"
        r"go on with: burstlens resume storm --detach\n",
        done.stderr,
    ), done.stderr
    assert done.stderr.count("burstlens: ") == 1


@pytest.mark.integration
def test_a_driver_cannot_be_a_batch_job_without_a_scheduler(recipe_file, tmp_path, monkeypatch):
    monkeypatch.setenv("BURSTLENS_RUNS", str(tmp_path / "runs"))
    run, _ = new_run(str(recipe_file()), name="storm")
    with pytest.raises(SiteError, match="--batch: site local has no scheduler; --detach serves"):
        submit_driver(run)
    assert not list(run.path.glob("steps/*"))


@pytest.mark.parametrize(
    ("main", "more", "ends"),
    [
        ("", {}, False),
        ("[Login]\nKillUserProcesses=yes\n", {}, True),
        ("[Login]\n#KillUserProcesses=yes\n", {}, False),
        ("[Login]\nKillUserProcesses=yes\n", {"10-a.conf": "KillUserProcesses=no"}, False),
        ("", {"10-a.conf": "KillUserProcesses=no", "20-b.conf": "KillUserProcesses=1"}, True),
        ("[Login]\nKillUserProcesses=perhaps\n", {}, False),
        ("no section = here\n", {"10-a.conf": "KillUserProcesses=true"}, True),
    ],
)
def test_whether_a_logout_ends_what_runs_is_read_as_systemd_does(tmp_path: Path, main, more, ends):
    (tmp_path / "logind.conf").write_text(main)
    folder = tmp_path / "logind.conf.d"
    folder.mkdir()
    for name, line in more.items():
        (folder / name).write_text(f"[Login]\n{line}\n")
    assert is_ended_at_logout(tmp_path) is ends


@pytest.mark.parametrize(
    ("level", "lines"), [("debug", "export BURSTLENS_LOG=debug\n"), ("info", ""), ("", "")]
)
def test_the_level_of_the_logs_reaches_a_driver_in_a_batch_job(tmp_path, monkeypatch, level, lines):
    monkeypatch.setenv("BURSTLENS_LOG", level)
    site = read(SITES / "slurm.toml")
    job = driver_job(RunDir(tmp_path / "r"), site, "r-1", 1)
    assert job.init == lines + site.batch.job_init
