"""Products that are added to a run that goes on."""

from __future__ import annotations

import json
import os
import re
import signal

import pytest
from look_case import LookCase
from run_case import TIMES

from burstlens.clients.opened.steering import Added, earlier_frames
from burstlens.core.run.directory import RunDir
from burstlens.core.run.history import History
from burstlens.workflows.driver.run import recipe_of

KILL = {"role": "driver", "call": "unlink control/add-*-*.json", "number": 1, "when": "before"}


@pytest.fixture
def live(standing):
    """A run in progress, for requests that it refuses."""
    standing.live()

    def add(name, text, *words):
        (standing.folder / name).write_text(text)
        return standing.call("add", "live", name, *words)

    add.folder, add.call = standing.folder, standing.call
    add.run = standing.runs / "live"
    yield add
    assert list((add.run / "control").iterdir()) == []
    assert "product.added" not in standing.events("live")


@pytest.mark.slow
# Requests that outlive their driver are in test_dropped_requests.py.
@pytest.mark.parametrize(
    "kill", [None, pytest.param(KILL, id="driver-killed-as-it-takes-them", marks=pytest.mark.fault)]
)
def test_products_added_at_once_are_made_once(steered, kill):
    case = steered(held=True)
    driver = case.launch(kill=kill)
    case.await_event("frame.ready", 1)
    os.mkfifo(case.control / "add-0-fifo.json")
    (case.control / "add-1-list.json").write_text("[]")
    (case.control / "add-2-kind.json").write_text(
        json.dumps({"products": [{"name": "x", "kind": "mapp"}], "all_frames": False})
    )
    driver.send_signal(signal.SIGSTOP)  # it sees all of them at one look
    adds = [case.start("add", "r", "mine.toml"), case.start("add", "r", "u.toml", "--all-frames")]
    case.await_that(lambda: len(list(case.control.glob("add-*.json"))) == 5, "two requests more")
    driver.send_signal(signal.SIGCONT)
    assert [add.wait(60) for add in adds] == [0, 0]
    case.go_on()
    if kill:
        assert case.wait(driver).code != 0
        assert (case.folder / "calls" / "killed").exists()
        case.finish()
    else:
        earlier = "and of the earlier frames that are still on the buffer"
        assert f"r makes u from now on, {earlier}\n" in case.said()
        # How many frames are there by then depends on the model's speed.
        said = r"r makes mine from now on(, not of the (\d )?earlier frames?; .* too)?\n"
        assert re.search(said, case.said())
        assert case.wait(driver).code == 0

    refused = {event["request"]: event["reason"] for event in case.events("product.refused")}
    assert set(refused) == {"add-0-fifo.json", "add-1-list.json", "add-2-kind.json"}
    assert 'no kind "mapp"; did you mean map?' in refused["add-2-kind.json"]
    added = {event["product"]: event for event in case.events("product.added")}
    assert len(case.events("product.added")) == len(added) == 2
    journal = case.journal()
    since = journal.index(added["mine"])
    later = [e["time"] for e in journal[since:] if e["event"] == "frame.ready"]
    assert sorted(case.published("mine")) == sorted(later) != list(TIMES)
    for product in ("w", "core", "u"):
        assert sorted(case.published(product)) == list(TIMES)
    assert list(case.control.iterdir()) == []
    recipe, _ = recipe_of(RunDir(case.run))
    assert {product.name for product in recipe.products} == {"w", "core", "u", "mine"}
    status = json.loads((case.run / "status.json").read_text())
    assert status["products"]["u"]["published"] == 3


@pytest.mark.slow
def test_frames_that_are_gone_are_counted_and_reported(steered):
    case = steered(held=True, buffer='raw = "release"')
    driver = case.launch()
    case.await_event("frame.released")
    said = case.ask("add", "r", "u.toml", "--all-frames", "--json")
    answer, _ = json.JSONDecoder().raw_decode(said[said.index("{") :])  # the driver goes on saying
    gone = case.events("product.added")[0]["gone"]
    assert gone > 0
    assert answer["gone"] == {"u": gone}
    case.go_on()
    assert case.wait(driver).code == 0
    assert sorted(case.published("u")) == list(TIMES[gone:])


@pytest.mark.slow
def test_all_faults_are_reported_at_once_and_nothing_is_changed(live):
    done = live(
        "bad.toml",
        """
        [[product]]
        name = "w"
        kind = "map"
        variable = "U"
        [[product]]
        name = "b"
        kind = "mapp"
        [[product]]
        name = "c"
        kind = "map"
        variabel = "U"
        """,
    )
    assert done.returncode == 1
    assert "product.w.name  " in done.stderr
    assert "the name is taken by another one" in done.stderr
    assert 'there is no kind "mapp"; did you mean map?' in done.stderr
    assert "unknown key; did you mean variable?" in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "title = 'x'\n[buffer]\n[[product]]\nname = 'u'\nkind = 'map'\nvariable = 'U'\n",
            "odd.toml: only [[product]] tables can be added to a run, not title, buffer\n",
        ),
        (
            "title = 'x'",
            "can be added to a run, not title; there is no [[product]] table\n",
        ),
        ("", "there is no [[product]] table"),
        ("[[product", "is not TOML"),
    ],
)
def test_a_file_without_a_list_of_products_is_refused(live, text, message):
    done = live("odd.toml", text)
    assert (done.returncode, message in done.stderr) == (1, True), done.stderr


