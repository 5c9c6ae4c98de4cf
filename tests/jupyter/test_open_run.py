"""Runs opened from Python: real ones of each kind, disturbed ones, and another user's."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime

import pytest

import burstlens
from burstlens.clients.opened.frames import frames_of
from burstlens.core.errors import RunError

FIRST, SECOND, THIRD = (f"00010101T000{minute}00" for minute in range(3))


def test_the_status_is_shown_as_the_command_shows_it(standing, done):
    assert repr(done.status) + "\n" == standing.call("status", "done").stdout
    assert done.status["state"] == "done"


def test_the_table_of_frames_describes_each_frame(done):
    frames = done.frames
    assert len(frames) == 3
    assert frames["time"] == [FIRST, SECOND, THIRD]
    assert {tuple(sorted(products)) for products in frames["products"]} == {("core", "w")}
    for row in frames:
        assert row.stream == "d01"
        assert row.attempt == 1
        assert row.bytes > 100_000
        assert row.written < row.detected + 1
        assert row.signal
    assert [row.time for row in frames[1:]] == [SECOND, THIRD]
    assert frames[-1].time == THIRD


def test_a_time_that_came_twice_is_one_row_of_the_table_with_the_later_record():
    frame = {"event": "frame.ready", "stream": "output", "attempt": 1}
    table = frames_of(
        [
            frame | {"time": "t00000001.000", "bytes": 1},
            frame | {"time": "t00000002.000", "bytes": 2},
            frame | {"time": "t00000001.000", "bytes": 3, "repeated": True},
        ],
        {},
    )
    assert table["bytes"] == [2, 3]


def test_an_unknown_column_names_near_ones(done):
    with pytest.raises(RunError, match="did you mean detected"):
        done.frames["detekted"]


def test_the_table_of_frames_is_one_of_pandas_with_times_in_utc(done):
    table = done.frames.to_pandas()
    assert list(table.columns) == list(done.frames.columns)
    assert str(table["written"].dt.tz) == "UTC"
    first = datetime.fromtimestamp(done.frames["detected"][0], UTC)
    assert abs((table["detected"][0].floor("us").to_pydatetime() - first).total_seconds()) < 1e-3
    assert len(done.frames[:0].to_pandas()) == 0


def test_products_come_by_name_in_the_recipes_order(done):
    assert list(done.products) == ["w", "core"]
    assert [product.kind for product in done.products.values()] == ["map", "vtk"]
    assert done.products["w"].times == [FIRST, SECOND, THIRD]
    assert done.products["core"].series == done.directory.products / "core.pvd"
    assert done.products["w"].series is None


@pytest.mark.parametrize(
    "time",
    ["latest", THIRD, "0001-01-01 00:02:00", "0001-01-01_00:02:00", "0001-01-01T00:02:00",
     "0001-01-01 00:02:00 UTC", datetime(1, 1, 1, 0, 2), datetime(1, 1, 1, 0, 2, tzinfo=UTC)],
)  # fmt: skip
def test_a_time_may_be_given_as_people_write_it(done, time):
    picture = done.image("w", time)
    assert picture.path == done.path("w", time)
    assert picture.path.name == f"w_d01_{THIRD}.png"


def test_a_picture_shows_itself_and_is_a_path(done):
    picture = done.image("w", FIRST)
    data = picture.path.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert picture.data == data
    with open(picture, "rb") as stream:
        assert stream.read() == data
    from IPython.core.formatters import DisplayFormatter

    bundle, _ = DisplayFormatter().format(picture)
    assert bundle["text/plain"] == "w at 0001-01-01 00:00:00 UTC"
    assert bundle["image/png"].startswith("iVBOR")


def test_the_newest_picture_needs_no_name(done):
    assert done.image().path == done.image("w").path


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda run: run.image("v"), "there is no product"),
        (lambda run: run.image("cores"), "did you mean core"),
        (lambda run: run.image("core"), "not a picture but .vts"),
        (lambda run: run.image("w", "0001-01-01 00:05:00"), f'nearest is "{THIRD}"'),
        (lambda run: run.image("w", "noon"), f'latest is "{THIRD}"'),
        (lambda run: run.image("w", stream="d02"), "of the stream d02"),
        (lambda run: run.log("rsl.error.0000"), "did you mean attempt-1/rsl.error.0000"),
        (lambda run: run.log("../journal.jsonl"), "has no log"),
    ],
)
def test_an_unknown_name_is_reported_with_the_known_ones(done, ask, message):
    with pytest.raises(RunError, match=re.escape(message)):
        ask(done)


def test_journal_and_logs_are_there(done):
    assert [event["event"] for event in done.journal()][-1] == "run.ended"
    assert "SUCCESS COMPLETE WRF" in done.log("attempt-1/rsl.error.0000")


@pytest.mark.slow
def test_a_run_that_is_going_on_is_read_on_waited_for_stopped_and_freed(own_runs):
    own_runs.live()
    run = burstlens.open_run(own_runs.runs / "live")
    assert run.status["state"] == "running"
    assert run.frames["time"] == [FIRST]
    before = run.frames
    assert run.wait(30, published=1)["state"] == "running"
    assert run.wait(0.3)["state"] == "running"
    assert run.stop(now=True) == "live is asked to stop now"
    status = run.wait(60)
    assert (status["state"], status["outcome"]["exit_code"]) == ("stopped", 4)
    assert len(before) == 1  # a table does not change under its reader
    assert run.stop() == "live is over already: stopped"
    assert run.free().startswith("freed ")  # what the recipe keeps is home


@pytest.mark.slow
def test_a_failed_run_says_why(standing):
    standing.failed()
    card = burstlens.open_run(standing.runs / "failed")._repr_html_()
    assert "points exceeded" in card
    assert "burstlens resume failed" in card


def test_the_card_shows_state_and_newest_picture(done):
    card = done._repr_html_()
    assert "done: done" in card
    assert card.count("data:image/png;base64,") == 1
    assert "Supercell" in card


@pytest.mark.slow
def test_runs_are_listed_the_newest_first(standing, done):
    standing.failed()
    listed = burstlens.runs(standing.runs)
    assert {run.id for run in listed} >= {"done", "failed"}
    created = [run.directory.path.joinpath("run.json").stat().st_mtime for run in listed]
    assert created == sorted(created, reverse=True)
    assert "failed" in listed._repr_html_()
    assert isinstance(listed[:1], type(listed))


def test_an_empty_folder_of_runs_is_not_an_error(tmp_path):
    listed = burstlens.runs(tmp_path)
    assert len(listed) == 0
    assert "no runs in" in repr(listed)


def test_an_unknown_run_names_near_ones(standing, done, monkeypatch):
    monkeypatch.setenv("BURSTLENS_RUNS", str(standing.runs))
    with pytest.raises(RunError, match="did you mean done"):
        burstlens.open_run("doen")


def test_torn_files_are_read_up_to_the_tear(disturbed):
    journal, index = disturbed.directory.journal, disturbed.directory.index
    journal.write_bytes(journal.read_bytes()[: journal.stat().st_size * 2 // 3])
    # Workers publish in any order: the newest picture of this product may come before others.
    listed = index.read_bytes()
    index.write_bytes(listed[: listed.rindex(b'"w"')])
    frames = disturbed.frames
    assert 0 < len(frames) <= 3
    left = disturbed.products["w"].times
    assert set(left) < {FIRST, SECOND, THIRD}
    assert left
    assert disturbed.image("w", left[0]).data


def test_in_place_of_a_status_that_is_half_written_or_missing_the_journal_speaks(disturbed):
    for content in (b'{"run": "done", "sta', b""):
        disturbed.directory.status.write_bytes(content)
        assert disturbed.status["state"] == "done"
    disturbed.directory.status.unlink()
    assert "Supercell" in disturbed._repr_html_()
    assert len(disturbed.frames) == 3


def test_a_missing_picture_is_reported_and_hides_nothing_else(disturbed):
    disturbed.image("w", THIRD).path.unlink()
    with pytest.raises(RunError, match="cannot be found"):
        disturbed.image("w", THIRD)
    assert disturbed.image("w", FIRST).data
    assert "Supercell" in disturbed._repr_html_()


def test_a_run_without_a_driver_is_lost_and_its_card_says_what_to_do(disturbed):
    status = json.loads(disturbed.directory.status.read_text())
    status |= {"state": "running", "outcome": None}
    disturbed.directory.status.write_text(json.dumps(status))
    assert disturbed.status["state"] == "lost"
    assert "burstlens resume done" in disturbed._repr_html_()
    assert disturbed.wait(5)["state"] == "lost"


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\x1b[2J"


def test_no_text_of_a_run_becomes_html(disturbed):
    """Title, state, alarms, products, streams: another user may have written any of them."""
    run = disturbed.directory
    status = json.loads(run.status.read_text())
    status |= {
        "title": HOSTILE, "state": HOSTILE, "hint": HOSTILE, "alarms": [{"t": 0, "text": HOSTILE}],
        "products": {HOSTILE: {"published": 1, "failed": 0, "kind": HOSTILE}},
        "outcome": {"state": "failed", "exit_code": 1, "message": HOSTILE, "line": HOSTILE},
    }  # fmt: skip
    run.status.write_text(json.dumps(status))
    line = json.loads(run.index.read_text().splitlines()[0])
    line |= {"product": HOSTILE, "stream": HOSTILE, "time": HOSTILE}
    ready = {"event": "frame.ready", "stream": HOSTILE, "time": HOSTILE, "signal": HOSTILE}
    for path, added in ((run.index, line), (run.journal, ready)):
        with path.open("a") as stream:
            stream.write(json.dumps(added) + "\n")
    shown = [disturbed, disturbed.frames, disturbed.products, burstlens.runs(run.path.parent)]
    for html in (thing._repr_html_() for thing in shown):
        assert "alert(1)" in html
        assert "<script" not in html
        assert "<img src=x" not in html
        assert "\x1b" not in html


READER = """
import burstlens
from burstlens.core.errors import RunError
run = burstlens.open_run({path!r})
print(run.status["state"], len(run.frames), run.image("w").path.name)
print("data:image" in run._repr_html_())
try:
    run.stop()
