"""The adapter of WRF: names, log lines, settings, pitfalls."""

from __future__ import annotations

import pickle

import pytest
from watcher_case import launched_watcher

from burstlens.core.errors import RecipeError
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.models.base import Facts, Model, OutputName
from burstlens.workflows.models.ends import read_end
from burstlens.workflows.models.registry import load, names
from burstlens.workflows.models.wrf import Wrf


@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("wrfout_d01_2005-08-28_12:00:00", OutputName("d01", "20050828T120000")),
        ("wrfout_d02_2005-08-28_12_00_00", OutputName("d02", "20050828T120000")),
        ("wrfout_d01_0001-01-01_00:03:00_0012", OutputName("d01", "00010101T000300", 12)),
        ("auxhist2_d02_2005-08-28_12:00:00", OutputName("auxhist2_d02", "20050828T120000")),
        ("auxhist23_d01_2005-08-28_12:00:00", OutputName("auxhist23_d01", "20050828T120000")),
        ("wrfrst_d01_2005-08-28_12:00:00", None),
        ("wrfinput_d01", None),
        ("wrfout_d01_2005-08-28_12:00:00.nc.tmp", None),
        ("wrfoutReady_d01_2005-08-28_12:00:00", None),
    ],
)
def test_names_of_output_give_stream_time_and_tile(name, output):
    assert Wrf().identify(name) == output


def test_the_namelist_renames_and_redirects_streams(tmp_path):
    (tmp_path / "namelist.input").write_text(
        "&time_control\n history_outname = './out/arctic_d<domain>_<date>' ! renamed\n"
        ' auxhist2_outname = "rain_d<domain>_<date>", restart = .true.\n/\n'
    )
    model = Wrf().configured(tmp_path)
    assert model.identify("out/arctic_d01_2005-08-28_12:00:00") == OutputName(
        "d01", "20050828T120000"
    )
    assert model.identify("rain_d01_2005-08-28_12:00:00").stream == "auxhist2_d01"
    assert model.identify("wrfout_d01_2005-08-28_12:00:00") is None
    assert model.facts(tmp_path).folders == ("", "out")
    assert not model.is_leftover("wrfrst_d01_2005-08-28_12:00:00")
    assert pickle.loads(pickle.dumps(model)) == model


def test_restart_files_are_old_output_only_if_the_run_is_not_a_restart(tmp_path):
    rst = "wrfrst_d01_2005-08-28_12:00:00"
    assert not Wrf().is_leftover(rst)
    (tmp_path / "namelist.input").write_text("&time_control restart = .false. /")
    model = Wrf().configured(tmp_path)
    for name in (rst, "rsl.out.0003", "wrfoutReady_d01_2005-08-28_12:00:00"):
        assert model.is_leftover(name)
    assert not model.is_leftover("wrfbdy_d01")


def test_a_good_log_gives_frames_progress_and_the_end(logs):
    said = [Wrf().read_line(line) for line in logs("supercell.rsl.error.0000")]
    kinds = [entry.kind for entry in said if entry is not None]
    assert kinds.count("end") == 1
    assert "trouble" not in kinds
    written = [entry for entry in said if entry is not None and entry.kind == "written"]
    assert (written[0].stream, written[0].time) == ("d01", "00010101T000000")
    assert len(written) == 20
    progress = [entry for entry in said if entry is not None and entry.kind == "progress"]
    assert progress[0].time == "00010101T000012"


def test_names_that_the_log_cuts_off_still_give_the_minute():
    line = "Timing for Writing auxhist2_d01_2005-08-28_12:30: for domain        1:    0.1 elapsed"
    said = Wrf().read_line(line)
    assert (said.kind, said.stream, said.time) == ("written", "auxhist2_d01", "20050828T1230")
    longer = "Timing for Writing auxhist10_d01_2005-08-28_12 for domain        1:    0.1 elapsed"
    said = Wrf().read_line(longer)
    assert (said.time, said.cut) == ("20050828T12", True)  # several frames may match
    assert Wrf().read_line(longer.replace("_12 ", " ")) is None


@pytest.mark.parametrize(
    ("seconds", "took_s"), [("30.25151", 30.25151), ("0.", 0.0), ("*******", None), ("", None)]
)
def test_the_seconds_of_an_output_are_read_where_they_are_numbers(seconds, took_s):
    line = (
        f"Timing for Writing wrfout_d01_2007-04-03_01:00:00 for domain 1: {seconds} elapsed seconds"
    )
    said = Wrf().read_line(line)
    assert (said.kind, said.stream, said.took_s) == ("written", "d01", took_s)
    restart = Wrf().read_line(line.replace("wrfout_d01_2007-04-03_01:00:00", "restart"))
    assert (restart.kind, restart.stream, restart.took_s) == ("checkpoint", "d01", took_s)
    assert (restart.time, restart.file) == (None, None)


