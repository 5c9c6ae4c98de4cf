"""What `look` is asked for: read, bounded by the site, kept in the run directory."""

from __future__ import annotations

import time
from dataclasses import asdict, replace

import netCDF4
import pytest

from burstlens.clients.attaching import attach
from burstlens.cluster_configs.site import LookSite, choose
from burstlens.core.errors import AttachError, RecipeError, RunError, SiteError
from burstlens.core.run import events as ev
from burstlens.core.run.facts import facts_of
from burstlens.core.run.history import replay
from burstlens.workflows.frames.arrival import NEWEST
from burstlens.workflows.look import preparation
from burstlens.workflows.look.folder_reader import FolderReader
from burstlens.workflows.look.job_node import Place, place_of
from burstlens.workflows.look.options import Look, declared_files, look_of, run_name
from burstlens.workflows.look.preparation import (
    LookRequest,
    known_look,
    new_look,
    real_folder,
    recognised,
    see_folder,
)

NAMELIST = """&time_control
 start_year = 2005, start_month = 8, start_day = 28, start_hour = 0,
 run_hours = 6, history_interval = 60, frames_per_outfile = 1, io_form_history = 2,
/
&domains
 time_step = 60, max_dom = 1,
/
"""


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "storm"
    made.mkdir()
    (made / "namelist.input").write_text(NAMELIST)
    return made


@pytest.fixture
def site(monkeypatch):
    """Sets the bounds of the site that is chosen."""

    def bounded(**bounds):
        local = replace(choose("local"), look=LookSite(**bounds))
        monkeypatch.setattr(preparation, "choose", lambda name: local)

    return bounded


def looked(folder, **asked):
    request = LookRequest(**asked)
    seen = see_folder(folder, request)
    assert seen is not None
    return new_look(folder, seen, request)


def attached(run):
    return look_of(facts_of(run).attached)


def test_a_folder_has_one_run_by_its_real_path(folder, own_runs):
    made = looked(folder).run
    assert made.id == run_name(folder)
    assert made.id.startswith("look-storm-")
    assert known_look(folder, None).path == made.path
    with pytest.raises(RunError, match="exists already"):
        looked(folder)


def test_a_link_to_the_folder_is_the_same_run(folder, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert run_name(real_folder(link)) == run_name(real_folder(folder))


def test_a_name_of_a_run_that_looks_elsewhere_is_refused(folder, tmp_path, own_runs):
    looked(folder, name="mine")
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(RunError, match="--name takes another name"):
        known_look(other, "mine")


def test_what_was_asked_for_is_kept(folder, own_runs):
    asked = looked(
        folder, last="12h", every=3, workers=1, max_read_rate="200 MB", quiet_after="5 min",
        page=False,
    )  # fmt: skip
    look = attached(asked.run)
    assert (look.last_s, look.every, look.workers, look.quiet_after_s) == (43200.0, 3, 1, 300.0)
    assert (look.max_read_rate, look.newest, look.page) == (200_000_000, None, False)
    assert look.path == str(folder)


def test_the_newest_hundred_are_taken_by_default_and_all_with_all(folder, own_runs):
    assert attached(looked(folder).run).newest == NEWEST
    assert attached(looked(folder, all=True, name="everything").run).newest is None


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"last": "soon"}, "--last: expected a duration"),
        (
            {"last": "12"},
            "--last: expected a unit, got '12': 12h are hours, 12min minutes, 12s seconds",
        ),
        ({"last": "12m"}, '--last: expected a duration such as "02:00:00", "90 s", "15 min"'),
        ({"quiet_after": "1.5"}, "--quiet-after: expected a unit, got '1.5'"),
        ({"since": "yesterday"}, "--since: expected a time"),
        ({"max_read_rate": "fast"}, "--max-read-rate: expected a size"),
        ({"quiet_after": "?"}, "--quiet-after: expected a duration"),
        ({"workers": 0}, "--workers 0"),
        ({"allow_stop": True}, "--job, --pid"),
        ({"pid": 2**22 + 1}, "4194305"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_made(folder, own_runs, asked, said):
    with pytest.raises(RunError, match=said):
        looked(folder, **asked)
    assert known_look(folder, None) is None


def test_a_site_bounds_workers_and_the_rate(folder, own_runs, site):
    site(workers=2, max_read_rate=1000)
    with pytest.raises(RunError, match="allows 1 to 2"):
        looked(folder, workers=3)
    with pytest.raises(RunError, match="KiB per second"):
        looked(folder, max_read_rate="1 MB")
    assert attached(looked(folder).run).max_read_rate == 1000


def test_a_site_may_refuse_it_on_login_nodes_and_not_inside_a_job(
    folder, own_runs, site, monkeypatch
):
    site(login_nodes="refuse")
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    with pytest.raises(SiteError, match="refuses look on its login nodes"):
        looked(folder)
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert looked(folder).run.facts.exists()


def test_guards_only_alarm_unless_the_model_may_be_stopped(folder, own_runs):
    made = looked(folder, recipe="wrf-severe").run
    guards = facts_of(made).table["guard"]
    assert guards
    assert {guard["then"] for guard in guards} == {"alarm"}


def test_a_file_or_nothing_is_refused_with_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="is a file"):
        real_folder(tmp_path / "file")
    with pytest.raises(RunError, match="cannot look at"):
        real_folder(tmp_path / "gone")


