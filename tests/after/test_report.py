"""Reports of real runs, read as a browser and a person read them."""

from __future__ import annotations

import base64
import html.parser
import io
import json
import re
import shutil

import pytest
from attached_case import AttachedRun, ready
from events_case import events
from PIL import Image

from burstlens.clients.api.run import open_run
from burstlens.clients.opened.view import RunView
from burstlens.clients.pages.report import gallery as galleries
from burstlens.clients.pages.report.page import trial_row, write_report
from burstlens.clients.pages.report.plot import MOST_POINTS, Line, value_ticks
from burstlens.clients.pages.report.story import story_of

HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(2)>"


class Seen(html.parser.HTMLParser):
    """The elements, their attributes and the text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.text = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in {"src", "href", "srcset"}]
        self.handlers = [name for name, _ in attrs if name.startswith("on")]
        assert not self.handlers

    def handle_data(self, data):
        self.text += data


@pytest.fixture
def page(standing, tmp_path):
    """Writes the report of a real run, perhaps of a changed copy; returns what it shows."""

    def make(name, change=None):
        getattr(standing, name)()
        place = standing.runs / name
        if change is not None:
            place = shutil.copytree(place, tmp_path / name)
            change(place)
        out = tmp_path / f"{name}.html"
        write_report(open_run(place), out)
        return Seen(out.read_text())

    return make


def test_a_report_says_what_ran_and_shows_it(page, standing):
    seen = page("done")
    words = " ".join(seen.text.split())
    for fact in ("Supercell", "Run done", "wrf", "wrfout_d01", "0001-01-01 00:02:00 UTC"):
        assert fact in words
    digest = re.search(r"recipe\.toml\s*\d+\s*([0-9a-f]{64})", words)
    assert digest is not None
    pictures = [link for link in seen.links if link.startswith("data:image/")]
    assert len(pictures) == len(seen.links) == 4  # the newest large, all three small
    newest = open_run(standing.runs / "done").image("w").data
    assert base64.b64decode(pictures[0].partition(",")[2]) == newest
    with Image.open(io.BytesIO(base64.b64decode(pictures[1].partition(",")[2]))) as small:
        assert max(small.size) == galleries.THUMBNAIL_PX
    timed = "Time of each output" in words  # where the driver read the log as it was written
    assert seen.tags.count("svg") == 3 + timed


def test_a_failed_run_shows_the_one_line_that_matters(page, standing):
    seen = page("failed")
    status = json.loads(standing.call("status", "failed", "--json").stdout)
    assert status["outcome"]["line"] in seen.text
    assert status["outcome"]["message"] in seen.text
    assert "damaged frame" in seen.text


def test_nothing_that_a_run_says_becomes_markup_and_nothing_is_loaded(page):
    def change(place):
        for name in ("status.json", "run.json"):
            value = json.loads((place / name).read_text())
            value["title"] = HOSTILE
            if name == "run.json":
                value["table"]["description"] = value["table"]["product"][0]["name"] = HOSTILE
            (place / name).write_text(json.dumps(value))
        (place / "recipe.toml").write_text(f"title = '{HOSTILE}'\x1b[2J\n")
        frame = {"stream": HOSTILE, "time": HOSTILE, "attempt": 1}
        trip = {"guard": HOSTILE, "text": HOSTILE, "then": HOSTILE, "what": HOSTILE}
        with (place / "journal.jsonl").open("a") as journal:
            for event in (
                {"event": "alarm", "text": HOSTILE},
                {"event": "guard.tripped", **frame, **trip, "place": {"index": HOSTILE}},
                {"event": "frame.ready", **frame},
                {"event": "step.started", "job": HOSTILE},
            ):
                journal.write(json.dumps({"t": 1e9, "driver": 1} | event) + "\n")

    seen = page("done", change)
    assert {"script", "iframe", "link", "a"}.isdisjoint(seen.tags)
    assert seen.tags.count("img") == 4
    assert all(link.startswith("data:image/") for link in seen.links)
    assert HOSTILE in seen.text
    assert "\x1b" not in seen.text


def test_a_trip_stands_among_the_alarms_and_its_place_has_units(page):
    place = {"index": {"y": 24, "x": 20}, "x": 8000.0, "y": 9600.0, "xy_units": "m"}
    trip = {"event": "guard.tripped", "guard": "fast", "text": "vx = 0.2", "place": place}
    trip |= {"stream": "surface", "time": "t000001.000", "attempt": 1}
    trip |= {"then": "alarm", "what": "vx at most 0.1"}

    def change(run):
        with (run / "journal.jsonl").open("a") as journal:
            journal.write(json.dumps({"t": 1e9, "driver": 1} | trip) + "\n")

    seen = page("done", change)
    assert "grid y 24, x 20; x 8000 m, y 9600 m" in seen.text
    assert "guard fast: vx = 0.2" in seen.text.partition("Alarms and requests")[2]
    assert "condition" not in seen.text  # the recipe has no guards to list


def test_what_is_missing_or_torn_is_passed_over(page):
    def change(place):
        for path in (place / "products" / "w").iterdir():
            path.write_bytes(path.read_bytes()[:999])
        (place / "journal.jsonl").unlink()
        (place / "recipe.toml").unlink()

    seen = page("done", change)
    assert seen.links == []
    assert "The run has no journal yet." in seen.text


def test_a_run_that_goes_on_is_reported_as_it_stands(page):
    assert "The run is not over" in page("live").text


def test_the_pictures_keep_to_their_budget(page, monkeypatch):
    monkeypatch.setattr(galleries, "BUDGET_BYTES", 60_000)
    monkeypatch.setattr(galleries, "LARGE_PX", 300)
    seen = page("done")
    assert len(seen.links) == 4
    assert sum(map(len, seen.links)) < 60_000


def test_an_unwritable_place_is_refused_in_a_sentence(standing):
    standing.done()
    refused = standing.call("report", "done", "-o", "nowhere/it.html")
    assert (refused.returncode, refused.stderr) == (
        1,
        "burstlens: cannot write nowhere/it.html: No such file or directory; "
        "--out names another place\n",
    )
    reported = json.loads(standing.call("report", "done", "-o", "it.html", "--json").stdout)
    assert reported["bytes"] == (standing.folder / "it.html").stat().st_size
    assert (reported["run"], reported["pictures"]) == ("done", 4)


@pytest.mark.parametrize(
    ("top", "ticks"),
    [
        (0.87, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (4.0, [0, 1, 2, 3, 4]),
        (6.1e-7, [0, 2e-7, 4e-7, 6e-7, 8e-7]),
    ],
)
def test_axes_have_round_values(top, ticks):
    assert value_ticks(top) == pytest.approx(ticks)


def test_bytes_have_ticks_that_are_round_in_binary_units():
    assert value_ticks(3.4 * 2**30, binary=True) == [it * 2**30 for it in range(5)]


def test_a_long_run_is_drawn_by_medians_and_largest_values():
    points = [(float(t), 9.0 if t == 5000 else 1.0) for t in range(10_000)]
    (largest_style, largest), (style, median) = Line("one", "latency", points).thinned()
    assert (largest_style, style) == ("one faint", "one")
    assert len(median) <= MOST_POINTS
    assert {value for _, value in median} == {1.0}
    assert {value for _, value in largest} == {1.0, 9.0}


def test_raw_bytes_on_the_buffer_fall_when_frames_are_released():
    frame = {"stream": "d01", "time": "t1", "attempt": 1}
    story = story_of(
        events(
            [
                {"t": 1.0, "event": "frame.ready", "bytes": 100, **frame},
                {"t": 2.0, "event": "frame.ready", "bytes": 50, **frame, "time": "t2"},
                {"t": 3.0, "event": "frame.released", **frame},
                {"event": "frame.ready"},
            ]
        )
    )
    assert story.held == [(1.0, 100.0), (2.0, 150.0), (3.0, 50.0)]
    assert story.raw[-1] == (2.0, 150.0)


def test_what_was_brought_home_is_listed_where_the_journal_has_it():
    home = {"t": 1.0, "event": "stageout.done"}
    assert story_of(events([home])).home == []
    assert story_of(events([home | {"files": [["c.nc", 7]]}])).home == [("c.nc", 7)]


def test_a_trip_stands_where_it_was_found_though_a_later_driver_journalled_it():
    trip = {"event": "guard.tripped", "guard": "fast", "text": "W above 80"}
    story = story_of(events([
        {"t": 100.0, "event": "run.started"},
        {"t": 900.0, "event": "run.resumed"},
        {"t": 901.0, "found": 130.0, **trip},
    ]))  # fmt: skip
    assert [(mark.t, mark.text) for mark in story.marks] == [
        (130.0, "guard fast: W above 80"),
        (900.0, "resumed"),
    ]


def test_bringing_home_begins_when_the_last_job_has_ended():
    story = story_of(
        events(
            [
                {"t": 1.0, "event": "simulation.ended", "job": "attempt-1", "outcome": "done"},
                {"t": 5.0, "event": "step.ended", "job": "step-peak-1.1", "outcome": "done"},
                {"t": 6.0, "event": "stageout.done", "files": [["peak.nc", 7]]},
            ]
        )
    )
    home = story.spans["bring home"]
    assert (home.begin, home.end) == (5.0, 6.0)


def test_the_trials_of_a_tuning_are_rows_and_their_phases_spans():
    key = 'simulation.mpiio_hints."out*".cb_nodes'
    trials = [("pilot", {}, "done"), ("search", {key: 4}, "failed"), ("search", {key: 2}, "")]
    lines = []
    for number, (phase, values, outcome) in enumerate(trials, 1):
        about = {"job": f"trial-{number}", "phase": phase, "origin": "model", "values": values}
        lines.append({"t": 10.0 * number, "event": "trial.submitting", **about})
        took = (
            {"seconds": {"out": 1.5, "rst": 0.25}} if outcome == "done" else {"message": "exit 3"}
        )
        end = {"job": f"trial-{number}", "outcome": outcome, "load": 0.7, **took}
        if outcome:
            lines.append({"t": 10.0 * number + 5, "event": "trial.ended", **end})
    story = story_of(events(lines))
    assert [(it.name, it.begin, it.end) for it in story.spans.values()] == [
        ("pilot", 10.0, 15.0),
        ("search", 20.0, None),
    ]
    assert [trial_row(*it) for it in story.trials.items()] == [
        ("1", "pilot", "model", "1.75 s", "0.7", "the recipe as it is"),
        ("2", "search", "model", "failed", "0.7", "cb_nodes=4: exit 3"),
        ("3", "search", "model", "", "", "cb_nodes=2"),
    ]
    other = {key: 2, "simulation.mpiio_hints.rst*.cb_nodes": 8}
    about = {"job": "trial-4", "phase": "search", "origin": "model", "values": other}
    story = story_of(events([{"t": 50.0, "event": "trial.submitting", **about}]))
    assert trial_row(*next(iter(story.trials.items())))[-1] == "out*.cb_nodes=2 rst*.cb_nodes=8"


def test_a_run_that_looks_at_a_folder_has_no_buffer_and_its_moments_are_shown():
    look = {"path": "/scratch/storm", "model": "wrf", "reason": "namelist.input"}
    frame = {"stream": "d01", "time": "t1", "attempt": 1}
    story = story_of(events([
        {"t": 100.0, "event": "run.started"},
        {"t": 101.0, "event": "run.attached", **look},
        {"t": 101.0, "event": "attempt.observed", "attempt": 1, "evidence": "on arrival"},
        {"t": 102.0, "event": "product.published", "clock": {"written": 5.0}, **frame},
        {"t": 103.0, "event": "product.published", "clock": {"written": 102.5}, **frame},
        {"t": 104.0, "event": "model.observed", "state": "quiet", "evidence": "for 9 min"},
        {"t": 105.0, "event": "path.lost", "evidence": "Stale file handle"},
        {"t": 200.0, "event": "run.resumed", "idle_s": 90.0},
        {"t": 201.0, "event": "path.back", "evidence": "the folder is back"},
        {"t": 202.0, "event": "attempt.observed", "attempt": 2, "evidence": "another log"},
        {"t": 203.0, "event": "product.published", "clock": {"written": 150.0}, **frame},
        {"t": 210.0, "event": "run.ended", "outcome": "quiet"},
    ]))  # fmt: skip
    assert [(it.name, it.begin, it.end) for it in story.spans.values()] == [
        ("look", 100.0, 110.0),
        ("look", 200.0, 210.0),
    ]
    assert story.latency == [(103.0, 0.5)]  # not the ages of frames that were there before
    assert [(mark.kind, mark.text) for mark in story.marks] == [
        ("life", "looks at /scratch/storm: namelist.input"),
        ("life", "attempt 1 of the model: on arrival"),
        ("life", "the model: quiet, for 9 min"),
        ("alarm", "the folder cannot be read: Stale file handle"),
        ("life", "resumed"),
        ("life", "the folder is back"),
        ("life", "attempt 2 of the model: another log"),
    ]


def test_the_report_of_a_look_shows_the_folder_and_no_nodes(tmp_path):
    look = AttachedRun(tmp_path / "runs", left_out=["slp: the files have no PSFC"])
    look.begin(ready(signal="unproven"))
    look.show("quiet", "nothing was written for 14 min")
    out = tmp_path / "report.html"
    write_report(RunView(look.run), out)
    said = Seen(out.read_text()).text
    for words in ("/scratch/storm", "quiet: nothing was written for 14 min", "1 unproven",
                  "slp: the files have no PSFC", "What happened"):  # fmt: skip
        assert words in said
    assert "on each" not in said
