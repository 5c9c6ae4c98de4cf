"""What the client of Slurm reports where there is no Slurm to talk to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from burstlens.cluster_configs.slurm import Slurm, SlurmError

UNCONFIGURED = """\
sbatch: error: fetch_config: DNS SRV lookup failed
sbatch: error: _establish_config_source: failed to fetch config
sbatch: fatal: Could not establish a configuration source
"""


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