@pytest.mark.parametrize("step", [" (dt= 12.60)", " (dt=  0.50)", " (dt=******)", ""])
def test_steps_of_an_adaptive_time_step_are_progress(step):
    line = f"Timing for main{step}: time 2005-08-28_12:00:37 on domain   1:    3.1 elapsed seconds"
    said = Wrf().read_line(line)
    assert (said.kind, said.time) == ("progress", "20050828T120037")
    assert Wrf().read_line(line.replace("domain   1", "domain   2")) is None


def test_durations_of_stars_and_quilting_are_understood():
    stars = "Timing for main: time 2005-08-28_12:00:00 on domain   1:********** elapsed seconds"
    assert Wrf().read_line(stars).time == "20050828T120000"
    assert Wrf().read_line("Quilting with   1 groups of   4 I/O tasks.").kind == "asynchronous"
    assert Wrf().read_line("Quilting with   1 groups of   0 I/O tasks.") is None


def test_blow_ups_and_lost_frames_are_trouble(logs):
    for name, text in (
        ("blowup.rsl.error.0000", "points exceeded v_cfl"),
        ("blowup.rsl.error.0001", "SIGSEGV"),
        ("lost_frame.rsl.error.0000", "error opening wrfout_d01_0001-01-01_00:01:00"),
    ):
        said = [Wrf().read_line(line) or read_end(line) for line in logs(name)]
        trouble = [entry.text for entry in said if entry is not None and entry.kind == "trouble"]
        assert any(text in line for line in trouble), name


def test_trouble_is_read_from_every_rank_and_progress_from_the_first(logs, tmp_path, prober):
    for rank in ("0000", "0001"):
        text = "\n".join(logs(f"blowup.rsl.error.{rank}")) + "\n"
        (tmp_path / f"rsl.error.{rank}").write_text(text)
    watcher = launched_watcher(tmp_path, ".", Wrf(), "run", 1, Cursor(), prober=prober)
    report = watcher.scan(elapsed_s=0.0, now=0.0, ended=False)
    assert any("SIGSEGV" in line for line in report.trouble)
    assert any("SIGABRT" in line for line in report.trouble)
    assert report.progress.time == "00010101T000200"
    assert watcher.scan(elapsed_s=0.1, now=0.1, ended=False).trouble == ()


def test_speed_and_time_left_follow_the_log(tmp_path, prober):
    (tmp_path / "namelist.input").write_text(
        "&time_control start_year = 2005, start_month = 8, start_day = 28, start_hour = 0, "
        "run_hours = 1 /"
    )
    log = tmp_path / "rsl.error.0000"
    watcher = launched_watcher(tmp_path, ".", Wrf(), "run", 1, Cursor(), prober=prober)
    for second in range(0, 61, 10):
        with open(log, "a") as file:
            file.write(
                f"Timing for main: time 2005-08-28_00:{second // 6:02d}:{second % 6 * 10:02d} "
                "on domain   1:    0.1 elapsed seconds\n"
            )
        report = watcher.scan(elapsed_s=10.0, now=1000.0 + second, ended=False)
    assert report.progress.elapsed_s == 600.0
    assert report.progress.speed == pytest.approx(10.0)
    assert report.progress.eta_s == pytest.approx(300.0)
    assert report.progress.fraction == pytest.approx(1 / 6)


def test_facts_follow_the_namelist_of_the_traces(traces_namelist):
    facts = Wrf().facts(traces_namelist)
    assert facts == Facts(
        start="00010101T000000",
        total_s=120.0,
        serial_classic=True,
        io_groups=1,
        output_bytes=facts.output_bytes,
        checkpoint_bytes=facts.checkpoint_bytes,
        checkpoint_unit_s=60.0,
        streams=("d01",),
        frames=3,
    )
    # The classic run of these traces wrote 3 x 713 252 bytes; the estimate is above that.
    assert 3 * 713_252 <= facts.output_bytes < 3 * 3 * 713_252


def test_streams_are_those_that_the_namelist_asks_for(tmp_path):
    (tmp_path / "namelist.input").write_text(
        "&time_control auxhist23_interval = 10, auxhist2_outname = 'rain_d<domain>_<date>' /\n"
        "&domains max_dom = 2 /\n"
    )
    assert Wrf().facts(tmp_path).streams == (
        "d01", "d02", "auxhist2_d01", "auxhist2_d02", "auxhist23_d01", "auxhist23_d02",
    )  # fmt: skip


