"""What `run` and `check` refuse: in one message, with what helps, and nothing is made."""

from __future__ import annotations

import re

import pytest

WRONG = """
titel = "Storm"
[simulation]
model = "wrff"
inputs = "inputs"
nodes = "many"
walltime = "3 parsecs"
[buffer]
capacity = "10 GiBB"
[[product]]
name = "t2"
kind = "mapp"
"""
PARAMETERS = """
title = "Storm"
[parameters]
inputs = { type = "path", help = "a WRF run directory" }
[simulation]
model = "wrf"
inputs = "{inputs}"
"""
REFUSED = {
    "an unknown recipe": (["seismic-basn"], r'no recipe "seismic-basn"; did you mean seismic-b'),
    "a recipe file that is not there": (["storm.toml"], r"there is no recipe file storm\.toml"),
    "an unknown site": (["any.toml", "--site", "lokal"], r'no site "lokal"; did you mean local\?'),
    "an unknown parameter": (
        ["parameters.toml", "--set", "imputs=/x"],
        r"imputs +is not a parameter of this recipe; did you mean inputs\?",
    ),
    "a parameter that is missing": (
        ["parameters.toml"],
        r"parameters\.inputs +is required \(a WRF run directory\): --set inputs=\.\.\.",
    ),
    "a setting without a value": (["any.toml", "--set", "inputs"], r"expected --set key=value"),
    "a wrong unit": (
        ["any.toml", "--set", "buffer.capacity=10 furlongs"],
        r"buffer\.capacity +expected a size such as \"600 GiB\" or \"1\.5 TB\", got '10 furlongs'",
    ),
    "a setting of an unknown product": (
        ["any.toml", "--set", "product.tt2.variable=T2"],
        r'there is no "tt2"; did you mean t2\?',
    ),
    "inputs that are not there": (
        ["parameters.toml", "--set", "inputs=nowhere"],
        r"simulation\.inputs: there is no folder .*/nowhere",
    ),
    "an executable that is not there": (
        ["parameters.toml", "--set", "inputs=inputs"],
        r"there is no executable wrf\.exe in .*/inputs",
    ),
    "a name with a space": (["any.toml", "--name", "a b"], r"--name 'a b': a run's name is"),
    "a batch job where there are none": (
        ["any.toml", "--batch"],
        r"--batch: site local has no scheduler; --detach serves there",
    ),
}


@pytest.mark.parametrize("what", REFUSED, ids=lambda what: what.replace(" ", "-"))
def test_a_run_that_cannot_be_is_refused_in_one_message_and_nothing_is_made(
    burstlens, recipe_file, tmp_path, what
):
    words, message = REFUSED[what]
    recipe_file()
    recipe_file(PARAMETERS, "parameters.toml")
    done = burstlens("run", *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("burstlens: ") == 1
    assert done.stderr.startswith("burstlens: ")
    assert re.search(message, done.stderr), done.stderr
    assert not (tmp_path / "runs").exists()


def test_a_run_on_a_site_with_slurm_is_refused_where_slurm_is_missing(
    burstlens, recipe_file, tmp_path
):
    recipe_file()
    (tmp_path / "empty").mkdir()
    env = {"PATH": str(tmp_path / "empty")}
    done = burstlens("run", "any.toml", "--site", "slurm", env=env)
    message = "burstlens: sbatch is not on PATH: is this a login node of Slurm?\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", message)
    assert not (tmp_path / "runs").exists()
    planned = burstlens("run", "any.toml", "--site", "slurm", "--dry-run", env=env)
    assert planned.returncode == 0


def test_ranks_without_an_mpi_launcher_are_an_error_on_this_machine_alone(
    burstlens, recipe_file, tmp_path
):
    recipe_file(PARAMETERS, "parameters.toml")
    (tmp_path / "empty").mkdir()
    env = {"PATH": str(tmp_path / "empty")}
    words = ("check", "parameters.toml", "--set", "inputs=inputs", "--set")
    message = (
        "4 ranks need mpiexec, which is not on PATH: install MPI, or set mpi_launcher in a site "
        "file\n"
    )
    assert message in burstlens(*words, "simulation.ranks_per_node=4", env=env).stdout
    for others in (["simulation.ranks_per_node=1"], ["simulation.nodes=4", "--site", "slurm"]):
        assert "ranks need" not in burstlens(*words, *others, env=env).stdout


def test_a_refusal_does_not_wait_for_what_only_a_run_needs(burstlens, recipe_file):
    recipe_file(PARAMETERS, "parameters.toml")
    done = burstlens("run", "parameters.toml", env={"PYTHONPROFILEIMPORTTIME": "1"})
    assert "parameters.inputs" in done.stderr
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "burstlens.workflows.driver.run" in imported
    assert not imported & {"parsl", "numpy", "netCDF4", "matplotlib"}


def test_all_faults_of_a_recipe_are_reported_at_once_with_near_names(burstlens, recipe_file):
    recipe_file(WRONG, "wrong.toml")
    said = burstlens("check", "wrong.toml").stderr
    assert "has 6 faults" in said
    for fault in (
        r"titel +unknown key; did you mean title\?",
        r'simulation\.model +there is no model "wrff"; did you mean wrf\?',
        r"simulation\.nodes +.*got 'many'",
        r"simulation\.walltime +expected a duration .*got '3 parsecs'",
        r"buffer\.capacity +expected a size .*got '10 GiBB'",
        r'product\.t2\.kind +there is no kind "mapp"; did you mean map\?',
    ):
        assert re.search(fault, said), fault


def test_an_unknown_command_names_near_ones_once(burstlens):
    said = burstlens("strat").stderr
    assert "status" in said
    assert said.casefold().count("did you mean") == 1
