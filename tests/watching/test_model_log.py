"""What is kept from the lines of a model's logs: written frames, progress, trouble."""

from __future__ import annotations

import dataclasses

import pytest

from burstlens.workflows.frames.log_search import LogPattern
from burstlens.workflows.frames.model_log import MAX_TROUBLE, TAIL_LINES, Follower, logs_of
from burstlens.workflows.frames.speech import MAX_WRITTEN, Speech, Written, matching, with_declared
from burstlens.workflows.models.base import LogLine
from burstlens.workflows.models.command import Command
from burstlens.workflows.models.wrf import Wrf

MODEL = Command(
    argv=["./model"],
    frames={"out": "out_*.nc", "wind": "wind_*.nc"},
    written=r"^wrote (?P<file>\S+)",
    progress=r"^t=(?P<elapsed>[\d.]+) of (?P<total>[\d.]+)$",
    trouble="^BAD",
    done="^bye$",
    log_patterns=("log.*",),
)
FIRST, OTHER = "log.0", "log.1"


@pytest.fixture
def hear(tmp_path):
    """Reads these lines from the first log, after an earlier state."""

    def heard(*lines, name=FIRST, speech=None, model=MODEL, patterns=(), last=False):
        with (tmp_path / name).open("a") as log:
            log.writelines(f"{line}\n" for line in lines)
        follower = Follower(tmp_path, model, model.facts(tmp_path), {}, patterns)
        logs = logs_of(model, (path.name for path in tmp_path.iterdir()))
        return follower.hear(logs, speech or Speech(), 0.0, last=last)

    return heard


def test_the_first_log_by_name_speaks_for_the_model():
    assert logs_of(MODEL, ["log.1", "notes", "log.0"]) == {FIRST: True, OTHER: False}


def test_a_frame_that_the_log_calls_written_waits_until_it_is_declared(hear):
    found = hear("wrote out_1.nc", "wrote wind_1.nc")
    waits = (Written("out", None, "out_1.nc"), Written("wind", None, "wind_1.nc"))
    assert (tuple(found.written), found.speech.written) == (waits, waits)
    assert found.speech.speaks
    speech = with_declared(found.speech, "out", "t1", ("out_1.nc",))
    assert (speech.written, speech.declared) == (waits[1:], {"out": "t1"})


def test_the_newest_time_declared_is_kept_by_stream():
    speech = with_declared(Speech(declared={"d01": "t5", "d02": "t1"}), "d01", "t3", ())
    assert speech.declared == {"d01": "t5", "d02": "t1"}
    assert with_declared(speech, "d02", "t3", ()).declared == {"d01": "t5", "d02": "t3"}


def test_a_line_of_a_frame_that_is_already_declared_does_not_wait(hear):
    lines = [f"Timing for Writing wrfout_d01_0001-01-01_00:0{n}:00 for domain 1: 1.0 elapsed s"
             for n in (1, 2)]  # fmt: skip
    found = hear(*lines, name="rsl.error.0000", model=Wrf(), speech=Speech(
        declared={"d01": "00010101T000100"}
    ))  # fmt: skip
    assert len(found.written) == 2
    assert [line.time for line in found.speech.written] == ["00010101T000200"]


def test_waiting_lines_are_limited_per_stream_and_the_oldest_are_dropped(hear):
    lines = [f"wrote out_{number}.nc" for number in range(MAX_WRITTEN + 2)]
    waiting = hear("wrote wind_1.nc", *lines).speech.written
    files = [f"out_{number}.nc" for number in range(2, MAX_WRITTEN + 2)]
    assert [line.file for line in waiting] == ["wind_1.nc", *files]


ENTRIES = {
    "of no stream": Written(None, None, "a.nc"),
    "of another stream": Written("d02", None, "a.nc"),
    "of the file": Written("d01", None, "a.nc"),
    "of another file": Written("d01", None, "b.nc"),
    "of the time": Written("d01", "t1", "b.nc"),
    "of its beginning": Written("d01", "t", "b.nc"),
    "of another time": Written("d01", "t2", "a.nc"),
}


