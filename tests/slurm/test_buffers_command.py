"""``burstlens buffers`` beside a real Slurm with burst buffers."""

from __future__ import annotations

import json

import pytest

SITE = ("--site", "slurm-datawarp")
RECIPE = """\
title = "A model that fails"
[simulation]
model = "command"
command = ["./model.sh"]
frames = "out_*.nc"
inputs = "inputs"
[buffer]
capacity = "30 GiB"
[[product]]
name = "t2"
kind = "map"
variable = "T2"
"""


def report(slurm, folder):
    done = slurm.run(["burstlens", "buffers", *SITE, "--json"], cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def clean(slurm):
    yield slurm
    slurm.clear()


def test_a_failed_run_leaves_a_buffer_that_is_shown_with_what_frees_it(clean):
    folder = clean.folder("failing")
    inputs = clean.folder("failing/inputs")
    (inputs / "model.sh").write_text("#!/bin/sh\nexit 3\n")
    (inputs / "model.sh").chmod(0o755)
    (folder / "any.toml").write_text(RECIPE)
    done = clean.run(["burstlens", "run", "any.toml", *SITE, "--name", "storm-1"], cwd=folder)
    assert done.returncode == 1, done.stdout + done.stderr

    found = report(clean, folder)
    (pool,) = found["pools"]
    assert (pool["name"], pool["granule"], pool["total"]) == ("wlm_pool", 20 * 10**9, 10**13)
    assert pool["free"] == pool["total"] - 40 * 10**9
    (buffer,) = found["buffers"]
    assert (buffer["run"], buffer["run_state"]) == ("storm-1", "failed")
    assert (buffer["size"], buffer["state"]) == (40 * 10**9, "allocated")
    assert (buffer["user"], buffer["holders"]) == (clean.user.pw_name, [])
    assert 0 <= buffer["age_s"] < 120
    assert buffer["free_with"] == "burstlens free storm-1"

    assert clean.run(buffer["free_with"].split(), cwd=folder).returncode == 0
    assert report(clean, folder)["buffers"] == []


def test_jobs_that_hold_a_buffer_are_shown_with_their_run(clean):
    made = clean.submit(
        "#!/bin/sh\n#BB create_persistent name=shared capacity=1GiB access=striped type=scratch\n"
    )
    clean.wait(made)
    holding = "#!/bin/sh\n#SBATCH --comment=storm-2\n#DW persistentdw name=shared\n{}sleep 600\n"
    own = "#DW jobdw type=scratch access_mode=striped capacity=1GiB\n"
    jobs = [clean.submit(holding.format(more)) for more in ("", own)]
    bystander = clean.submit("#!/bin/sh\n#SBATCH --comment=storm-2\nsleep 600\n")
    for job in (*jobs, bystander):
        clean.wait(job, "RUNNING")
    held = [f"job {job} of {clean.user.pw_name}, running, run storm-2" for job in jobs]
    rows = {row["name"]: row for row in report(clean, clean.home)["buffers"]}
    assert rows["shared"]["holders"] == held
    assert rows[f"(of job {jobs[1]})"]["holders"] == held[1:]
    assert len(rows) == 2  # a job that only mounts a buffer has none of its own
    assert rows["shared"]["free_with"] == ""


@pytest.mark.fault
@pytest.mark.slow
def test_without_an_answer_of_slurm_one_line_says_so(slurm):
    slurm.daemons.stop("slurmctld")
    try:
        done = slurm.run(["burstlens", "buffers", *SITE], timeout=120)
    finally:
        slurm.daemons.start("slurmctld")
    assert done.returncode == 1
    assert done.stderr.startswith("burstlens: scontrol: ")
    assert done.stderr.count("\n") == 1
