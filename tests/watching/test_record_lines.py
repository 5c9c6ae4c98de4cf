"""Lines about a record of the file that the model writes now, as ROMS prints them after a sync."""

from __future__ import annotations

import pickle

import netCDF4
import pytest
from watcher_case import look

from burstlens.core.errors import RecipeError
from burstlens.workflows.frames.speech import (
    Recorded,
    Speech,
    Written,
    matching,
    with_declared,
    with_files,
)
from burstlens.workflows.models.base import LogLine
from burstlens.workflows.models.command import Command

FORMS = ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF4"]
WRITTEN = r"WRT_(?P<stream>\w+)\s+- wrote \w+ fields .* into time record = (?P<record>\d+)"
ROMS = Command(
    argv=["./romsM"], frames={"his": "his_*.nc", "avg": "avg_*.nc"}, written=WRITTEN,
    time_variable="ocean_time",
)  # fmt: skip


def line(record, stream="HIS"):
    words = f"WRT_{stream}     - wrote history fields (Index=1,1) into time record"
    return f"      {words} = {record:07d}\n"


class Growing:
    """A file to which records are added one call at a time."""

    def __init__(self, path, form, start=0.0):
        self.file = netCDF4.Dataset(path, "w", format=form)
        self.file.createDimension("ocean_time", None)
        self.file.createDimension("x", 20_000)
        time = self.file.createVariable("ocean_time", "f8", ("ocean_time",))
        time.units, self.start, self.count = "seconds since 2000-01-01", start, 0
        for name in ("zeta", "temp"):
            self.file.createVariable(name, "f4", ("ocean_time", "x"))
        self.file.sync()

    def steps(self):
        """The calls that write one record, in ROMS' order; the sync is the last."""
        index, self.count = self.count, self.count + 1
        file = self.file
        yield lambda: file["ocean_time"].__setitem__(index, self.start + 10.0 * index)
        yield file.sync
        yield lambda: file["zeta"].__setitem__(index, index + 1.0)
        yield file.sync
        yield lambda: file["temp"].__setitem__(index, index + 2.0)
        yield file.sync

    def add(self):
        for step in self.steps():
            step()


@pytest.fixture
def say(tmp_path):
    def said(*lines):
        with (tmp_path / "model.log").open("a") as log:
            log.writelines(lines)

    return said


def drawn(report):
    return [(frame.paths[0], frame.record, frame.signal) for frame in report.frames]


def quickly(one):
    """Frames of two scans that follow at once, so that no quiet decides."""
    return [frame for _ in range(2) for frame in drawn(look(one, 1e-3))]


@pytest.mark.parametrize("form", FORMS)
def test_each_record_is_ready_with_its_line_and_never_before(tmp_path, watcher, say, form):
    one = watcher(model=ROMS)
    growing = Growing(tmp_path / "his_0001.nc", form)
    for index in range(4):
        for step in growing.steps():
            step()
            assert quickly(one) == [], "the record is not finished"
        say("step\n", line(index + 1))
        assert quickly(one) == [("his_0001.nc", index, "log")]
    growing.file.close()


@pytest.mark.parametrize("form", FORMS)
def test_a_line_about_a_record_says_nothing_about_the_next_one(tmp_path, watcher, say, form):
    one = watcher(model=ROMS)
    growing = Growing(tmp_path / "his_0001.nc", form)
    growing.add()
    growing.add()
    say(line(1), line(2))
    assert quickly(one) == [("his_0001.nc", 0, "log"), ("his_0001.nc", 1, "log")]
    growing.add()
    say(line(2), line(1, "AVG"), line(3, "AVG"), line(9, "RST"))  # nothing about record 3
    assert quickly(one) == []
    say(line(3))
    assert quickly(one) == [("his_0001.nc", 2, "log")]


@pytest.mark.parametrize("form", FORMS)
def test_lines_that_come_late_are_not_taken_for_the_file_that_was_begun_since(
    tmp_path, watcher, say, form
):
    one = watcher(model=ROMS)
    first = Growing(tmp_path / "his_0001.nc", form)
    for _ in range(3):
        first.add()
    second = Growing(tmp_path / "his_0002.nc", form, start=30.0)
    for _ in range(3):
        second.add()
    # The log is as far as the first file; the second has as many records, the last in progress.
    say(line(1), line(2), line(3))
    found = quickly(one)
    assert {record for path, record, _ in found if path == "his_0001.nc"} == {0, 1, 2}
    # Of the second file only records that are followed by another one.
    later = [("his_0002.nc", 0, "later"), ("his_0002.nc", 1, "later")]
    assert [frame for frame in found if frame[0] == "his_0002.nc"] == later
    say(line(1), line(2))
    assert quickly(one) == []
    say(line(3))
    assert quickly(one) == [("his_0002.nc", 2, "log")]


def test_a_line_about_a_file_that_is_not_listed_yet_waits_for_it(tmp_path, watcher, say):
    one = watcher(model=ROMS)
    Growing(tmp_path / "his_0001.nc", "NETCDF3_CLASSIC").add()
    say(line(1))
    assert quickly(one) == [("his_0001.nc", 0, "log")]
    say(line(1))  # the second file was begun after the folder was listed
    assert quickly(one) == []
    Growing(tmp_path / "his_0002.nc", "NETCDF3_CLASSIC", start=10.0).add()
    assert quickly(one) == [("his_0002.nc", 0, "log")]