def test_a_line_names_a_frame_by_its_time_or_else_by_its_file():
    found = [*matching(ENTRIES.values(), "d01", "t1", ("a.nc",))]
    named = [name for name, entry in ENTRIES.items() if entry in found]
    assert named == ["of no stream", "of the file", "of the time", "of its beginning"]


def test_from_other_logs_only_trouble_is_read(hear):
    hear("t=1 of 4")
    found = hear("wrote out_1.nc", "t=3 of 4", "bye", "BAD wind", name=OTHER)
    assert (found.written, found.speech.written) == ([], ())
    assert not found.speech.ended_well
    assert found.speech.progress.fraction == 0.25
    assert found.trouble == ["BAD wind"]
    assert (list(found.tail), found.last_line) == (["t=1 of 4"], "t=1 of 4")


def test_the_end_and_the_progress_are_kept_from_call_to_call(hear):
    speech = hear("t=1 of 4", "bye").speech
    speech = hear("later", speech=speech).speech
    assert (speech.ended_well, speech.progress.fraction) == (True, 0.25)
    assert speech.last_line == "later"
    assert hear(speech=speech).speech.last_line == "later"


def test_a_later_read_of_a_log_gives_only_its_new_lines(hear):
    speech = hear("wrote out_1.nc").speech
    assert [line.file for line in hear("wrote out_2.nc", speech=speech).written] == ["out_2.nc"]


def test_lines_of_an_earlier_run_in_the_log_are_not_read(tmp_path):
    (tmp_path / FIRST).write_text("bye\n")
    size = (tmp_path / FIRST).stat().st_size
    follower = Follower(tmp_path, MODEL, MODEL.facts(tmp_path), {FIRST: (size, 1)})
    assert not follower.hear({FIRST: True}, Speech(), 0.0).speech.ended_well


def test_a_log_that_is_missing_or_cannot_be_read_does_not_block_the_others(tmp_path, hear):
    (tmp_path / "log.00").mkdir()
    hear("bye", name=OTHER)
    follower = Follower(tmp_path, MODEL, MODEL.facts(tmp_path), {})
    found = follower.hear({"gone": False, "log.00": False, OTHER: True}, Speech(), 0.0)
    assert found.speech.ended_well
    assert found.unreadable == ["log.00 cannot be read: it is not a regular file"]


def test_trouble_is_limited_and_the_latest_is_shown_last(hear):
    found = hear(*(f"BAD {number}" for number in range(MAX_TROUBLE + 2)))
    assert found.trouble == [f"BAD {number}" for number in range(2, MAX_TROUBLE + 2)]


def test_the_tail_has_the_latest_lines_cut_to_the_shown_length(hear):
    found = hear(*(f"{number} " + "x" * 600 for number in range(TAIL_LINES + 1)))
    assert [line.split()[0] for line in found.tail] == [str(n) for n in range(1, TAIL_LINES + 1)]
    assert {len(line) for line in found.tail} == {500}
    assert len(found.speech.last_line) == 500


def test_only_the_first_log_can_report_a_frame_as_lost(hear):
    line = "open_hist_w : error opening wrfout_d01_0001-01-01_00:01:00 for writing. ***"
    found = hear(line, name="rsl.error.0000", model=Wrf())
    assert [said.file for said in found.lost] == ["wrfout_d01_0001-01-01_00:01:00"]
    again = hear(line, name="rsl.error.0001", model=Wrf(), speech=found.speech)
    assert again.lost == []


def test_patterns_of_guards_are_searched_for_in_every_log(hear):
    pattern = (LogPattern("nan", "NaN"),)
    hear("NaN in vx", name=OTHER, patterns=pattern)
    found = hear("t=1 of 4", "NaN in vy", patterns=pattern)
    assert sum(hit.lines for hit in found.search.hits.values()) == 2


class Terse(Command):
    """A model whose lines cut times so short that several frames may match."""

    def read_line(self, line: str) -> LogLine | None:
        if line == "quilting":
            return LogLine("asynchronous", line)
        return LogLine("written", line, stream="out", time=line, cut=True)


