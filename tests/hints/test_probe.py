"""``burstlens sites --probe-io``, with Debian's MPICH, and with programs that fail."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from program import as_text, burstlens

from burstlens.cluster_configs.scheduler import BatchSite
from burstlens.cluster_configs.site import SITES, read
from burstlens.core.errors import SiteError
from burstlens.workflows.hints.probe import launcher_words, probe

pytestmark = pytest.mark.integration

HINTS = {"*": {"cb_nodes": 2, "romio_ds_write": "disable"}}
RECIPE = """\
title = "hints"
[simulation]
model = "command"
inputs = "."
command = ["true"]
[simulation.mpiio_hints]
"wrfout*" = { cb_nodes = 2, striping_factor = 4, romio_cb_rite = "disable" }
"""


@pytest.fixture
def called(mpich, tmp_path):
    """``burstlens sites`` with these words, where MPICH is on PATH and the buffer is empty."""
    buffer = tmp_path / "buffer"
    buffer.mkdir()

    def call(*words, path=str(mpich)):
        environment = {
            **os.environ,
            "PATH": os.pathsep.join([path, "/usr/bin", "/bin"]),
            "BURSTLENS_BUFFER": str(buffer),
            "TMPDIR": str(tmp_path),
        }
        done = as_text(burstlens(["sites", *words], tmp_path, environment, 120))
        assert not [*tmp_path.glob("burstlens-probe-*"), *buffer.glob("*/*")]
        return done

    return call


@pytest.fixture
def site(mpich):
    """The local site with MPICH's compiler and launcher."""
    local = read(SITES / "local.toml")
    launcher = (str(mpich / "mpiexec"), "-n", "{ranks}")
    return replace(local, mpi="romio", mpi_launcher=launcher, mpi_compiler=(str(mpich / "mpicc"),))


@pytest.fixture
def probed(tmp_path):
    """Probes a site in folders of its own."""

    def run(site, hints=HINTS, ranks=2, **more):
        for name in ("build", "files"):
            (tmp_path / name).mkdir()
        return probe(site, hints, ranks=ranks, build=tmp_path / "build",
                     folder=tmp_path / "files", **more)  # fmt: skip

    return run


@pytest.fixture
def script(tmp_path):
    """Makes a program that runs this shell script."""

    def make(name, text):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    return make


def test_each_usual_hint_arrives_on_this_machine(called):
    done = called("--probe-io", "local")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("site local: MPICH Version: 4")
    assert "each hint arrived" in done.stdout


def test_hints_of_a_recipe_in_json_with_one_that_does_not_arrive(called, tmp_path):
    (tmp_path / "hints.toml").write_text(RECIPE)
    done = called("--probe-io", "--recipe", "hints.toml", "--ranks", "2", "--json")
    assert (done.returncode, done.stderr) == (1, "")
    found = json.loads(done.stdout)
    assert (found["mpi"], found["ranks"], found["arrived"]) == ("romio", 2, False)
    assert {row["hint"]: row["verdict"] for row in found["hints"]} == {
        "cb_nodes": "in force",
        "striping_factor": "no effect on UFS",
        "romio_cb_rite": "not in force",
        "cb_config_list": "in force",
    }


def test_a_site_file_with_the_wrong_mpi_is_found_out(called, tmp_path):
    text = (SITES / "local.toml").read_text()
    (tmp_path / "wrong.toml").write_text(f'mpi = "cray-mpich"\n{text}')
    done = called("--probe-io", "./wrong.toml")
    assert done.returncode == 1
    assert "4 of 4 hints did not arrive" in done.stdout
    assert 'write mpi = "romio" in it' in done.stdout


def test_without_a_compiler_it_says_what_to_do(called, tmp_path):
    text = (SITES / "local.toml").read_text()
    (tmp_path / "bare.toml").write_text(f'mpi = "romio"\nmpi_compiler = ["mpicc-none"]\n{text}')
    done = called("--probe-io", "./bare.toml")
    assert done.returncode == 1
    assert "there is no mpicc-none on PATH" in done.stderr
    assert "mpi_compiler in a site file" in done.stderr


def test_a_site_without_mpi_and_a_recipe_without_hints_have_nothing_to_probe(called, tmp_path):
    done = called("--probe-io", "slurm-datawarp")
    assert (done.returncode, done.stdout) == (1, "")
    assert "there is nothing to probe" in done.stderr
    (tmp_path / "plain.toml").write_text(RECIPE.partition("[simulation.mpiio")[0])
    done = called("--probe-io", "--recipe", "plain.toml")
    assert "has no simulation.mpiio_hints" in done.stderr


