"""qsub, qstat, qselect and qdel over the testbed's Slurm, by OpenPBS's manual pages.

Called by a link with the command's name, with the options that the walk of docs/adding.md and
Parsl's PBSProProvider use. Debian's slurm-wlm-torque is of no use here: its qsub reads no script
from its input, its qstat has neither -x nor variables. What this cannot show is how a PBS server
behaves: times, messages and limits are Slurm's.
"""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from argparse import ArgumentParser
from pathlib import Path

SERVER = ".testbed"
UNKNOWN, FINISHED = 153, 35
LETTERS = {"PENDING": "Q", "RUNNING": "R", "CONFIGURING": "R", "COMPLETING": "E"}
"""Slurm's states by qstat's letters; what is over is F."""
SIGNALS = {"CANCELLED": 15, "TIMEOUT": 15, "NODE_FAIL": 9}


def slurm(*words: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, input=given, capture_output=True, text=True, check=False)


def options() -> ArgumentParser:
    """What qsub takes, from the command line and from a script's #PBS lines."""
    parser = ArgumentParser()
    for letter in "qANojSmePkr":
        parser.add_argument(f"-{letter}")
    for letter in "lWv":
        parser.add_argument(f"-{letter}", action="append", default=[])
    for letter in "fV":
        parser.add_argument(f"-{letter}", action="store_true")
    parser.add_argument("script", nargs="?")
    return parser


def qsub(*argv: str) -> None:
    """Prints the job's id."""
    script = options().parse_args(argv).script
    text = Path(script).read_text() if script else sys.stdin.read()
    header = [line.split()[1:] for line in text.splitlines() if line.startswith("#PBS ")]
    asked = options().parse_args([*(word for words in header for word in words), *argv])
    resources = dict(one.split("=", 1) for one in asked.l)
    nodes, *chunk = resources["select"].split(":")
    each = dict(one.split("=", 1) for one in chunk)
    words = ["sbatch", "--parsable", f"--job-name={asked.N}", f"--output={asked.o}"]
    words += [f"--nodes={nodes}", f"--time={resources['walltime']}"]
    if "mpiprocs" in each:
        words += [f"--ntasks-per-node={each['mpiprocs']}"]
    else:
        words += ["--ntasks-per-node=1", f"--cpus-per-task={each['ncpus']}"]
    words += [] if asked.j == "oe" else [f"--error={asked.e}"]
    words += ["--no-requeue"] if asked.r == "n" else []
    words += [f"--comment={','.join(asked.v)}", f"--export={','.join(['ALL', *asked.v])}"]
    first, _, rest = text.partition("\n")
    text = f"{first}\nexport PBS_JOBID=$SLURM_JOB_ID{SERVER} PBS_O_HOST=login\n{rest}"
    for one in asked.W:
        words += [f"--{one.replace('depend', 'dependency').replace(SERVER, '')}"]
    done = slurm(*words, given=text)
    sys.stderr.write(done.stderr)
    print(done.stdout.strip() + SERVER if done.stdout else "")
    sys.exit(done.returncode)


def fields(job_id: str) -> dict[str, str]:
    """What Slurm says of a job; ends like qstat when there is none."""
    said = slurm("scontrol", "--oneliner", "show", "job", job_id.removesuffix(SERVER))
    if said.returncode:
        sys.stderr.write(f"qstat: Unknown Job Id {job_id}\n")
        sys.exit(UNKNOWN)
    parts = re.split(r"(?:^|\s)([A-Z][\w/:]*)=", said.stdout.strip())
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def qstat(*argv: str) -> None:
    """-x -f ID ...: all attributes of the jobs, long ones broken as PBS breaks them."""
    assert argv[:2] == ("-x", "-f")
    for job_id in argv[2:]:
        found = fields(job_id)
        state = found["JobState"]
        variables = ["PBS_O_HOME=/home/ada", "PBS_O_SHELL=/bin/bash"]
        variables += [found["Comment"]] if "Comment" in found else []  # another test's job has none
        said = {
            "Job_Name": found["JobName"],
            "Job_Owner": f"{found['UserId'].partition('(')[0]}@testbed",
            "job_state": LETTERS.get(state, "F"),
            "Variable_List": ",".join(variables),
            "comment": f"Not Running: {found['Reason']}",
        }
        if said["job_state"] == "F":
            code = int(found["ExitCode"].partition(":")[0])
            said["Exit_status"] = str(256 + SIGNALS[state] if state in SIGNALS else code)
        print(f"Job Id: {job_id}")
        for name, value in said.items():
            whole = textwrap.wrap(f"{name} = {value}", 72, drop_whitespace=False)
            print("    " + "\n\t".join(whole))


def qselect(*argv: str) -> None:
    """-x -u USER: the ids of all of the user's jobs."""
    assert argv[:2] == ("-x", "-u")
    for job_id in slurm("squeue", "-h", "-t", "all", "-u", argv[2], "-o", "%i").stdout.split():
        print(job_id + SERVER)


def qdel(*argv: str) -> None:
    """ID ...: cancels jobs."""
    for job_id in argv:
        if fields(job_id)["JobState"] not in LETTERS:
            sys.stderr.write(f"qdel: Job has finished {job_id}\n")
            sys.exit(FINISHED)
        slurm("scancel", job_id.removesuffix(SERVER))


if __name__ == "__main__":
    name = Path(sys.argv[0]).name
    {"qsub": qsub, "qstat": qstat, "qselect": qselect, "qdel": qdel}[name](*sys.argv[1:])
