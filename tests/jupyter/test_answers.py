"""What a dashboard may ask of the kernel, and what is refused."""

from __future__ import annotations

import json
import shutil

import pytest
from values_case import ValuesRun

import burstlens
from burstlens.clients.pages.answers import BATCH_BYTES, Answers

POLL = {"ask": "poll", "run": None, "offset": 0, "stamp": None}


@pytest.fixture
def run(standing, tmp_path):
    """A copy of the run that is done."""
    standing.done()
    shutil.copytree(standing.runs / "done", tmp_path / "runs" / "done")
    return burstlens.open_run(tmp_path / "runs" / "done")


@pytest.fixture
def answers(run):
    return Answers(run, allow_stop=False)


def going_on(run) -> None:
    """Change its files so that its model seems to go on."""
    status = json.loads(run.directory.status.read_text())
    run.directory.status.write_text(json.dumps(status | {"state": "running", "outcome": None}))
    (run.directory.job("attempt-1") / "ended.json").unlink()


def test_a_poll_gives_the_status_and_the_lines_that_came_since(run, answers):
    first, _ = answers.answer(POLL)
    assert first["status"]["state"] == "done"
    assert (len(first["lines"]), first["fresh"], first["more"]) == (6, True, False)
    again = POLL | {"offset": first["offset"], "stamp": first["stamp"]}
    second, _ = answers.answer(again)
    assert (second["status"], second["lines"], second["fresh"]) == (None, [], False)
    with run.directory.index.open("a") as stream:
        stream.write(json.dumps(first["lines"][0] | {"attempt": 2}) + "\n")
    third, _ = answers.answer(again)
    assert [line["attempt"] for line in third["lines"]] == [2]


def test_a_long_index_comes_in_parts(run, answers):
    line = run.directory.index.read_text().splitlines()[0] + "\n"
    count = 3 * BATCH_BYTES // len(line)
    run.directory.index.write_text(line * count)
    offset, more, parts, lines = 0, True, 0, 0
    while more:
        answer, _ = answers.answer(POLL | {"offset": offset})
        offset, more = answer["offset"], answer["more"]
        parts, lines = parts + 1, lines + len(answer["lines"])
    assert lines == count
    assert parts >= 3


def test_a_picture_comes_as_its_bytes(run, answers):
    picture = run.image("w")
    answer, buffers = answers.answer({"ask": "image", "run": None, "name": picture.entry.name})
    assert answer == {"type": "image/png"}
    assert buffers == [picture.path.read_bytes()]


@pytest.mark.parametrize("name", ["../status.json", "../../x.png", "/etc/x.png", "w/none.png"])
def test_nothing_else_than_pictures_of_the_products_is_given(answers, name):
    answer, buffers = answers.answer({"ask": "image", "run": None, "name": name})
    assert set(answer) == {"error"}
    assert buffers == []


def ask_log(answers, name, begin, length=100):
    return answers.answer(
        {"ask": "log", "run": None, "name": name, "begin": begin, "length": length}
    )


def test_parts_of_a_log_come_with_the_size_of_the_whole(run, answers):
    run.directory.logs.mkdir(exist_ok=True)
    run.directory.model_log.write_bytes(b"0123456789")
    assert ask_log(answers, "model.log", 4, 3) == ({"size": 10, "begin": 4}, [b"456"])
    assert ask_log(answers, "model.log", -3) == ({"size": 10, "begin": 7}, [b"789"])
    assert ask_log(answers, "model.log", -99) == ({"size": 10, "begin": 0}, [b"0123456789"])
    assert ask_log(answers, "model.log", 99) == ({"size": 10, "begin": 99}, [b""])


@pytest.mark.parametrize("name", ["../run.json", "/etc/hostname", "none.log", "", "a\0b", "link"])
def test_nothing_else_than_logs_of_the_run_is_given(run, answers, name):
    run.directory.logs.mkdir(exist_ok=True)
    (run.directory.logs / "link").symlink_to("/etc/hostname")
    answer, buffers = ask_log(answers, name, 0)
    assert set(answer) == {"error"}
    assert buffers == []


def test_the_recipe_and_the_runs_facts_are_given_as_they_are(run, answers):
    run.directory.recipe.unlink(missing_ok=True)
    answer, _ = answers.answer({"ask": "about", "run": None})
    assert answer["texts"] == {"run.json": run.directory.facts.read_text()}


def test_the_runs_beside_it_can_be_compared_with_and_no_others(run, answers, tmp_path):
    shutil.copytree(run.directory.path, tmp_path / "runs" / "other")
    shutil.copytree(run.directory.path, tmp_path / "outside")
    found, _ = answers.answer({"ask": "others", "run": None})
    assert {row["run"] for row in found["runs"]} == {"done", "other"}
    assert len(answers.answer(POLL | {"run": "other"})[0]["lines"]) == 6
    for name in ("../outside", "outside", str(tmp_path / "outside"), "", 3, ["done"]):
        assert "error" in answers.answer(POLL | {"run": name})[0]


def test_a_run_that_cannot_be_read_hides_no_other(run, answers, tmp_path):
    broken = tmp_path / "runs" / "broken"
    broken.mkdir()
    (broken / "run.json").write_text("{")
    found, _ = answers.answer({"ask": "others", "run": None})
    assert [row["run"] for row in found["runs"]] == ["done"]


def test_stopping_has_to_be_allowed(run, answers):
    going_on(run)
    assert answers.answer(POLL)[0]["may_stop"] is False
    answer, _ = answers.answer({"ask": "control", "run": None, "what": "stop"})
    assert "allow_stop=True" in answer["error"]
    assert run.directory.stop_requested() is None