def test_a_call_goes_on_from_the_cursor_of_the_one_before(tmp_path, watcher, say):
    growing = Growing(tmp_path / "his_0001.nc", "NETCDF4")
    cursor, seen = None, []
    for index in range(3):
        growing.add()
        say(line(index + 1))
        one = watcher(cursor, model=ROMS)
        seen += drawn(look(one, 1e-3))
        cursor = pickle.loads(pickle.dumps(one.cursor))
    assert seen == [("his_0001.nc", index, "log") for index in range(3)]


@pytest.mark.parametrize("form", FORMS)
def test_with_a_file_the_line_names_a_record_of_that_file(tmp_path, watcher, say, form):
    written = r"^(?P<file>\S+) has (?P<record>\d+) records"
    one = watcher(model=Command(argv=["x"], frames="his_*.nc", written=written,
                                time_variable="ocean_time"))  # fmt: skip
    growing = Growing(tmp_path / "his_1.nc", form)
    growing.add()
    say("his_2.nc has 5 records\n")
    assert quickly(one) == []
    growing.add()
    say("his_1.nc has 1 records\n", "his_1.nc has 2 records\n")
    assert quickly(one) == [("his_1.nc", 0, "log"), ("his_1.nc", 1, "log")]
    growing.add()
    assert quickly(one) == []
    say("his_1.nc has 3 records\n")
    assert quickly(one) == [("his_1.nc", 2, "log")]
    assert [entry.file for entry in one.cursor.speech.written] == ["his_2.nc"]


def test_matching_lines_prove_records_up_to_theirs_and_wait_until_it_is_declared():
    entry = Written("his", None, "a.nc", record=3)
    proven = [any(matching([entry], "his", "t", ("a.nc",), index)) for index in range(5)]
    assert proven == [True, True, True, False, False]
    speech = Speech(written=(entry,))
    assert with_declared(speech, "his", "t", ("a.nc",), 1).written == (entry,)
    assert with_declared(speech, "his", "t", ("a.nc",), 2).written == ()
    assert with_declared(speech, "his", "t", ("a.nc",), 3).written == ()
    assert with_declared(speech, "his", "t", ("b.nc",), 2).written == (entry,)


def files(*names):
    return [("his", ("", len(name), name)) for name in names]


def test_files_are_counted_once_in_the_order_of_their_names():
    known = with_files({}, files("b", "a"))
    assert (known["his"].files, known["his"].newest[2]) == (2, "b")
    again = with_files(known, files("b"))
    assert again == known
    assert with_files(again, files("b", "c"))["his"].files == 3


@pytest.mark.parametrize(
    ("records", "count", "proven"),
    [
        ([1, 2, 3], 1, 3),
        ([1, 2, 3], 2, 0),  # the lines are about the first file
        ([1, 2, 1], 2, 1),
        ([1, 2, 1], 1, 0),  # a file that is not known yet
        ([1, 1, 1], 3, 1),
        ([5], 1, 5),  # a restart goes on in a file
        ([1, 2, 3, 2], 1, 3),  # a record that was written again
        ([], 1, 0),
    ],
)
def test_only_lines_about_the_newest_file_count(records, count, proven):
    known = with_files({}, files(*"abc"[:count]))["his"]
    for record in records:
        known = known.hearing(record)
    newest = "abc"[count - 1]
    assert [known.proves(newest, index) for index in range(6)] == [i < proven for i in range(6)]
    assert not known.proves("other", 0)
    assert known.file == (newest if proven else None) or not records


def test_without_a_file_no_line_counts():
    assert not Recorded().proves("", 0)
    assert Recorded().hearing(1).file is None


def read(text, **keys):
    frames = {"his": "his*.nc", "AVG": "avg*.nc"}
    return Command(**{"argv": ["x"], "frames": frames, **keys}).read_line(text)


def test_the_stream_of_a_line_is_found_whatever_its_case():
    assert read(line(3), written=WRITTEN) == LogLine("written", line(3), stream="his", record=3)
    assert read(line(3, "avg"), written=WRITTEN).stream == "AVG"
    assert read(line(3, "RST"), written=WRITTEN) is None
    one = read("record 7", frames="his*.nc", written=r"record (?P<record>\d+)")
    assert (one.stream, one.record, one.file) == ("output", 7, None)


@pytest.mark.parametrize("text", ["record 0", "record x", "record -1", "record 3.5"])
def test_a_line_whose_record_is_not_a_number_from_1_says_nothing(text):
    assert read(text, frames="his.nc", written=r"^record (?P<record>\S+)$") is None


def test_a_record_that_a_line_may_lack_is_optional():
    written = r"^wrote (?P<file>\S+)(?: record (?P<record>\d+))?$"
    assert read("wrote his_1.nc", written=written).record is None
    found = read("wrote his_1.nc record 2", written=written)
    assert (found.stream, found.file, found.record) == ("his", "his_1.nc", 2)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("wrote", r"lacks the group \(\?P<file>...\) or \(\?P<record>...\)"),
        ("wrote (?P<stream>.*)", "lacks the group"),
        (r"record (?P<record>\d+)", "does not say which stream is written"),
    ],
)
def test_an_expression_that_does_not_say_what_is_written_is_refused(written, message):
    with pytest.raises(RecipeError, match=message):
        read("", written=written)
