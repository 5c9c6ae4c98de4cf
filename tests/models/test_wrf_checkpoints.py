"""WRF's checkpoints: names of files, what proves them, and where a run can be cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from burstlens.core.errors import RecipeError
from burstlens.workflows.models.continuation import Proof
from burstlens.workflows.models.wrf import Wrf

RUNS = Path(__file__).parents[1] / "data" / "wrf" / "restart"
FILE = "wrfrst_d01_0001-01-01_00:02:00"


def files(run: str) -> list[str]:
    return [line.split()[1] for line in (RUNS / run / "files.txt").read_text().splitlines()]


@pytest.mark.parametrize(
    ("run", "known"),
    [
        ("E1", {("d01", None): 2}),
        ("F1", {("d01", 0): 2, ("d01", 1): 2}),
        ("I1", {("d01", None): 2}),
        ("P3", {("d01", None): 4}),
        ("Q3", {("d01", None): 4, ("d02", None): 4}),
    ],
)
def test_the_files_of_each_run_give_domain_time_and_tile(run, known):
    model = Wrf().configured(RUNS / run)
    names = [name for name in files(run) if name.startswith("wrfrst")]
    found = [about for about in map(model.checkpoint_of, files(run)) if about is not None]
    assert len(found) == len(names)
    assert {(one.part, one.tile) for one in found} == known.keys()
    assert len(found) == sum(known.values())
    assert found[0].time == "00010101T000100"
    assert {part for part, _ in known} == {*model.checkpoint_parts(RUNS / run, "00010101T000200")}


THREE = (
    "start_year = 3*2005, start_month = 3*8, start_day = 3*28, start_hour = 0, 6, 6, "
    "end_year = 3*2005, end_month = 3*8, end_day = 3*28, end_hour = 18, 12, {}"
)


@pytest.mark.parametrize(
    ("end", "hour", "parts"),
    [
        (9, 0, ["d01"]),
        (9, 5, ["d01"]),
        (9, 6, ["d01", "d02", "d03"]),
        (9, 9, ["d01", "d02"]),
        (9, 12, ["d01"]),
        (9, 18, ["d01"]),
        (18, 11, ["d01", "d02", "d03"]),
        (18, 12, ["d01"]),  # d03 ends with its parent
    ],
)
def test_a_checkpoint_needs_the_domains_that_are_open_at_its_time(inputs, end, hour, parts):
    folder = inputs(THREE.format(end), domains="max_dom = 3, parent_id = 0, 1, 2")
    assert Wrf().checkpoint_parts(folder, f"20050828T{hour:02d}0000") == parts


def test_a_nest_whose_end_is_not_in_a_list_that_is_too_short_ends_by_wrf_s_own(tmp_path):
    """Measured: with the single ``end_minute = 4`` WRF did not open d02, whose end is then its
    start."""
    text = (RUNS / "Q3" / "namelist.input").read_text()
    for ends, parts in (("4,4,4", ["d01", "d02"]), ("4", ["d01"])):
        assert "end_minute = 4,4,4" in text
        (tmp_path / "namelist.input").write_text(text.replace("= 4,4,4", f"= {ends}"))
        model = Wrf().configured(tmp_path)
        assert [*model.checkpoint_parts(tmp_path, "00010101T000300")] == parts


def test_nests_without_times_of_their_own_are_open_and_without_a_namelist_no_part_is_known(
    inputs, tmp_path
):
    folder = inputs("restart_interval = 60", domains="max_dom = 2")
    assert Wrf().checkpoint_parts(folder, "20050828T000000") == ["d01", "d02"]
    (tmp_path / "namelist.input").unlink()
    assert Wrf().checkpoint_parts(tmp_path, "20050828T000000") == []


@pytest.mark.parametrize(
    ("form", "proof"),
    [("2", Proof.FILE), ("13", Proof.LOG), ("102", Proof.FILE), ("11", Proof.LOG),
     ("1", Proof.LOG), ("'x'", Proof.FILE)],
)  # fmt: skip
def test_only_the_log_proves_what_looks_whole_from_the_beginning(inputs, form, proof):
    model = Wrf().configured(inputs(f"io_form_restart = {form}"))
    assert model.checkpoint_proof(FILE) == proof
    assert Wrf().checkpoint_proof(FILE) == Proof.FILE


def test_the_size_of_a_checkpoint_is_estimated_from_above():
    one = Wrf().facts(RUNS / "A1").checkpoint_bytes
    assert 20_000_000 < one < 2 * 20_000_000  # in classic files, as measured
    assert one == 4 * Wrf().facts(RUNS / "A1").output_bytes // 9  # nine frames


def test_a_checkpoint_has_a_file_of_each_domain(inputs):
    sizes = "e_we = 41, 81, e_sn = 41, 81, e_vert = 31, 31, max_dom = {}"
    one, both = (
        Wrf().facts(inputs("run_hours = 1", domains=sizes.format(count))).checkpoint_bytes
        for count in (1, 2)
    )
    assert both - one == pytest.approx(one * (81 / 41) ** 2, rel=1e-6)
    assert Wrf().facts(inputs("run_hours = 1")).checkpoint_bytes is None


@pytest.mark.parametrize(
    ("name", "folders"),
    [
        ("rst/r_d<domain>_<date>", ("", "rst")),
        ("./a/../rst/d<domain>/r_<date>", ("", "rst/d01", "rst/d02")),
        ("<year>/r_d<domain>_<date>", ("", "2005")),
        ("r_d<domain>_<date>", ("",)),
        ("/scratch/r_d<domain>_<date>", ("",)),
        ("../r_d<domain>_<date>", ("",)),
        ("<date>/r_d<domain>", ("",)),
    ],
)
def test_the_folders_of_restart_files_are_watched(inputs, name, folders):
    start = "start_year = 2005, start_month = 8, start_day = 28, run_hours = 2"
    folder = inputs(f"{start}, rst_outname = '{name}'", domains="max_dom = 2")
    assert Wrf().configured(folder).facts(folder).folders == folders


@pytest.mark.parametrize(
    ("length", "count", "cuts"),
    [
        ("run_hours = 10", 1, []),
        ("run_hours = 10", 2, [5]),
        ("run_hours = 10", 3, [3, 7]),
        ("run_hours = 10", 10, [1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ("run_hours = 3, run_minutes = 12", 4, [1, 2, 3]),
        ("run_hours = 10, restart_interval_h = 4", 2, [4]),
        ("run_hours = 10, restart_interval_h = 4", 3, [4, 8]),
    ],
)
def test_a_run_is_cut_where_it_writes_restart_files(inputs, length, count, cuts):
    folder = inputs(f"{length}, restart_interval = {0 if 'interval' in length else 60}")
    assert Wrf().cuts(folder, count) == [hours * 3600 for hours in cuts]


NEST = ", ".join(
    f"start_{part} = {{0}}, {{1}}".format(*values)
    for part, values in {"year": (2005, 2005), "month": (8, 8), "day": (28, 28)}.items()
)


@pytest.mark.parametrize(("begins", "count", "cuts"), [(5, 2, [4]), (0, 2, [5]), (3, 3, [4, 7])])
def test_a_run_is_not_cut_where_a_nest_begins_as_wrf_would_not_write_its_restart_file(
    inputs, begins, count, cuts
):
    text = f"{NEST}, start_hour = 0, {begins}, run_hours = 10, restart_interval = 60"
    folder = inputs(text, domains="max_dom = 2, parent_id = 0, 1")
    assert Wrf().cuts(folder, count) == [hours * 3600 for hours in cuts]


def test_a_run_that_cannot_be_cut_so_often_says_how_often(inputs):
    folder = inputs("run_hours = 4, restart_interval = 60")
    with pytest.raises(RecipeError, match="5 stretches; the most is 4"):
        Wrf().cuts(folder, 5)
    assert len(Wrf().cuts(folder, 5, every_s=1800)) == 4
    with pytest.raises(RecipeError, match="has no restart_interval"):
        Wrf().cuts(inputs("run_hours = 4"), 2)
    with pytest.raises(RecipeError, match="does not say how long"):
        Wrf().cuts(inputs("restart_interval = 60"), 2)


@pytest.mark.parametrize(
    ("settings", "certain"),
    [
        ("restart = T, io_form_restart = 11", True),
        ("restart = T, io_form_restart = 11, nocolons = T", False),
        ("restart = T, io_form_restart = 2", False),
        ("restart = F, io_form_restart = 11", False),
    ],
)
def test_inputs_that_go_on_from_files_which_wrf_cannot_open_do_not_pass(inputs, settings, certain):
    found = Wrf().check(inputs(settings))
    assert any(text.startswith("error: restart = .true.: io_form_r") for text in found) is certain