except RunError as error:
    print(error)
"""


def as_another_user(ordinary, code: str) -> str:
    done = subprocess.run(
        [*ordinary, sys.executable, "-c", code], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_read_only_run_is_read_and_cannot_be_stopped(disturbed, ordinary):
    status = json.loads(disturbed.directory.status.read_text())
    disturbed.directory.status.write_text(json.dumps(status | {"state": "running"}))
    (disturbed.directory.job("attempt-1") / "ended.json").unlink()
    folders = [disturbed.directory.path, disturbed.directory.control]
    for folder in folders:
        folder.chmod(0o555)
    try:
        path = str(disturbed.directory.path)
        said = as_another_user(ordinary, READER.format(path=path)).splitlines()
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert said[:2] == [f"lost 3 w_d01_{THIRD}.png", "True"]
    assert "Permission denied" in said[2]


def test_a_run_that_may_not_be_read_is_refused_in_one_sentence(disturbed, ordinary):
    disturbed.directory.journal.chmod(0)
    code = (
        "import burstlens\n"
        f"run = burstlens.open_run({str(disturbed.directory.path)!r})\n"
        "try:\n    run.frames\nexcept burstlens.RunError as error:\n    print(error)\n"
    )
    assert as_another_user(ordinary, code) == (
        f"cannot read {disturbed.directory.journal}: Permission denied\n"
    )


def test_times_are_the_same_in_every_time_zone(done):
    code = (
        "import burstlens\n"
        f"print(burstlens.open_run({str(done.directory.path)!r}).frames._repr_html_())"
    )
    shown = {
        subprocess.run(
            [sys.executable, "-c", code], env=os.environ | {"TZ": zone}, capture_output=True,
            text=True, check=True,
        ).stdout
        for zone in ("UTC", "Asia/Riyadh", "America/Los_Angeles")
    }  # fmt: skip
    assert len(shown) == 1


def test_opening_a_run_imports_neither_numpy_nor_parsl(done):
    code = (
        "import sys, burstlens\n"
        f"run = burstlens.open_run({str(done.directory.path)!r})\n"
        "run.status, run.frames, run.products, run.image(), run._repr_html_()\n"
        "print({'numpy', 'parsl', 'pydantic', 'IPython', 'anywidget'} & set(sys.modules))"
    )
    done_ = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done_.stdout == "set()\n"


def test_the_status_of_an_older_version_lacks_keys_and_is_shown(disturbed):
    status = json.loads(disturbed.directory.status.read_text())
    old = {key: status[key] for key in ("run", "title", "state", "frames")}
    disturbed.directory.status.write_text(json.dumps(old))
    assert "done: done" in repr(disturbed.status)
    assert "Supercell" in disturbed._repr_html_()
