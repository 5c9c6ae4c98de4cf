"""The scheduler of docs/adding.md, PBS, over commands with PBS's names and the testbed's Slurm.

It shows that the walk's class and Burstlens fit together, not that a PBS server does.
"""

from __future__ import annotations

import importlib
import re
import subprocess
from pathlib import Path

import pytest

from burstlens.cluster_configs.scheduler import BatchSite
from burstlens.cluster_configs.scheduler_contract import SchedulerContract
from burstlens.cluster_configs.schedulers import scheduler as scheduler_class

HERE = Path(__file__).parent
WALK = (HERE.parents[1] / "docs" / "adding.md").read_text().partition("## A scheduler\n")[2]
SITE = """
scheduler = "pbs"
mpi_launcher = ["srun", "--ntasks={{ranks}}"]
[buffer]
kind = "posix"
folders = ["{folder}/buffer"]
[viewing]
placement = "separate"
workers = 1
poll_interval_s = 0.1
[pbs]
query_interval_s = 2
"""


@pytest.fixture
def pbs(slurm):
    """The variables of a user whose PATH has PBS's commands, with the walk's class as a plugin."""
    place = slurm.root / "pbs"
    if not place.exists():
        about = place / "burstlens_pbs-1.0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: burstlens_pbs\nVersion: 1\n")
        (about / "entry_points.txt").write_text("[burstlens.schedulers]\npbs=burstlens_pbs:PBS\n")
        code = re.findall(r"```python\n(.*?)```", WALK, re.DOTALL)[0]
        (place / "burstlens_pbs.py").write_text(code)
        text = (HERE / "pbs" / "commands.py").read_text()
        for name in ("qsub", "qstat", "qselect", "qdel"):
            (place / name).write_text(f"#!/usr/bin/python3\n{text}")
            (place / name).chmod(0o755)
    return {"PATH": f"{place}:{slurm.env['PATH']}", "PYTHONPATH": str(place)}


class TestPBS(SchedulerContract):
    @pytest.fixture
    def scheduler(self, slurm, pbs, monkeypatch):
        monkeypatch.setenv("SLURM_CONF", slurm.env["SLURM_CONF"])
        monkeypatch.setenv("PATH", pbs["PATH"])
        monkeypatch.syspath_prepend(pbs["PYTHONPATH"])
        scheduler_class.cache_clear()
        yield importlib.import_module("burstlens_pbs").PBS(BatchSite(query_interval_s=1.0))
        scheduler_class.cache_clear()
        slurm.clear()

    @pytest.fixture
    def folder(self, tmp_path):
        return tmp_path

    def test_a_job_of_the_user_s_without_a_comment_is_none_of_a_run_s(self, scheduler):
        subprocess.run(
            ["sbatch", "--output=/dev/null", "--wrap=true"], check=True, capture_output=True
        )
        assert scheduler.jobs("a-run") == []


def test_a_run_is_submitted_to_pbs_and_its_products_are_published(pbs, make_case):
    case = make_case(buffer='kind = "posix"\nfolders = ["HERE/buffer"]')
    case.environment |= pbs
    (case.folder / "sites" / "bed.toml").write_text(SITE.format(folder=case.folder))
    assert case.wait(case.launch()).code == 0, case.said()
    assert not case.faults(), case.said()
    (submitted,) = [e for e in case.journal() if e["event"] == "simulation.submitted"]
    assert re.fullmatch(r"pbs:\d+\.testbed", submitted["job_id"])
    (block,) = case.jobs("parsl")
    assert block["Comment"] == "BURSTLENS_COMMENT=r"
    assert not list(case.buffer.glob("*/*"))


def test_a_run_on_pbs_that_is_stopped_leaves_no_job(pbs, make_case):
    case = make_case(model="--interval 60", buffer='kind = "posix"\nfolders = ["HERE/buffer"]')
    case.environment |= pbs
    (case.folder / "sites" / "bed.toml").write_text(SITE.format(folder=case.folder))
    driver = case.launch()
    case.await_event("frame.ready")
    assert case.burstlens("stop", "r", "--now").code == 0
    assert case.wait(driver).code == 4, case.said()
    assert not case.has_live(""), case.said()