def test_a_line_with_a_cut_time_is_not_evidence_of_a_whole_frame(hear):
    found = hear("2005", model=Terse(argv=["./model"], log_patterns=("log.*",)))
    assert [line.time for line in found.written] == ["2005"]
    assert (found.speech.written, found.speech.speaks) == ((), False)


def test_output_is_asynchronous_from_the_line_that_says_so(hear):
    model = Terse(argv=["./model"], log_patterns=("log.*",))
    speech = hear("quilting", model=model).speech
    assert speech.asynchronous
    assert hear("2005", model=model, speech=speech).speech.asynchronous


TALK = """\
| MPIIO write by phases, writers only, for out_1.nc
|   data send                      =  418919605   418919605   418919605 78%
|   net write BW (MiB/s)           =                              98.114
+--------------------------------------------------------------------------+
""".splitlines()


def test_a_report_of_mpi_io_may_come_in_two_pieces_of_the_log(hear):
    first = hear(*TALK[:2])
    assert first.blocks == []
    second = hear(*TALK[2:], "wrote out_1.nc", speech=first.speech)
    [block] = second.blocks
    assert (block.file, block.share("data send"), block.whole) == ("out_1.nc", 0.78, True)
    assert hear("t=1 of 2", speech=second.speech).blocks == []


def test_reports_of_mpi_io_are_read_from_the_log_that_speaks_only(hear):
    assert hear("t=1 of 2").blocks == []
    assert hear(*TALK, name=OTHER).blocks == []


def test_reports_in_two_logs_at_one_time_are_not_mixed(hear, tmp_path):
    model = dataclasses.replace(MODEL, log_patterns=("log.*", "err.*"))
    (tmp_path / "err.0").write_text("\n".join(TALK[:2]).replace("out_1", "out_2") + "\n")
    first = hear(*TALK[:2], model=model)
    (tmp_path / "err.0").open("a").write(TALK[2].replace("98", "99") + "\n" + TALK[3] + "\n")
    found = hear(*TALK[2:], model=model, speech=first.speech)
    rates = {block.file: block.number("net write BW (MiB/s)") for block in found.blocks}
    assert rates == {"out_1.nc": 98.114, "out_2.nc": 99.114}
    assert not any(block.mixed for block in found.blocks)
    assert not found.speech.blocks


def test_a_report_that_the_models_end_cuts_is_given_as_far_as_it_goes(hear):
    first = hear(*TALK[:2])
    [block] = hear(speech=first.speech, last=True).blocks
    assert (block.share("data send"), block.whole) == (0.78, False)


def test_lines_with_seconds_keep_the_logs_order(hear):
    """The journal counts them: a later driver reads the same log in other pieces."""
    files = ("wrfout_d01_2005-08-28_12:00:00", "restart", "wrfout_d01_2005-08-28_13:00:00")
    lines = (f"Timing for Writing {file} for domain 1: 3.0 elapsed seconds" for file in files)
    found = hear(*lines, model=Wrf(log_patterns=("log.*",)))
    assert [line.file for line in found.timed] == [files[0], None, files[2]]
    assert len(found.written) == 2


def test_checkpoints_are_timed_apart_from_frames(hear):
    line = "Timing for Writing restart for domain        1:   10.35 elapsed seconds"
    stars = line.replace("   10.35", "********")
    found = hear(line, stars, model=Wrf(log_patterns=("log.*",)))
    assert found.written == []
    assert found.speech.progress is None
    [restart] = found.timed
    assert (restart.stream, restart.took_s) == (None, 10.35)


def test_an_expression_that_takes_too_long_is_reported_and_searched_for_no_more(tmp_path):
    model = Command(argv=("x",), trouble="(b+)+$", done="finished")
    (tmp_path / "model.log").write_text(("b" * 3000 + "!\n") * 50 + "finished\n")
    follower = Follower(tmp_path, model, model.facts(tmp_path), {})
    heard = follower.hear(logs_of(model, ["model.log"]), Speech(), 0.0)
    assert [text.partition(":")[0] for text in heard.unreadable] == ["simulation.trouble"]
    assert heard.speech.ended_well
