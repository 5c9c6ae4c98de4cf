"""Which kind of log a file is, and what is said of files that are none."""

from __future__ import annotations

import gzip
import json
import os
from collections import defaultdict
from pathlib import Path

import pytest

from burstlens.clients.cli.io_tables import show_logs
from burstlens.core.errors import IOLogError
from burstlens.workflows.iostats import darshan_log
from burstlens.workflows.iostats.advice import advise
from burstlens.workflows.iostats.document import document
from burstlens.workflows.iostats.logs import read_log
from burstlens.workflows.iostats.mpiio_blocks import Blocks
from burstlens.workflows.iostats.mpiio_log import traffic
from burstlens.workflows.iostats.summary import Flow

DATA = Path(__file__).parents[1] / "data" / "io"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty", b"", "is empty"),
        ("text", b"all is well\n" * 9, "has no report about I/O"),
        ("binary", bytes(range(256)) * 40, "has no report about I/O"),
        ("gzip", gzip.compress(b"x" * 99, mtime=0), "is compressed with gzip"),
        ("netcdf", b"CDF\x01" + bytes(40), "is netCDF, not a log"),
        ("bzip2", b"BZh91AY&SY0000000", "is compressed with bzip2"),
    ],
)
def test_what_is_no_log_is_refused_in_one_line(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(IOLogError, match=message) as caught:
        read_log(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_a_missing_file_a_folder_and_a_pipe_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name, why in (
        ("none", "No such file"),
        ("", "not a regular file"),
        ("pipe", "not a regular file"),
    ):
        with pytest.raises(IOLogError, match=why):
            read_log(tmp_path / name)


def test_the_talks_sample_gives_its_numbers():
    summary = read_log(DATA / "mpiio_stats_wrf.txt")
    total = summary.total
    assert summary.source == "MPI-IO statistics of Cray MPICH"
    assert total.write.stripe_sized_share == pytest.approx(0.143, abs=5e-4)
    assert total.write.phases["data send"] == 0.78
    assert total.aggregators == 4
    assert total.seconds == pytest.approx(29.6, abs=0.1)  # WRF itself: 30.25 s
    assert total.model_s == 30.25151
    assert total.bandwidth == pytest.approx(98.114 * 2**20)
    assert total.write.mean_system_call == pytest.approx(3821006, abs=1)


def test_the_reports_of_one_frame_are_its_files():
    blocks = Blocks()
    lines = (DATA / "mpiio_stats_wrf.txt").read_text().replace("_01_00_00", "_00_00_00")
    (file,) = traffic(blocks.take_all(lines.splitlines()))
    assert file.name == "wrfout_d01_2007-04-03_00_00_00"
    assert (file.aggregators, file.write.phases["data send"]) == (4, 0.78)
    assert file.bytes / file.seconds == pytest.approx(98.114 * 2**20, rel=1e-3)


def test_hints_alone_are_a_log_too():
    summary = read_log(DATA / "romio_print_hints.txt")
    assert summary.hints[""]["cb_nodes"] == "1"
    assert not summary.files
    assert "no statistics" in summary.notes[0]


def test_thousands_of_files_are_added_up_in_bounded_memory(tmp_path):
    sample = (DATA / "mpiio_stats_wrf.txt").read_text().replace("2007-04-03_0", "{:04d}-04-03_0")
    path = tmp_path / "long.txt"
    path.write_text("".join(sample.format(*[number] * 3) for number in range(1200)))
    summary = read_log(path)
    assert len(summary.files) == 2001
    assert "beyond 2000 files" in summary.notes[0]
    assert summary.total.write.bytes == 1200 * 3045341799
    assert summary.total.write.phases["data send"] == pytest.approx(0.78)
    assert summary.total.seconds == pytest.approx(1200 * 29.6016, rel=1e-4)


@pytest.mark.parametrize("damage", ["1e400", "nan", "-7", "999999999999999999999", "NA", ""])
def test_values_that_make_no_sense_count_as_unknown(tmp_path, damage):
    text = (DATA / "mpiio_stats_wrf.txt").read_text()
    for value in ("3045341799", "797", "3821006", "532124046", "2.30", "1262.748", "98.114"):
        text = text.replace(value, damage)
    path = tmp_path / "damaged.txt"
    path.write_text(text)
    total = read_log(path).total
    assert total.write.bytes == 0
    assert total.write.system_calls is None
    if not damage.strip("-").isdigit():
        assert (total.write.raw_bw, total.write.net_bw, total.seconds) == (None, None, None)
    assert total.write.phases["data send"] == 0.78
    json.dumps(document([read_log(path)]), allow_nan=False)


def test_a_log_of_a_killed_model_is_read_as_far_as_it_goes(tmp_path):
    lines = (DATA / "mpiio_stats_wrf.txt").read_text().splitlines(keepends=True)
    path = tmp_path / "killed.txt"
    path.write_text("".join(lines[:9]))
    summary = read_log(path)
    assert summary.total.aggregators == 4
    assert summary.total.bytes == 0
    assert "1 report cut" in summary.notes[0]


def test_interleaved_reports_are_left_out_and_said(tmp_path):
    lines = (DATA / "mpiio_stats_wrf.txt").read_text().splitlines(keepends=True)[:19]
    other = [line.replace("_00_00_00", "_09_00_00").replace("797", "99") for line in lines]
    path = tmp_path / "mixed.txt"
    path.write_text("".join(one for pair in zip(lines, other, strict=True) for one in pair))
    summary = read_log(path)
    assert summary.total.bytes == 0
    assert "srun -l" in summary.notes[0]


def test_the_share_of_the_run_comes_from_wrfs_own_lines(tmp_path):
    sample = (DATA / "mpiio_stats_wrf.txt").read_text()
    step = "Timing for main: time 2007-04-03_00:00:36 on domain   1:    {} elapsed seconds\n"
    nest = "Timing for main: time 2007-04-03_00:00:36 on domain   2:    9.0 elapsed seconds\n"
    path = tmp_path / "rsl.error.0000"
    path.write_text(nest + step.format("40.0") + sample + step.format("60.0"))
    summary = read_log(path)
    assert summary.run_s == pytest.approx(100.0)
    assert summary.io_share == pytest.approx(0.3025, abs=1e-3)


STEP = "Timing for main: time 2007-04-03_00:00:36 on domain   1:    7.5 elapsed seconds\n"
WRITING = "Timing for Writing wrfout_d01_2007-04-03_00:00:36 for domain 1:  2.5 elapsed seconds\n"


def test_a_log_of_wrf_without_reports_tells_its_output_and_what_is_missing(tmp_path):
    path = tmp_path / "rsl.error.0000"
    path.write_text(WRITING + STEP)
    summary = read_log(path)
    assert (summary.source, summary.io_share, summary.total.model_s) == (
        "WRF's own log",
        2.5 / 7.5,
        2.5,
    )
    assert not summary.layers
    assert any("MPICH_MPIIO_TIMERS=1" in note for note in summary.notes)
    steps = (STEP.replace("36 on", f"{second} on") for second in range(10, 20))
    path.write_text(WRITING + "".join(steps))
    [advice] = advise(read_log(path))
    assert (advice.rule, advice.because) == ("little", "I/O takes 3 % of the run (2.5 s)")


@pytest.mark.parametrize(
    "stamp",
    ["2026-11-25T10:00:00.123456+03:00 ", "[2026-11-25 10:00:00] ", "Nov  5 10:00:00 ", "00:00:07 ",
     "1795608000 ", "1795608000.123456 ", "2026-11-25 10:00:00,123 3: "],
)  # fmt: skip
def test_a_time_before_each_line_changes_nothing(tmp_path, stamp):
    sample = STEP + (DATA / "mpiio_stats_wrf.txt").read_text()
    plain, stamped = tmp_path / "plain", tmp_path / "stamped"
    plain.write_text(sample)
    stamped.write_text("".join(stamp + line for line in sample.splitlines(keepends=True)))
    one, other = read_log(plain), read_log(stamped)
    assert one.total.write == other.total.write
    if "3: " not in stamp:
        assert (one.run_s, one.total) == (other.run_s, other.total)


def test_a_time_that_wrf_could_not_print_is_said_and_no_share_is_made_of_the_rest(tmp_path):
    path = tmp_path / "rsl.error.0000"
    path.write_text(WRITING + STEP + WRITING.replace("  2.5 ", "********** ") + STEP)
    summary = read_log(path)
    assert (summary.total.model_s, summary.run_s, summary.io_share) == (2.5, None, None)
    assert "1 time of WRF's left out" in summary.notes[0]
    path.write_text(WRITING.replace("  2.5 ", "********** "))
    left_out, missing = read_log(path).notes
    assert "1 time of WRF's left out" in left_out
    assert "the log has how long output took and no statistics" in missing


@pytest.mark.parametrize("form", ["nid00012: {}", "nid00012:{}", "\x1b[0;31m{}\x1b[0m"])
def test_hosts_and_colours_change_nothing(tmp_path, form):
    sample = STEP + (DATA / "mpiio_stats_wrf.txt").read_text()
    plain, dressed = tmp_path / "plain", tmp_path / "dressed"
    plain.write_text(sample)
    dressed.write_text("".join(form.format(line) + "\n" for line in sample.splitlines()))
    one, other = read_log(plain), read_log(dressed)
    assert one.total.write == other.total.write
    assert (one.run_s, one.total.model_s) == (other.run_s, other.total.model_s)


def test_of_several_hosts_the_times_of_the_first_count(tmp_path):
    path = tmp_path / "pdsh.out"
    hosts = ("nid00012", "nid00013")
    path.write_text("".join(f"{host}: {line}" for host in hosts for line in (STEP, WRITING)))
    assert read_log(path).run_s == 10.0


def test_wrfs_lines_of_several_ranks_are_counted_once(tmp_path):
    path = tmp_path / "slurm-1.out"
    path.write_text("".join(f"{rank}: {line}" for rank in range(4) for line in (STEP, WRITING)))
    assert read_log(path).run_s == 10.0


def test_output_of_a_nest_lies_within_the_steps_of_domain_1(tmp_path):
    sample = (DATA / "mpiio_stats_wrf.txt").read_text()
    step = "Timing for main: time 2007-04-03_00:00:36 on domain   1:   100.0 elapsed seconds\n"
    nest = "Timing for Writing wrfout_d02 for domain        2:   50.0 elapsed seconds\n"
    path = tmp_path / "rsl.error.0000"
    path.write_text(sample + nest + step)
    assert read_log(path).run_s == pytest.approx(100.0)
    assert read_log(path).total.model_s == pytest.approx(80.25151)


def test_output_after_the_last_step_is_in_no_step(tmp_path):
    path = tmp_path / "rsl.error.0000"
    path.write_text(WRITING + STEP + WRITING)
    assert (read_log(path).run_s, read_log(path).io_share) == (10.0, 0.5)


def test_lines_that_stand_in_the_log_twice_count_once(tmp_path):
    path = tmp_path / "slurm-1.out"
    path.write_text("".join(2 * line for line in (WRITING, STEP, WRITING)))
    assert (read_log(path).run_s, read_log(path).total.model_s) == (10.0, 5.0)


def test_a_report_about_one_file_does_not_hide_the_models_time_of_the_others(tmp_path):
    sample = (DATA / "mpiio_stats_wrf.txt").read_text()
    serial = WRITING.replace("2.5", "160.0")
    path = tmp_path / "rsl.error.0000"
    path.write_text(serial + sample + STEP.replace("7.5", "500.0"))
    summary = read_log(path)
    assert summary.total.seconds == pytest.approx(29.6, abs=0.1)
    assert summary.spent_s == pytest.approx(190.25, abs=0.1)
    assert summary.io_share == pytest.approx(0.38, abs=0.01)
    assert "little" not in [advice.rule for advice in advise(summary)]


def test_a_report_that_was_cut_before_its_bytes_has_no_mean(tmp_path):
    lines = (DATA / "mpiio_stats_wrf.txt").read_text().splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if "total bytes" in line)
    path = tmp_path / "cut"
    path.write_text("".join(lines[:at]))
    flow = read_log(path).total.write
    assert (flow.mean_call, flow.mean_system_call, flow.bytes) == (None, None, 0)
    assert "stripe_sized" not in [advice.rule for advice in advise(read_log(path))]
    path.write_text("".join(lines[:at] + lines))
    assert read_log(path).total.write.mean_system_call == pytest.approx(3821006, abs=1)
    ave = next(line for line in lines if "ave system write size" in line)
    path.write_text("".join([*lines[:at], ave]))
    assert read_log(path).total.write.mean_system_call == pytest.approx(3821006, abs=1)


def test_whole_reports_at_the_end_of_a_log_are_not_called_cut(tmp_path):
    path = tmp_path / "hints"
    path.write_text(
        "PE 0: MPIIO hints for out.nc:\n          cb_buffer_size           = 16777216\n"
    )
    assert not [note for note in read_log(path).notes if "cut" in note]


@pytest.mark.parametrize(
    ("right", "damaged"),
    [
        ("2.30        2.30        2.30", "2.30 2.30 1e308"),
        ("532124046", "1e308"),
        ("41345308    41345308    41345308  7%", "1 1 1e-308 7%"),
        ("1262.748", "1e-308"),
        ("98.114", "1e308"),
        ("3045341799", "1e308"),
        ("30.25151", "30.2.5"),
        ("30.25151", "9" * 400),
    ],
)
def test_damaged_numbers_leave_a_document_that_is_json(tmp_path, right, damaged):
    text = (DATA / "mpiio_stats_wrf.txt").read_text()
    assert right in text
    step = "Timing for main: time 2007-04-03_00:00:36 on domain   1:   1.2.3 elapsed seconds\n"
    path = tmp_path / "log"
    path.write_text(text.replace(right, damaged) + step)
    summary = read_log(path)
    json.dumps(document([summary, summary]), allow_nan=False)


@pytest.mark.parametrize("folder", ["", "./", "/bb/run/1/", "lustre:/bb/run/1/", "ufs:"])
def test_a_file_that_the_library_names_with_its_folder_is_the_one_of_wrfs_line(tmp_path, folder):
    text = (DATA / "mpiio_stats_wrf.txt").read_text().replace("_00_00", ":00:00")
    path = tmp_path / "rsl.error.0000"
    path.write_text(text.replace("only, for ", f"only, for {folder}"))
    summary = read_log(path)
    assert summary.total.files == 2
    assert [file.model_s for file in summary.files if file.seconds] == [30.25151]


def test_wrfs_line_is_of_no_file_where_two_folders_have_its_name(tmp_path):
    text = (DATA / "mpiio_stats_wrf.txt").read_text()
    block = text[text.rindex("| MPIIO") : text.rindex("Timing")]
    path = tmp_path / "rsl.error.0000"
    two = "".join(block.replace("for wrfout", f"for /bb/{one}/wrfout") for one in "ab")
    path.write_text(two + text[text.rindex("Timing") :])
    assert [file.model_s for file in read_log(path).files if file.seconds] == [None, None]


def test_timers_without_a_value_are_not_said_to_be_off(tmp_path):
    path = tmp_path / "na"
    path.write_text(
        "| MPIIO write by phases, writers only, for out.nc\n|   net write BW (MiB/s) = NA\n+----+\n"
    )
    assert not [note for note in read_log(path).notes if "TIMERS=1 prints" in note]


def test_a_start_after_one_that_was_killed_within_its_times_is_not_another_rank(tmp_path):
    lines = (DATA / "mpiio_stats_wrf.txt").read_text().splitlines(keepends=True)
    begin = next(n for n, line in enumerate(lines) if "by phases" in line)
    for cut in range(begin + 2, begin + 8):
        path = tmp_path / f"cut{cut}"
        path.write_text("".join(lines[:cut] + lines))
        summary = read_log(path)
        assert not [note for note in summary.notes if "lay over each other" in note], cut
        assert summary.total.write.phases["data send"] == pytest.approx(0.78)


def test_exchange_is_unknown_where_posix_saw_few_of_the_bytes():
    def flow(way: str, posix_bytes: int) -> Flow:
        done = "BYTES_WRITTEN" if way == "WRITE" else "BYTES_READ"
        times = {f"F_{way}_TIME": 4.0}
        mpi = {"counters": defaultdict(int, {done: 1000, f"COLL_{way}S": 2}), "times": times}
        posix = {"counters": defaultdict(int, {done: posix_bytes}), "times": {f"F_{way}_TIME": 1.0}}
        return darshan_log._flow(way, {"MPI-IO": mpi, "POSIX": posix})

    assert flow("WRITE", 1000).exchange_share == 0.75
    assert flow("WRITE", 10).exchange_share is None
    assert flow("READ", 10).exchange_share == 0.75, "one aggregator reads for all ranks"


def test_of_two_logs_each_note_says_which_it_is_about(tmp_path, capsys):
    (tmp_path / "one").write_text(WRITING)
    show_logs([read_log(tmp_path / "one"), read_log(DATA / "mpiio_stats_wrf.txt")])
    assert "note (1: one): the log has how long output took" in capsys.readouterr().out