@pytest.mark.integration
def test_a_folder_that_is_not_seen_here_is_a_jobs_only_where_a_job_is_named(tmp_path):
    away, request = tmp_path / "away", LookRequest(job="12")
    with FolderReader() as reader:
        assert place_of(tmp_path / "a" / ".." / "away", request, reader) == Place(away, "12")
        assert place_of(tmp_path, request, reader) == Place(tmp_path)
        with pytest.raises(RunError, match=r"cannot look at .*away: No such file or directory$"):
            place_of(away, LookRequest(), reader)


def test_a_folder_without_output_is_waited_for_as_long_as_a_user_says(tmp_path, capsys, own_runs):
    (tmp_path / "notes.txt").write_text("later")
    request = LookRequest(page=False, quiet_after="2s")
    begin = time.monotonic()
    with pytest.raises(RunError, match=r"nothing in .* yet that shows what will come"):
        attach(tmp_path, request)
    assert time.monotonic() - begin >= 2.0
    assert "has nothing yet that shows what will come: waiting" in capsys.readouterr().err


def test_options_of_a_newer_version_are_passed_over():
    assert look_of(asdict(Look("/a", every=2)) | {"shine": 3}) == Look("/a", every=2)


def frame(time, file, record, size, attempt=1):
    return ev.FrameReady(
        attempt=attempt, stream="d01", time=time, record=record, file=file,
        fingerprint=(1, 2, size, 3),
    )  # fmt: skip


def test_a_resumed_look_always_takes_what_came_since():
    history = replay([frame("20050828T000000", "a", 0, 10), frame("20050828T010000", "b", 0, 20)])
    known = Look("/a", newest=5).selection(history).known
    assert known == {"d01": ("20050828T010000", "b")}


def test_of_a_growing_file_the_fingerprint_of_the_last_record_counts():
    history = replay([frame("20050828T010000", "a", 1, 20), frame("20050828T000000", "a", 0, 10)])
    assert declared_files(history) == {"a": (1, 2, 20, 3)}


@pytest.fixture
def forecast(tmp_path):
    """Frames with flags, as UFS writes them."""
    made = tmp_path / "ufs"
    made.mkdir()
    for hour in ("000", "003"):
        with netCDF4.Dataset(made / f"atmf{hour}.nc", "w") as file:
            for name in ("time", "lat", "lon"):
                file.createDimension(name, 1 if name == "time" else 4)
                file.createVariable(name, "f8", (name,))
            file["time"].units = "hours since 2020-01-01"
            file["time"][:] = float(hour)
            file["lat"].units, file["lon"].units = "degrees_north", "degrees_east"
            file["lat"][:] = file["lon"][:] = range(4)
            made_of = file.createVariable("tmp2m", "f4", ("time", "lat", "lon"))
            made_of.units = "K"
            made_of[:] = 280.0
        (made / f"log.atm.f{hour}").touch()
    return made


@pytest.mark.integration
def test_flags_and_log_lines_of_a_model_that_is_not_known_are_given(forecast, own_runs):
    request = LookRequest(
        streams={"atm": "atmf{hour}.nc"}, ready="log.atm.f{hour}", log="atm.log",
        written="done (?P<file>\\S+)",
    )  # fmt: skip
    seen = see_folder(forecast, request)
    assert seen.found.settings["frames"] == {"atm": "atmf{hour}.nc"}
    made = new_look(forecast, seen, request).run
    simulation = facts_of(made).table["simulation"]
    assert simulation["ready"] == "log.atm.f{hour}"
    assert simulation["log_patterns"] == ["atm.log"]


def test_flags_go_with_no_model_that_is_known(folder):
    with pytest.raises(AttachError, match="this is wrf"):
        recognised(folder, LookRequest(ready="x{hour}"))


@pytest.mark.integration
def test_an_expression_that_is_not_valid_is_refused(forecast):
    with pytest.raises(RecipeError, match="written"):
        recognised(forecast, LookRequest(written="(?P<file>"))