def test_a_pipe_is_refused(live):
    os.mkfifo(live.folder / "pipe")
    done = live.call("add", "live", "pipe")
    message = "burstlens: pipe is not a file; write the [[product]] tables to one\n"
    assert (done.returncode, done.stderr) == (1, message)


def test_a_file_that_a_product_needs_must_be_there_and_replace_none_of_the_runs(live):
    text = '[[product]]\nname = "mine"\nkind = "python"\nfunction = "{}.py:f"\n'
    missing = live("mine.toml", text.format("nowhere"))
    assert (missing.returncode, "there is no file" in missing.stderr) == (1, True)
    (live.run / "files" / "taken.py").write_text("one = 1\n")
    (live.folder / "taken.py").write_text("two = 2\n")
    other = live("mine.toml", text.format("taken"))
    assert (other.returncode, "the run has another taken.py already" in other.stderr) == (1, True)
    assert (live.run / "files" / "taken.py").read_text() == "one = 1\n"


def test_a_product_that_the_run_makes_already_is_neither_a_fault_nor_made_again(live):
    same = '[[product]]\nname = "w"\nkind = "map"\nvariable = "W"\nlevel = 5\n'
    same += "limits = [-2, 2]\n"
    done = live("same.toml", same, "--json")
    reported = json.loads(done.stdout)
    assert (done.returncode, reported["names"], reported["new"]) == (0, ["w"], [])


def test_a_run_that_is_over_takes_nothing(standing):
    standing.done()
    (standing.folder / "u.toml").write_text('[[product]]\nname="u"\nkind="map"\nvariable="U"\n')
    done = standing.call("add", "done", "u.toml")
    assert (done.returncode, done.stderr) == (1, "burstlens: done is over already: done\n")


def test_a_product_that_no_frame_can_give_is_refused_and_nothing_is_changed(live):
    done = live("none.toml", "[[product]]\nname = 'x'\nkind = 'map'\nvariable = 'NOSUCH'\n")
    assert done.returncode == 1
    assert "product.x.variable: the stream d01 has no variable 'NOSUCH'" in done.stderr


def test_earlier_frames_are_those_of_the_product_s_stream_that_are_not_released():
    history = History()
    frames = [
        ("d01", TIMES[0], 1),
        ("d01", TIMES[1], 1),
        ("d01", TIMES[1], 2),
        ("d02", TIMES[0], 1),
    ]
    for frame in frames:
        history.frames.add(frame)
    history.released.add(frames[0])
    assert earlier_frames(history, {"d01"}) == 1
    assert earlier_frames(history, {"d02"}) == 1
    assert earlier_frames(history, {"d01", "d02"}) == 2
    assert earlier_frames(history, {"d03"}) == 0
    history.frames.add(("auxhist2_d01", TIMES[0], 1))
    assert earlier_frames(history, {None}) == 1


@pytest.mark.parametrize(
    ("all_frames", "earlier", "sentence"),
    [
        (False, 0, "look makes rain from now on"),
        (False, 1, "look makes rain from now on, not of the earlier frame; with --all-frames of "
                   "that one too"),
        (False, 4, "look makes rain from now on, not of the 4 earlier frames; with --all-frames of "
                   "those too"),
        (True, 4, "look makes rain from now on, and of the earlier frames that are still on the "
                  "buffer"),
    ],
)  # fmt: skip
def test_earlier_frames_that_a_product_is_not_made_of_are_named(all_frames, earlier, sentence):
    added = Added("look", ("rain",), ("rain",), True, {}, all_frames, earlier)
    assert added.text() == sentence


@pytest.mark.slow
def test_a_look_refuses_what_its_newest_frame_cannot_give_and_names_earlier_frames(tmp_path):
    case = LookCase(tmp_path)
    # A model that goes on: a look at one that has ended may end before the addition.
    case.write("netcdf4_one", "--speed", "1000", "--go-on", str(tmp_path / "never"))
    look = case.start("--name", "look-here", "--detach")
    assert case.end(look) == 0
    case.await_event("frame.ready", 2)
    (tmp_path / "none.toml").write_text(
        "[[product]]\nname = 'x'\nkind = 'map'\nvariable = 'NOSUCH'\n"
    )
    assert case.end(case.burstlens("add", "look-here", "none.toml")) == 1
    assert "none.toml: x: the stream d01 has no variable 'NOSUCH'" in case.said()
    assert not case.events("product.added")
    (tmp_path / "w.toml").write_text("[[product]]\nname = 'x'\nkind = 'map'\nvariable = 'T2'\n")
    assert case.end(case.burstlens("add", "look-here", "w.toml")) == 0
    assert "not of the 2 earlier frames; with --all-frames of those too" in case.said()
    case.stop()
    case.close()
