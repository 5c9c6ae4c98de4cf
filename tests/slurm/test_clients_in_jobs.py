"""C programs that use libdatawarp, inside a Slurm job of two nodes with a buffer of its own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from emulated import build_emulator
from testbed import Testbed

CLIENTS = Path(__file__).parents[1] / "stagers" / "clients"
JOB = """\
#!/bin/bash
#DW jobdw type=scratch access_mode=striped capacity=1GiB
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
cd $DW_JOB_STRIPED
head -c 3000000 /dev/urandom | tee {pfs}/sent > frame
head -c 1000 /dev/urandom | tee {pfs}/late-sent > late
on() {{ node=$1; shift; srun --nodes=1 --ntasks=1 --nodelist=$node "$@"; }}
one=$(scontrol show hostnames | head -1); other=$(scontrol show hostnames | tail -1)
export DW_EMULATOR_BANDWIDTH=3000000
on $one {clients}/dwcall file_out $PWD/frame {pfs}/frame now
on $one {clients}/dwcall file_out $PWD/late {pfs}/late later
on $other {clients}/dwcall query_file $PWD/frame
on $other {clients}/dwcall file_out $PWD/frame {pfs}/again now
on $other {clients}/poll $PWD/frame
on $other {clients}/dwcall wait_file $PWD/frame
on $other {clients}/dwcall query_file $PWD/frame
on $other {clients}/dwcall query_file $PWD/late
on $other {clients}/dwcall terminate_file $PWD/frame
on $other {clients}/dwcall query_file $PWD/frame
"""


@pytest.fixture
def clients(slurm: Testbed) -> Path:
    prefix = slurm.root / "clients"
    build_emulator(prefix)
    environment = os.environ | {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    words = ["pkg-config", "--cflags", "--libs", "cray-datawarp"]
    found = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    for name in ("dwcall", "poll"):
        command = ["cc", str(CLIENTS / f"{name}.c"), "-o", str(prefix / name)]
        subprocess.run([*command, "-pthread", *found.stdout.split()], check=True)
    return prefix


def test_a_stage_of_one_node_is_followed_from_another_and_the_jobs_end_brings_the_rest(
    slurm: Testbed, clients: Path
) -> None:
    pfs = slurm.folder("pfs-of-clients")
    job = slurm.submit(JOB.format(pfs=pfs, clients=clients), cwd=pfs)
    assert slurm.wait(job)["JobState"] == "COMPLETED"
    lines = (pfs / f"slurm-{job}.out").read_text().splitlines()
    said = [line for line in lines if not line.startswith("srun: ")]  # that a step had to wait
    started, late, asked, second, polled, waited, done, deferred, given_up, never = said
    assert (started, late, waited, given_up) == ("0", "0", "0", "0"), said
    assert asked.split() == ["0", "0", "1", "0", "0"], "complete, pending, deferred, failed"
    assert second == "-16", "a second stage of an active file: EBUSY"
    assert polled.startswith("complete"), said
    assert done.split() == ["0", "1", "0", "0", "0"]
    assert deferred.split() == ["0", "0", "0", "1", "0"]
    assert never.split()[0] == "-22", "what was terminated was never staged: EINVAL"
    assert (pfs / "frame").read_bytes() == (pfs / "sent").read_bytes()
    assert (pfs / "late").read_bytes() == (pfs / "late-sent").read_bytes(), "not brought at the end"
    slurm.clear()
