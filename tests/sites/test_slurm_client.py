"""What the client of Slurm reports where there is no Slurm to talk to."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from burstlens.cluster_configs.slurm import Slurm, SlurmError

UNCONFIGURED = """\
sbatch: error: fetch_config: DNS SRV lookup failed
sbatch: error: _establish_config_source: failed to fetch config
sbatch: fatal: Could not establish a configuration source
"""


MUNGE_DEAD = """\
{name}: error: If munged is up, restart with --num-threads=10
{name}: error: Munge encode failed: Failed to access "/run/munge.sock": No such file or directory \
(Did you start munged?)
{name}: error: slurm_send_node_msg: auth_g_create: {request} has authentication error
{last}: Protocol authentication error
"""
"""What Slurm 22.05 prints while munge is down; where its socket lies is the site's choice."""


@pytest.fixture
def path_without_slurm(tmp_path, monkeypatch) -> Path:
    """A folder with all programs of the PATH but Slurm's, which is the PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).glob("set*"):
            if not (folder / program.name).exists():
                (folder / program.name).symlink_to(program)
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def program(path_without_slurm) -> Callable[..., None]:
    """Puts a program on the PATH that prints what it is given, as one of Slurm's."""

    def made(name: str, said: str = "", *, errors: str = "", code: int = 0) -> None:
        for stream, text in ((".out", said), (".err", errors)):
            (path_without_slurm / (name + stream)).write_text(text)
        file = path_without_slurm / name
        lines = (f'while IFS= read -r line; do echo "$line"; done < "$0{stream}" >&{number}'
                 for number, stream in ((1, ".out"), (2, ".err")))  # fmt: skip
        file.write_text("\n".join(["#!/bin/sh", *lines, f"exit {code}", ""]))
        file.chmod(0o755)

    return made


def test_a_job_is_not_submitted_where_sbatch_is_missing_and_the_message_says_so(
    path_without_slurm,
):
    with pytest.raises(SlurmError, match=r"^sbatch is not on PATH: is this a login node of Slurm"):
        Slurm().submit("#!/bin/sh\n")


@pytest.mark.integration
def test_programs_of_slurm_without_its_configuration_are_reported_as_that(path_without_slurm):
    program = path_without_slurm / "sbatch"
    program.write_text(f"#!/bin/sh\nprintf '%s' '{UNCONFIGURED}' >&2\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(SlurmError) as caught:
        Slurm().submit("#!/bin/sh\n")
    assert str(caught.value) == (
        "sbatch: there is no configuration of Slurm: is this a login node of Slurm? "
        "(sbatch: fatal: Could not establish a configuration source)"
    )


@pytest.mark.integration
@pytest.mark.parametrize(
    ("name", "code", "request_", "last", "ask"),
    [
        ("scontrol", 1, "REQUEST_BURST_BUFFER_INFO", "slurm_load_burst_buffer_info error",
         lambda slurm: slurm.buffers()),
        ("squeue", 1, "REQUEST_JOB_INFO", "slurm_load_jobs error", lambda slurm: slurm.queue()),
        ("sbatch", 1, "REQUEST_SUBMIT_BATCH_JOB", "sbatch: error: Batch job submission failed",
         lambda slurm: slurm.submit("#!/bin/sh\n")),
        ("scancel", 239, "REQUEST_KILL_JOB", "scancel: error: Kill job error on job id 1",
         lambda slurm: slurm.cancel(["1"])),
    ],
)  # fmt: skip
def test_authentication_errors_pass_as_other_outages_do(program, name, code, request_, last, ask):
    program(name, errors=MUNGE_DEAD.format(name=name, request=request_, last=last), code=code)
    with pytest.raises(SlurmError) as caught:
        ask(Slurm(patience_s=0))
    assert caught.value.passing