def test_a_pattern_in_a_folder_is_probed_there(called, tmp_path):
    text = RECIPE.replace('"wrfout*" = { cb_nodes = 2, striping_factor = 4, romio_cb_rite',
                          '"out/wrf*" = { cb_nodes = 2, romio_cb_write')  # fmt: skip
    (tmp_path / "deep.toml").write_text(text)
    done = called("--probe-io", "--recipe", "deep.toml", "--ranks", "2")
    assert (done.returncode, done.stderr) == (0, "")


def test_recipe_needs_probe_io(called):
    assert called("--recipe", "x.toml").returncode == 2


def test_a_compiler_that_fails_shows_its_error(site, probed, script):
    compiler = script("cc", "echo 'x.c:3: error: no mpi.h'; echo 'compilation terminated.'; exit 1")
    with pytest.raises(SiteError, match=r"the compiler failed with 1: x[.]c:3: error: no mpi[.]h"):
        probed(replace(site, mpi_compiler=(compiler,)))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("echo 'no slots'; exit 3", "the probe failed with 3: no slots"),
        ("exit 0", "the probe printed no end: nothing at all"),
        ('shift 2; "$@"; "$@"', "programs of 1 rank instead of one of 2"),
    ],
)
def test_a_launcher_that_fails_does_nothing_or_is_another_mpi_s(site, probed, script, text, why):
    with pytest.raises(SiteError, match=why):
        probed(replace(site, mpi_launcher=(script("launch", text), "-n", "{ranks}")))


def test_a_launcher_that_is_missing(site, probed, tmp_path):
    with pytest.raises(SiteError, match=r"the probe cannot be started: .*No such file"):
        probed(replace(site, mpi_launcher=(str(tmp_path / "none"), "-n", "{ranks}")))


def test_a_launcher_that_hangs_is_ended_with_all_that_it_started(site, probed, script, tmp_path):
    launcher = script("launch", f"sleep 300 & echo $! > {tmp_path}/pid; trap '' TERM; wait")
    begin = time.monotonic()
    with pytest.raises(SiteError, match=r"the probe did not end within 0\.5 s"):
        probed(replace(site, mpi_launcher=(launcher,)), limit_s=0.5)
    assert time.monotonic() - begin < 120
    pid = int((tmp_path / "pid").read_text())
    status = Path(f"/proc/{pid}/stat")
    assert not status.exists() or status.read_text().split()[2] == "Z"


def test_a_folder_that_cannot_be_written_is_named(site, probed, tmp_path):
    launcher = (sys.executable, "-c", "import os, sys; os.chdir('/proc'); "
                f"os.execv({site.mpi_launcher[0]!r}, ['mpiexec', *sys.argv[1:]])",
                "-n", "{ranks}")  # fmt: skip
    with pytest.raises(SiteError, match="the probe cannot write probe: "):
        probed(replace(site, mpi_launcher=launcher))


def test_modules_of_the_site_are_loaded_for_compiler_and_launcher(site, probed, tmp_path):
    loaded = tmp_path / "loaded"
    batch = BatchSite(job_init=f"echo module >> {loaded}")
    assert probed(replace(site, batch=batch)).arrived
    assert loaded.read_text() == "module\nmodule\n"


def test_from_a_login_node_srun_asks_for_a_node_as_the_site_s_jobs_do(monkeypatch):
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    words = launcher_words(read(SITES / "cori.toml"), 4)
    assert words == [
        "srun", "--ntasks=4", "--ntasks-per-node=4", "--kill-on-bad-exit=1", "--nodes=1",
        "--time=5", "--qos=regular", "--constraint=haswell",
    ]  # fmt: skip
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert launcher_words(read(SITES / "cori.toml"), 4) == words[:4]


def test_a_launcher_that_cannot_ask_for_nodes_is_used_inside_a_job_only(monkeypatch):
    for name in ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"):
        monkeypatch.delenv(name, raising=False)
    cluster = replace(read(SITES / "slurm.toml"), mpi_launcher=("mpiexec", "-n", "{ranks}"))
    with pytest.raises(SiteError, match="run this inside a job of site slurm"):
        launcher_words(cluster, 4)
    monkeypatch.setenv("PBS_JOBID", "7")
    assert launcher_words(cluster, 4) == ["mpiexec", "-n", "4"]
