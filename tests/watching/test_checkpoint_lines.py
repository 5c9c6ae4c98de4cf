"""What the log says of checkpoints: their times where lines have none, and how long they took."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from checkpoint_case import RestartingWrf, key

from burstlens.workflows.frames.log_search import LogPattern
from burstlens.workflows.frames.model_log import Follower
from burstlens.workflows.frames.speech import MAX_CHECKPOINTS, Speech, Written
from burstlens.workflows.models.base import Facts, LogLine
from burstlens.workflows.models.wrf import Wrf

RESTART = Path(__file__).parents[1] / "data" / "wrf" / "restart"


@pytest.fixture
def hear(tmp_path):
    """Reads logs of these texts, each from the beginning on in pieces of so many lines."""

    def heard(logs, model=RestartingWrf(), lines=10_000, speech=Speech()):  # noqa: B008
        follower = Follower(tmp_path, model, Facts(), {})
        timed = []
        for name, text in logs.items():
            parts = text.splitlines(keepends=True)
            for first in range(0, len(parts), lines):
                with (tmp_path / name).open("a") as file:
                    file.writelines(parts[first : first + lines])
                found = follower.hear(dict.fromkeys(logs, True), speech, 100.0)
                speech = pickle.loads(pickle.dumps(found.speech))
                timed += found.timed
        return speech, timed

    return heard


def recorded(name):
    return (RESTART / name / "rsl.error.0000").read_text()


def told(speech):
    return [(line.stream, line.time, line.took_s) for line in speech.checkpoints]


@pytest.mark.parametrize("lines", [1, 7, 10_000])
def test_lines_without_a_time_are_about_the_step_before_them(hear, lines):
    speech, _ = hear({"rsl.error.0000": recorded("A1")}, lines=lines)
    assert told(speech) == [("d01", key(1), 5.26935), ("d01", key(2), 5.48043)]


@pytest.mark.parametrize("lines", [1, 10_000])
def test_steps_of_a_nest_between_those_of_its_parent_do_not_count(hear, lines):
    speech, _ = hear({"rsl.error.0000": recorded("Q3")}, lines=lines)
    assert told(speech) == [
        ("d01", key(3), 0.34738), ("d02", key(3), 0.28413),
        ("d01", key(4), 0.27233), ("d02", key(4), 0.34959),
    ]  # fmt: skip


def test_a_line_before_any_step_is_about_no_known_checkpoint(hear):
    line = "Timing for Writing restart for domain        1:    0.34738 elapsed seconds\n"
    speech, timed = hear({"rsl.error.0000": line})
    assert speech.checkpoints == ()
    assert [(one.time, one.took_s) for one in timed] == [(None, 0.34738)]


def test_a_log_that_begins_anew_forgets_its_steps(hear, tmp_path):
    line = "Timing for Writing restart for domain        1:    0.34738 elapsed seconds\n"
    speech, _ = hear({"rsl.error.0000": recorded("A1")})
    (tmp_path / "rsl.error.0000").write_text("")
    again, _ = hear({"rsl.error.0000": line}, speech=speech)
    assert told(again) == told(speech)
    assert again.steps == {}


def test_each_log_has_steps_of_its_own(hear):
    step = "Timing for main: time 0001-01-01_00:{:02d}:00 on domain   1: 0.5 elapsed seconds\n"
    line = "Timing for Writing restart for domain        1:    0.34738 elapsed seconds\n"
    speech, _ = hear({"model.log": step.format(9), "rsl.error.0000": step.format(5) + line})
    assert told(speech) == [("d01", key(5), 0.34738)]
    assert speech.steps == {"model.log": key(9), "rsl.error.0000": key(5)}


class Spoken(Wrf):
    """Each line ``wrote TIME`` is about a checkpoint."""

    def read_line(self, line):
        return LogLine("checkpoint", line, time=line.split()[1])


def test_a_line_with_a_time_is_about_that(hear):
    speech, timed = hear({"rsl.error.0000": f"wrote {key(7)}\n"}, Spoken())
    assert told(speech) == [(None, key(7), None)]
    assert timed == []  # it does not say how long it took
    assert speech.progress is None


def test_of_lines_that_wait_for_their_checkpoints_the_latest_are_kept(hear):
    text = "".join(f"wrote t{number:08d}\n" for number in range(MAX_CHECKPOINTS + 5))
    speech, _ = hear({"rsl.error.0000": text}, Spoken())
    assert len(speech.checkpoints) == MAX_CHECKPOINTS
    assert speech.checkpoints[0].time == "t00000005"


@pytest.mark.parametrize("name", ["A1", "Q3", "E1"])
def test_the_time_that_checkpoints_took_counts_as_output_without_frames(hear, name, tmp_path):
    """As it did while their lines meant other output."""
    _, timed = hear({"rsl.error.0000": recorded(name)})
    (tmp_path / "rsl.error.0000").unlink()
    _, as_output = hear({"rsl.error.0000": recorded(name)}, PlainWrf())
    assert len(timed) > 5
    assert [one.took_s for one in timed] == [one.took_s for one in as_output]
    assert [(one.stream, one.file) for one in timed] == [
        (one.stream, one.file) for one in as_output
    ]
    assert {one.time for one in timed if one.stream is None} <= {key(n) for n in range(1, 5)}


class PlainWrf(Wrf):
    """WRF whose lines about restart files mean output without frames."""

    def read_line(self, line):
        said = RestartingWrf().read_line(line)
        if said is None or said.kind != "checkpoint":
            return said
        return LogLine("output", line, file=said.file, took_s=said.took_s)


def test_a_checkpoint_is_no_frame_that_the_log_called_written(hear):
    line = "Timing for Writing restart for domain        1:    0.34738 elapsed seconds\n"
    step = "Timing for main: time 0001-01-01_00:05:00 on domain   1: 0.5 elapsed seconds\n"
    speech, timed = hear({"rsl.error.0000": step + line})
    assert speech.written == ()
    assert not speech.speaks
    assert timed == [Written(None, key(5), "restart")]


def test_a_pattern_that_matches_a_line_about_a_checkpoint_is_met_at_the_models_time(tmp_path):
    """Not at the time of the state that the line names."""

    class Late(Spoken):
        def read_line(self, line):
            said = Spoken.read_line(self, line)
            return said if line.startswith("wrote") else replace(said, kind="progress")

    (tmp_path / "model.log").write_text(f"at {key(5)}\nwrote {key(3)}\n")
    follower = Follower(tmp_path, Late(), Facts(), {}, (LogPattern("guard", "wrote"),))
    heard = follower.hear({"model.log": True}, Speech(), 100.0)
    assert heard.search.hits["guard"].time == key(5)
    assert [line.time for line in heard.speech.checkpoints] == [key(3)]
