"""Runs of an earlier version open; those of a later one are refused by the version's name."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from burstlens import open_run
from burstlens.clients.cli import app
from burstlens.clients.opened.status import status_of
from burstlens.clients.pages.report.page import write_report
from burstlens.core.errors import RunError
from burstlens.core.lines import read_lines
from burstlens.core.run.directory import RunDir
from burstlens.core.run.events import Event
from burstlens.core.run.facts import facts_of
from burstlens.core.run.history import replay
from burstlens.core.run.journal import read, read_records
from burstlens.core.run.record import FORMAT
from burstlens.core.run.snapshot import read_snapshot, write_snapshot
from burstlens.core.version import __version__

OLDER = Path(__file__).parents[1] / "data" / "runs"
UNKNOWN_THEN = {"left": None, "advice": None}
NAMES = sorted(path.name for path in OLDER.iterdir() if path.is_dir())
STATES = {"done": "done", "stopped": "stopped", "chained": "done", "resumed": "done"}


@pytest.fixture
def older(tmp_path: Path, monkeypatch):
    """A copy of an older run."""
    monkeypatch.chdir(tmp_path)

    def copy(name: str) -> RunDir:
        shutil.copytree(OLDER / name, tmp_path / "runs" / name)
        monkeypatch.setenv("BURSTLENS_RUNS", str(tmp_path / "runs"))
        return RunDir(tmp_path / "runs" / name)

    return copy


@pytest.mark.parametrize("name", NAMES)
def test_each_line_of_an_older_journal_is_an_event_with_all_its_fields(older, name):
    path = older(name).journal
    events = list(read(path))
    lines = list(read_records(path))
    assert len(events) == len(lines) == path.read_bytes().count(b"\n")
    for event, line in zip(events, lines, strict=True):
        assert isinstance(event, Event)
        names = {key for key in line if key != "event"}
        assert names <= set(event.__struct_fields__), event.event
        assert event.event == line["event"]


@pytest.mark.parametrize("name", NAMES)
def test_an_older_journal_adds_up_to_its_index_and_its_outcome(older, name):
    run = older(name)
    history = replay(read(run.journal))
    listed = {(line["product"], line["stream"], line["time"]) for line in read_lines(run.index)}
    assert set(history.published) == listed
    assert not history.publishing
    assert history.state == STATES[name]


@pytest.mark.parametrize("name", NAMES)
def test_an_older_run_opens(older, name):
    run = older(name)
    status = status_of(str(run.path))
    written = json.loads(run.status.read_text())
    same = ("state", "frames", "products", "ledger", "title", "attempt", "log_tail")
    assert {key: status[key] for key in same} == {key: written[key] for key in same}
    assert status["outcome"] == written["outcome"] | UNKNOWN_THEN
    opened = open_run(str(run.path))
    assert sum(len(product) for product in opened.products.values()) > 0
    report = write_report(opened, run.path / "report.html")
    assert report.path.stat().st_size > 10_000


@pytest.mark.parametrize("name", NAMES)
def test_without_its_snapshot_an_older_run_is_shown_by_its_journal(older, name):
    run = older(name)
    written = json.loads(run.status.read_text())
    run.status.unlink()
    status = status_of(str(run.path))
    for key in ("state", "frames", "ledger", "started"):
        assert status[key] == written[key], key
    assert status["outcome"] == written["outcome"] | UNKNOWN_THEN


@pytest.mark.parametrize("file", ["run.json", "status.json", "journal.jsonl"])
def test_a_newer_run_is_refused_by_the_name_of_its_version(older, file):
    run = older("done")
    path = run.path / file
    first, *rest = path.read_text().splitlines()
    newer = json.dumps(json.loads(first) | {"format": FORMAT + 1, "burstlens": "7.3.1"})
    path.write_text("\n".join([newer, *rest]) + "\n")
    command = ["report", "done"] if file == "journal.jsonl" else ["status", "done"]
    error = CliRunner().invoke(app, command).exception
    assert isinstance(error, RunError)  # printed as one line, exit code 1
    assert str(error).startswith(str(path))
    assert f"written by Burstlens 7.3.1 in format {FORMAT + 1}" in str(error)
    assert str(error).endswith("use that version")


def test_a_snapshot_says_in_which_format_it_is_written(older):
    run = older("done")
    run.status.unlink()
    write_snapshot(run, read_snapshot(run))
    written = json.loads(run.status.read_text())
    assert (written["format"], written["burstlens"]) == (FORMAT, __version__)


def test_facts_whose_recipe_lacks_what_readers_rely_on_are_damaged(older):
    run = older("done")
    facts = json.loads(run.facts.read_text())
    del facts["table"]["product"][0]["kind"]
    run.facts.write_text(json.dumps(facts))
    with pytest.raises(RunError, match=r"kind.* is missing; the run directory is damaged"):
        facts_of(run)
