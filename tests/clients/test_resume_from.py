"""What ``resume --from`` leaves behind, and what a later ``resume`` says of it."""

from __future__ import annotations

import pytest
from stopped_runs import stopped_run
from typer.testing import CliRunner

from burstlens.clients.api.run import open_run
from burstlens.clients.cli import app
from burstlens.core.errors import BurstlensError, RunError
from burstlens.core.run.continuation import ContinuationWanted, note_wanted, read_wanted

pytestmark = pytest.mark.integration


@pytest.fixture
def resume(run_dir, tmp_path, monkeypatch):
    """The run, and the output of a ``burstlens resume`` of it with these words."""
    run = stopped_run(run_dir, tmp_path / "inputs", ("t00000001.200", "t00000002.000"))
    monkeypatch.setenv("BURSTLENS_BUFFER", str(tmp_path / "buffer"))

    def call(*words):
        return CliRunner().invoke(app, ["resume", str(run.path), *words])

    return run, call


def test_a_driver_that_cannot_be_started_leaves_nothing_to_a_later_resume(resume):
    run, call = resume
    done = call("--from", "latest", "--walltime", "01:00:00", "--batch")
    assert isinstance(done.exception, RunError)
    assert "--from latest --walltime 01:00:00 --batch" in str(done.exception)
    assert read_wanted(run) is None


def test_a_way_that_cannot_be_kept_leaves_nothing_either(resume):
    run, call = resume
    run.notify.write_text("no JSON")
    run.notify.chmod(0o600)
    assert isinstance(call("--from", "latest", "--notify", "run:true").exception, BurstlensError)
    assert read_wanted(run) is None


def test_nor_does_a_program_that_resumes_it(resume, monkeypatch):
    run, _ = resume
    monkeypatch.setenv("PYTHONHOME", str(run.path))  # no interpreter starts
    with pytest.raises(BurstlensError):
        open_run(str(run.path)).resume("latest")
    assert read_wanted(run) is None


def test_what_an_interrupted_one_wants_is_said_by_the_next(resume):
    run, call = resume
    note_wanted(run, ContinuationWanted("t00000002.000", 1, {"a.b": "3"}, 3600.0))
    done = call("--batch")  # the site has no batch system
    assert "resumes from t = 2 s, with a.b=3, jobs of 1 h 00 min" in done.stderr
    assert read_wanted(run) is not None