def test_facts_of_a_missing_or_invalid_namelist_are_the_safe_defaults(tmp_path):
    assert Wrf().facts(tmp_path) == Facts()
    (tmp_path / "namelist.input").write_bytes(bytes(range(256)) * 20 + b"&a io_form_history = 'x,")
    assert not Wrf().facts(tmp_path).serial_classic


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("nio_tasks_per_group = 2, output_ready_flag = .true.", "has no effect with quilting"),
        ("nio_tasks_per_group = 2, nio_groups = 2", "out of order"),
        ("nio_tasks_per_group = 2, frames_per_outfile = 9", "before the file is closed"),
        ("frames_per_outfile = 9", "frames_per_outfile > 1 with netCDF-4"),
        ("io_form_history = 102", "one file per rank"),
        ("nocolons = .true., output_ready_flag = .true.", "keep their colons"),
        ("history_outname = '/scratch/w_d<domain>_<date>'", "error: history_outname leads out"),
        ("auxhist7_outname = 'a/../../w_<date>'", "error: auxhist7_outname leads out"),
        ("rst_outname = '../rst/r_d<domain>_<date>'", "rst_outname leads out"),
        ("auxhist2_outname = '<date>/w'", "error: auxhist2_outname has <date> in the name of a f"),
        ("rst_outname = 'wrf.exe/sub/r_<date>'", "error: rst_outname needs a folder wrf.exe, and"),
        ("nio_tasks_per_group = 2, nio_groups = 2", "seen to be closed, or after 0.5 s of quiet"),
        ("nio_tasks_per_group = 2, nio_groups = 2, io_form_history = 11", "the model has ended"),
        ("history_outname = 'w_d<domain>_<date>', output_ready_flag = T", "do not follow it"),
        ("history_outname = 'w_d<domain>'", "no <date>"),
    ],
)
def test_each_pitfall_of_the_namelist_is_reported(tmp_path, settings, message):
    (tmp_path / "namelist.input").write_text(f"&time_control {settings} /\n")
    (tmp_path / "wrf.exe").write_text("")
    (tmp_path / "wrf.exe").chmod(0o755)
    assert any(message in text for text in Wrf().check(tmp_path))


@pytest.mark.parametrize(
    "template",
    ["out/deep/w_d<domain>_<date>.nc", "d<domain>/w_d<domain>_<date>", "<year>/<month>/w_<date>"],
)
def test_names_in_folders_give_stream_and_time_even_in_the_log(tmp_path, template):
    (tmp_path / "namelist.input").write_text(f"&time_control history_outname = './{template}' /")
    model = Wrf().configured(tmp_path)
    name = template.replace("<domain>", "01").replace("<date>", "2005-08-28_12:00:00")
    name = name.replace("<year>", "2005").replace("<month>", "08")
    assert model.identify(name) == OutputName("d01", "20050828T120000")
    said = model.read_line(f"Timing for Writing {'./' + name:.30} for domain        1:    0.1")
    assert said is None or (said.stream, said.time[:11]) == ("d01", "20050828T12")
    assert said is None or said.cut == (len(said.time) < 13)
    said = model.read_line(f"Timing for Writing {name} for domain        1:    0.1")
    assert (said.stream, said.time) == ("d01", "20050828T120000")


def test_restart_files_outside_the_run_give_a_warning_and_inside_they_do_not(tmp_path):
    (tmp_path / "wrf.exe").touch(0o755)
    for name, count in (("/abs/r_<date>", 1), ("rst/./deep/../r_<date>", 0)):
        (tmp_path / "namelist.input").write_text(f"&time_control rst_outname = '{name}' /")
        found = Wrf().check(tmp_path)
        assert len(found) == count
        assert not any(text.startswith("error") for text in found)


def test_a_frame_that_wrf_could_not_write_is_known_by_its_normal_name():
    line = "open_hist_w : error opening ./out/wrfout_d01_0001-01-01_00:01:00 for writing. ***"
    assert Wrf().read_line(line).file == "out/wrfout_d01_0001-01-01_00:01:00"


def test_sound_inputs_raise_no_message(traces_namelist):
    (traces_namelist / "wrf.exe").write_text("")
    (traces_namelist / "wrf.exe").chmod(0o755)
    assert Wrf().check(traces_namelist) == []


def test_a_missing_executable_is_named_with_near_names(tmp_path):
    (tmp_path / "wrf.exe.new").write_text("")
    (tmp_path / "wrfout_d01_2005-08-28_12:00:00").write_text("")
    messages = Wrf().check(tmp_path)
    assert messages[0].startswith("error: there is no executable wrf.exe")
    assert "wrf.exe.new" in messages[0]
    assert any("namelist.input is missing" in text for text in messages)
    assert any("earlier run" in text for text in messages)
    (tmp_path / "wrf.exe").write_text("")
    assert "chmod +x" in Wrf().check(tmp_path)[0]


def test_a_folder_without_wrf_files_is_reported_as_not_a_run_directory(tmp_path):
    (tmp_path / "notes.txt").write_text("")
    (found,) = Wrf().check(tmp_path)
    assert found.startswith(f"error: there is no executable wrf.exe in {tmp_path}, no namelist.in")
    (tmp_path / "wrfinput_d01").write_text("")
    assert len(Wrf().check(tmp_path)) == 2


def test_adapters_are_found_by_name_and_unknown_names_give_similar_ones():
    assert load("wrf") is Wrf
    assert isinstance(Wrf(), Model)
    assert {"awm", "command", "wrf"} <= set(names())
    with pytest.raises(RecipeError, match="no model 'wfr'; known: wrf"):
        load("wfr")
