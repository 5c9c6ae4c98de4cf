"""Runs on a real Slurm whose nodes have a disk each, which nothing but the job's processes see."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from run_case import WAITS
from testbed import Testbed

pytestmark = pytest.mark.slow

BUFFER = 'kind = "posix"\nfolders = ["{}/$USER"]\nnode_local = true'
LAUNCHER = 'mpi_launcher = ["srun", "--ntasks={ranks}", "--ntasks-per-node={ranks_per_node}"]'
# Rank 0 writes, as WRF's does with io_form 2; the others read their node's inputs and log.
RANKS = """\
#!/bin/sh
if [ "$SLURM_PROCID" != 0 ]; then
    { pwd; cat namelist.input; echo "$SLURMD_NODENAME"; } > "rsl.out.rank$SLURM_PROCID"
    exit
fi
"""


@pytest.fixture
def on_disks(slurm: Testbed, make_case: Any) -> Any:
    """A run on so many nodes, one rank on each."""
    if not slurm.daemons.nodes_have_disks():
        pytest.skip("this machine lets root mount nothing")

    def make(nodes: int, model: str = WAITS) -> Any:
        buffer = BUFFER.format(slurm.daemons.nvme)
        case = make_case(model=model, buffer=buffer, placement="same-job")
        site = case.folder / "sites" / "bed.toml"
        site.write_text(f"{LAUNCHER}\n{site.read_text()}")
        recipe = case.folder / "r.toml"
        sized = f"[simulation]\nnodes = {nodes}\n"
        recipe.write_text(recipe.read_text().replace("[simulation]\n", sized))
        program = case.inputs / "wrf.exe"
        program.write_text(program.read_text().replace("#!/bin/sh\n", RANKS))
        return case

    return make


def left(slurm: Testbed) -> str:
    """What lies on the disks of both nodes, as a job sees it."""
    output = slurm.folder("left") / "said"
    script = f"#!/bin/sh\n#SBATCH -N2 -o {output}\nsrun find {slurm.daemons.nvme} -mindepth 2\n"
    slurm.wait(slurm.submit(script))
    return output.read_text()


def test_ranks_on_several_nodes_have_inputs_there_and_products_come_while_they_run(
    slurm: Testbed, on_disks: Any
) -> None:
    case = on_disks(nodes=2)
    driver = case.launch()
    case.await_event("product.published")
    assert not (case.run / "attempts" / "1" / "ended.json").exists(), "nothing came while it ran"
    (job,) = case.jobs()
    assert job["NumNodes"] == "2"
    assert not list(slurm.daemons.nvme.iterdir()), "a login node sees the disks"
    case.go_on()
    assert case.wait(driver).code == 0, case.said()
    assert not case.faults(), case.said()
    home = case.run / "logs" / "attempt-1"
    place, *namelist, node = (home / "rsl.out.rank1").read_text().splitlines()
    root = slurm.daemons.nvme / slurm.user.pw_name
    facts = json.loads((case.run / "run.json").read_text())
    assert place == f"{root}/{facts['buffer_folder']}/1"
    assert "\n".join([*namelist, ""]) == (case.inputs / "namelist.input").read_text()
    assert node == "dwn2"
    events = [line["event"] for line in case.journal()]
    assert events.index("simulation.submitted") < events.index("stagein.done")
    assert str(slurm.daemons.nvme) not in (case.run / "journal.jsonl").read_text()
    assert left(slurm) == ""


def test_a_run_whose_job_has_ended_says_that_its_frames_are_gone_and_starts_again(
    slurm: Testbed, on_disks: Any
) -> None:
    case = on_disks(nodes=1)
    driver = case.launch()
    case.await_event("product.published")
    (job,) = case.jobs()
    driver.kill()
    driver.wait()
    slurm.run(["scancel", job["JobId"]])
    slurm.wait(job["JobId"])
    case.go_on()
    case.finish()
    assert not case.faults(), case.said()
    alarms = [line["text"] for line in case.journal() if line["event"] == "alarm"]
    (alarm,) = [text for text in alarms if "buffer" in text]
    assert alarm == (
        "the buffer of attempt 1 is gone with its raw frames: the simulation starts again from its "
        "inputs, as attempt 2"
    )
    assert Path(case.run / "attempts" / "2" / "ended.json").exists()


def test_a_job_that_ends_under_its_driver_ends_the_run_which_can_be_resumed(
    slurm: Testbed, on_disks: Any
) -> None:
    case = on_disks(nodes=1)
    driver = case.launch()
    case.await_event("product.published")
    (job,) = case.jobs()
    slurm.run(["scancel", job["JobId"]])
    life = case.wait(driver)
    assert life.code == 1, life.said
    # With the model's end, where the driver heard of it after the job's, else with the job's own.
    assert life.said.count(f"job {job['JobId']}: CANCELLED") == 1, life.said
    ended = r"the job with the buffer has ended(?: \(job .*\))?, and with it the raw frames"
    assert re.search(ended, life.said), life.said
    assert "burstlens resume r" in life.said
    status = json.loads((case.run / "status.json").read_text())
    assert status["state"] == "failed"
    case.go_on()
    case.finish()
    assert not case.faults(), case.said()