@pytest.mark.parametrize("what", ["stop", "stop-now"])
def test_stop_asks_the_run(run, what):
    going_on(run)
    answers = Answers(run, allow_stop=True)
    assert answers.answer(POLL)[0]["may_stop"] is True
    assert answers.answer({"ask": "control", "run": None, "what": what}) == ({}, [])
    assert run.directory.stop_requested() == what


def test_a_neighbour_cannot_be_stopped_from_here(run, tmp_path):
    shutil.copytree(run.directory.path, tmp_path / "runs" / "other")
    other = burstlens.open_run(tmp_path / "runs" / "other")
    going_on(other)
    answers = Answers(run, allow_stop=True)
    assert answers.answer(POLL | {"run": "other"})[0]["may_stop"] is False
    assert "error" in answers.answer({"ask": "control", "run": "other", "what": "stop"})[0]
    assert other.directory.stop_requested() is None


def test_a_run_that_is_over_is_not_asked(run):
    answers = Answers(run, allow_stop=True)
    answer, _ = answers.answer({"ask": "control", "run": None, "what": "stop"})
    assert answer["error"] == "done is over already: done"
    status = json.loads(run.directory.status.read_text())
    run.directory.status.write_text(json.dumps(status | {"state": "running", "outcome": None}))
    answer, _ = answers.answer({"ask": "control", "run": None, "what": "stop"})
    assert answer["error"].startswith("the model of done has ended already")
    assert run.directory.stop_requested() is None


@pytest.mark.parametrize(
    "request_",
    [{}, {"ask": "eval"}, {"ask": "poll"}, {"ask": "poll", "offset": "x"}, {"ask": ["poll"]},
     {"ask": "image"}, {"ask": "control", "what": "rm"}],
)  # fmt: skip
def test_what_makes_no_sense_is_answered_with_an_error(run, request_):
    answer, _ = Answers(run, allow_stop=True).answer(request_)
    assert isinstance(answer["error"], str)


def test_a_missing_run_is_reported_and_comes_back(run, answers, tmp_path):
    away = tmp_path / "away"
    run.directory.path.rename(away)
    assert "error" in answers.answer(POLL)[0]
    away.rename(run.directory.path)
    assert len(answers.answer(POLL)[0]["lines"]) == 6


def test_what_a_notebook_keeps_is_small_and_shows_the_end(run, answers):
    kept = answers.kept()
    assert kept["status"]["state"] == "done"
    assert [line["product"] for line in kept["lines"]] == ["w"]
    assert kept["pictures"] == {kept["lines"][0]["name"]: run.image("w").data}
    assert json.dumps(kept["lines"])  # as a notebook needs it


def test_a_picture_that_is_gone_does_not_keep_the_rest_from_a_notebook(run, answers):
    first = run.directory.index.read_text().splitlines()[0]
    line = json.loads(first) | {"product": "gone", "name": "gone/gone.png"}
    with run.directory.index.open("a") as stream:
        stream.write(json.dumps(line) + "\n")
    kept = answers.kept()
    assert kept["status"]["state"] == "done"
    assert [line["product"] for line in kept["lines"]] == ["w"]
    assert len(kept["pictures"]) == 1


def test_a_neighbour_whose_status_is_not_ours_hides_no_other(run, answers, tmp_path):
    shutil.copytree(run.directory.path, tmp_path / "runs" / "other")
    (tmp_path / "runs" / "other" / "status.json").write_text(
        '{"frames": {"ready": {}}, "driver": 3}'
    )
    found, _ = answers.answer({"ask": "others", "run": None})
    assert "done" in {row["run"] for row in found["runs"]}


def test_a_series_comes_in_pieces_the_newest_first(tmp_path):
    made = ValuesRun(tmp_path)
    for hour in range(24):
        made.publish(hour)
    answers = Answers(burstlens.open_run(made.run.path), allow_stop=False)
    ask = {"ask": "series", "run": None, "product": "t2", "lat": 27.0, "lon": -92.0}
    found, before = [], ""
    while True:
        answer, buffers = answers.answer({**ask, "before": before})
        assert buffers == []
        assert (answer["series"]["units"], answer["series"]["frames"]) == ("K", 24 - len(found))
        found += answer["rows"]
        if not answer["more"]:
            break
        before = found[-1][0]
    assert [row[0] for row in found] == [f"20050828T{hour:02d}0000" for hour in range(24)][::-1]
    assert found[0][1] == pytest.approx(23030.03, abs=0.01)


def test_a_long_series_leaves_time_for_other_requests(tmp_path):
    made = ValuesRun(tmp_path)
    made.publish(0)
    text = made.run.index.read_text()
    keys = (f"t{number:08d}.000" for number in range(3000))
    lines = [text.replace('"time":"20050828T000000"', f'"time":"{key}"') for key in keys]
    made.run.index.write_text("".join(lines))
    answers = Answers(burstlens.open_run(made.run.path), allow_stop=False)
    ask = {"ask": "series", "run": None, "product": "t2", "lat": 27.0, "lon": -92.0}
    answers.answer({**ask, "since": "t00002990.000"})  # the index is read once
    answer, _ = answers.answer(ask)
    assert answer["more"] is True
    assert answer["rows"]


@pytest.mark.parametrize(
    "wrong", [{}, {"product": 3}, {"product": "t2", "lat": True, "lon": 1}, {"product": "t9"}]
)
def test_a_series_that_cannot_be_given_is_an_error_for_people(tmp_path, wrong):
    made = ValuesRun(tmp_path)
    made.publish(0)
    answers = Answers(burstlens.open_run(made.run.path), allow_stop=False)
    answer, _ = answers.answer({"ask": "series", "run": None, "lat": 1, "lon": 2, **wrong})
    assert set(answer) == {"error"}
    assert "cannot be answered" not in answer["error"]
