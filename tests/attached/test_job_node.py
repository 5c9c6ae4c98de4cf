"""What a step of a job sees of a folder, and the run that is made of it elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from observer_case import Commands

from burstlens.clients.attaching import attach, write_recipe_of
from burstlens.cluster_configs.inside import Inside
from burstlens.core.errors import AttachError, RunError, SiteError
from burstlens.core.run.facts import facts_of
from burstlens.workflows.driver.run import recipe_of
from burstlens.workflows.look.folder.recognition import recognise
from burstlens.workflows.look.folder.wanted import shown
from burstlens.workflows.look.job_node import ANSWER, Place, see
from burstlens.workflows.look.options import look_of, place_of
from burstlens.workflows.look.preparation import LookRequest, known_look, new_look

pytestmark = pytest.mark.integration
NAMELIST = Path(__file__).parents[1] / "data" / "traces" / "namelist.input"
RUNS = "JobId=125 JobState=RUNNING Reason=None NumNodes=1 NumCPUs=2 BatchHost=nid00012"
STEP = "while case $1 in --*) true;; *) false;; esac; do shift; done\n"


@pytest.fixture
def node(tmp_path, monkeypatch):
    """A Slurm whose steps run on this machine."""
    folder = tmp_path / "slurm"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    found = Commands(folder)
    found.set("sbatch", "exit 1")
    found.job(RUNS)
    found.set("srun", f'{STEP}exec "$@"')
    return found


@pytest.fixture
def site(tmp_path):
    """A site that lets look enter jobs."""
    path = tmp_path / "ours.toml"
    path.write_text(
        'scheduler = "slurm"\n[look]\nenter_jobs = true\n[viewing]\nplacement = "separate"\n'
    )
    return str(path)


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Where run directories lie."""
    monkeypatch.setenv("BURSTLENS_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs"


@pytest.fixture
def disk(tmp_path):
    """The model's folder, with a name that a shell would take apart."""
    folder = tmp_path / "it's a $(run)"
    folder.mkdir()
    (folder / "namelist.input").write_bytes(NAMELIST.read_bytes())
    (folder / "rsl.error.0000").write_text("a log\n")
    return folder


def test_a_step_sees_what_the_command_itself_would_see(node, site, disk, runs):
    seen = see(Place(disk, "123"), LookRequest(job="123", site=site))
    found = recognise(disk)
    assert (seen.found.model, seen.found.reason) == (found.model, found.reason)
    assert seen.found.streams == found.streams
    what = shown(disk, found)
    assert seen.shown.products == what.products
    assert seen.shown.left_out == what.left_out
    assert seen.inside == Inside("125", cpus=2, node="nid00012")
    assert seen.settings == {"namelist.input": NAMELIST.read_bytes()}


def test_its_run_reads_nothing_of_the_folder_from_here(node, site, disk, runs):
    request = LookRequest(job="123", site=site, page=False)
    seen = see(Place(disk, "123"), request)
    away = disk.rename(disk.with_name("moved"))
    run = new_look(disk, seen, request).run
    look = look_of(facts_of(run).attached)
    assert (look.path, look.job, look.block) == (str(disk), "123", False)
    assert look.inside == seen.inside
    assert place_of(look) == {}
    recipe, _ = recipe_of(run)
    assert recipe.model.facts(recipe.inputs) == recipe.model.facts(away)
    assert recipe.model.facts(recipe.inputs).start is not None


def test_the_same_path_in_another_job_is_another_folder(node, site, disk, runs):
    request = LookRequest(job="123", site=site)
    seen = see(Place(disk, "123"), request)
    run = new_look(disk, seen, request).run
    assert known_look(disk, None, "123").path == run.path
    assert known_look(disk, None) is None
    assert known_look(disk, None, "124") is None
    with pytest.raises(RunError, match="--name takes another name"):
        known_look(disk, run.id, "124")


def test_workers_are_bounded_by_the_jobs_cpus(node, site, disk, runs):
    request = LookRequest(job="123", site=site, workers=3)
    seen = see(Place(disk, "123"), request)
    with pytest.raises(RunError, match="--workers 3: site ours allows 1 to 2"):
        new_look(disk, seen, request)


def test_a_folder_that_the_node_does_not_have_either_is_reported_with_the_node(node, site, runs):
    with pytest.raises(RunError, match=r"/none on the node nid00012 of job 125: No such file"):
        see(Place(Path("/none"), "123"), LookRequest(site=site))


def test_a_node_that_does_not_see_the_run_directory_is_reported(node, site, disk, runs):
    # It has another folder of that name: what is written here is not there.
    node.set("srun", f'rm -f {runs}/.seen-*\n{STEP}exec "$@"')
    with pytest.raises(RunError, match=r"node nid00012 of job 125 does not see .*BURSTLENS_RUNS"):
        see(Place(disk, "123"), LookRequest(site=site))


def test_what_does_not_fit_is_refused_as_it_is_here(node, site, disk, runs):
    with pytest.raises(AttachError, match="--product nothing"):
        see(Place(disk, "123"), LookRequest(site=site, products=("nothing at all",)))
    assert list(runs.iterdir()) == []


@pytest.mark.parametrize(
    ("srun", "said"),
    [
        ("echo 'srun: error: Invalid job id' >&2; exit 1", "no such folder. a step of job 125"),
        ("echo a prolog", "printed no answer, but: a prolog"),
        (f"echo '{ANSWER}{{'", "printed no answer"),
    ],
)
def test_a_step_that_fails_or_returns_half_is_one_sentence(node, site, disk, runs, srun, said):
    node.set("srun", srun)
    with pytest.raises(SiteError, match=said):
        see(Place(disk, "123"), LookRequest(site=site))


def test_output_is_waited_for_by_one_step(node, site, tmp_path, runs):
    empty = tmp_path / "empty"
    empty.mkdir()
    node.set("srun", f'{STEP}(sleep 2; cp {NAMELIST} {empty}) &\nexec "$@"')
    seen = see(Place(empty, "123"), LookRequest(site=site), wait_s=60.0)
    assert seen.found.model == "wrf"
    assert sum(call.startswith("srun ") for call in node.calls) == 1


@pytest.mark.slow
def test_a_folder_that_shows_nothing_is_left_when_nobody_waits(node, site, tmp_path, runs):
    node.set("srun", f"""echo '{ANSWER}{{"seen": null}}'""")
    with pytest.raises(RunError, match=r"there is nothing in .*/away yet that shows"):
        attach(tmp_path / "away", LookRequest(job="123", site=site), wait=False)


def test_a_recipe_can_be_written_of_it(node, site, disk, runs, tmp_path):
    # The path is not seen here, and the step finds the folder under that name.
    away = tmp_path / "away"
    node.set("srun", f'{STEP}ln -s "$(ls -d {tmp_path}/it*)" {away}\n"$@"; rm {away}')
    said = write_recipe_of(str(away), LookRequest(job="123", site=site), tmp_path / "my.toml")
    assert "my.toml is written" in said
    assert 'model = "wrf"' in (tmp_path / "my.toml").read_text()
