"""What clients show of products whose attempt no longer owns their time."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from forked_case import FORK, SEGMENTS, ForkedRun, at
from PIL import Image
from rich.console import Console
from typer.testing import CliRunner
from values_case import ValuesRun

from burstlens.clients.cli import app
from burstlens.clients.opened.segment_texts import segment_rows
from burstlens.clients.opened.status import text
from burstlens.clients.pages.answers import Answers
from burstlens.clients.pages.card import card
from burstlens.clients.preview.ability import Ability
from burstlens.clients.preview.canvas import Roll
from burstlens.clients.preview.watching import Preview
from burstlens.clients.serving.rows import Rows
from burstlens.clients.serving.shelf import shelf_of
from burstlens.workflows.notify.picture import newest_picture

COST = {"core_hours": 64.0, "lost_core_hours": 1.5}


@pytest.fixture
def forked(tmp_path):
    return ForkedRun(tmp_path)


def hour_of(data: bytes) -> int:
    """The hour of a picture."""
    with Image.open(io.BytesIO(data)) as picture:
        return picture.convert("RGB").getpixel((0, 0))[0] // 40


def test_entries_say_which_are_stale_until_the_owner_has_published(forked):
    def stale():
        return [entry.time for entry in view.products["t2"].entries if entry.stale]

    view = forked.view
    assert stale() == [at(5)]
    forked.publish(5, 2)
    assert stale() == []


def test_no_entry_is_stale_in_a_run_in_one_piece(forked):
    forked.update_status()
    assert not any(entry.stale for entry in forked.view.products["t2"].entries)


def test_the_latest_picture_is_the_latest_that_is_not_stale(forked):
    view = forked.view
    assert hour_of(view.image().data) == hour_of(view.image("t2").data) == 4
    assert hour_of(view.image("t2", at(5)).data) == 5
    forked.update_status(segments=[{"attempt": 2}])  # that began afresh: hour 4 alone is its own
    assert view.image("t2").entry.time == at(4)
    forked.update_status(segments=[{"attempt": 3}])
    assert view.image("t2").entry.time == at(5)  # all are stale


@pytest.mark.parametrize("state", ["running", "done"])
def test_pictures_that_stand_for_a_run_are_not_stale(forked, state):
    forked.update_status(segments=SEGMENTS, state=state, outcome={"state": state, "exit_code": 0})
    [row] = Rows().look(shelf_of(str(forked.run.path)), [forked.run])
    assert row["picture"].endswith(f"{at(4)}.png")
    picture = newest_picture(forked.run, ["t2"], over=state == "done")
    assert picture is not None
    assert picture.time == at(4)
    assert "2005-08-28 04:00:00 UTC" in card(forked.view)
    kept = Answers(forked.view, allow_stop=False).kept()
    assert [line["time"] for line in kept["lines"]] == [at(4)]


def test_the_picture_of_a_run_in_the_list_changes_when_it_becomes_stale(forked):
    forked.update_status()
    rows, shelf = Rows(), shelf_of(str(forked.run.path))
    [before] = rows.look(shelf, [forked.run])
    forked.publish(5, 1)
    forked.update_status(segments=SEGMENTS)
    [after] = rows.look(shelf, [forked.run])
    assert [one["picture"][-19:-4] for one in (before, after)] == [at(4), at(4)]


def test_the_picture_in_a_terminal_says_that_it_is_stale_where_there_is_no_other(forked):
    console = Console(file=io.StringIO(), width=100, height=30)
    preview = Preview(forked.view, "t2", Roll(console), Ability("cells"))
    assert preview._newest().time == at(4)
    forked.update_status(segments=[{"attempt": 3}])
    newest = preview._newest()
    assert (newest.time, newest.stale) == (at(5), True)


def test_the_status_shows_each_segment_in_a_line_of_its_own(forked):
    lines = text(forked.view.read_status()).splitlines()
    assert [" ".join(line.split()) for line in lines if "attempt" in line] == [
        "attempt 1 to 2005-08-28 03:00:00 UTC, job 4711, failed",
        "attempt 2 from 2005-08-28 03:00:00 UTC, job 4712",
    ]
    forked.update_status(segments=[SEGMENTS[0] | COST, SEGMENTS[1]])
    cost = "failed, 64 core-hours, 1.5 of them lost while its job waited"
    assert cost in text(forked.view.read_status())
    forked.update_status(segments=SEGMENTS, lost_core_hours=0.25)
    waited = "jobs ahead 0.25 core-hours lost, as they waited for an attempt that did not come"
    assert waited in " ".join(text(forked.view.read_status()).split())
    forked.update_status(segments=[SEGMENTS[0] | COST, SEGMENTS[1]])
    rows = [row[-2:] for row in segment_rows(forked.view.read_status())]
    assert rows == [("64", "1.5"), ("", "")]
    forked.update_status(segments=[{"attempt": 2}])
    assert "attempt" not in text(forked.view.read_status())
    assert segment_rows(forked.view.read_status()) == []


def test_the_status_in_json_has_the_segments_as_they_are(forked):
    found = CliRunner().invoke(app, ["status", str(forked.run.path), "--json"])
    assert json.loads(found.stdout)["segments"] == SEGMENTS


@pytest.fixture
def valued(tmp_path):
    """A run with values, of which hours 4 and 5 are stale."""
    run = ValuesRun(tmp_path)
    for hour in range(6):
        run.publish(hour)
    run.update_status(segments=SEGMENTS)
    return run


def series(run, *words):
    place = ["--at", "27,-92"]
    return CliRunner().invoke(app, ["series", str(run.run.path), "t2", *place, *words])


def test_the_values_of_stale_frames_are_marked_in_a_series(valued):
    samples = json.loads(series(valued, "--json").stdout)["samples"]
    assert [one.get("stale", False) for one in samples] == [False] * 4 + [True] * 2
    assert all(one["value"] is not None for one in samples)
    found = series(valued)
    assert len(found.stdout.splitlines()) == 7
    assert "stale: 2 frames (2005-08-28T04:00:00 to 2005-08-28T05:00:00)" in found.stderr
    valued.publish(4, attempt=2)
    assert "stale: 1 frame (2005-08-28T05:00:00)" in series(valued).stderr
    valued.publish(5, attempt=2)
    assert series(valued).stderr == ""


def test_a_series_in_python_says_which_values_are_stale(valued):
    import burstlens

    run = burstlens.open_run(valued.run.path)
    found = run.series("t2", lat=27.0, lon=-92.0)
    assert found.stale.values.tolist() == [False] * 4 + [True] * 2
    assert np.isfinite(found.values).all()
    assert found.time.values[~found.stale.values][-1] == np.datetime64("2005-08-28T03:00:00")
    assert at(3) == FORK
