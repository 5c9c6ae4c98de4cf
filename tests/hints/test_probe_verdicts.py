"""Verdicts on hints by what the probe prints."""

from __future__ import annotations

from fnmatch import fnmatch

import pytest

from burstlens.workflows.hints.probe import example, mpi_of_library, read_printed, rows

UFS = "UFS: Generic ROMIO driver for all UNIX-like file systems"


def printed(hints=(), variables=(), ranks=4, file="probe"):
    lines = ["srun: job 7 queued", f"burstlens-probe\tranks\t{ranks}", "key = cb_nodes  value = 9"]
    lines += [f"burstlens-probe\thint\t{file}\t{key}\t{value}" for key, value in hints]
    lines += [f"burstlens-probe\tvariable\t{key}\t{value}" for key, value in variables]
    return read_printed("\n".join([*lines, "burstlens-probe\tend", ""]))


def verdicts(hints, mpi, found):
    return {row.hint: (row.verdict, row.arrived) for row in rows(hints, mpi, found)}


def test_what_other_programs_print_is_not_taken_for_the_probe_s():
    found = printed([("cb_nodes", "2")])
    assert (found.whole, found.ranks, found.hints) == (True, 4, {"probe": {"cb_nodes": "2"}})


def test_a_probe_that_was_cut_short_is_not_whole():
    assert not read_printed("burstlens-probe\tranks\t4\nburstlens-pro").whole


def test_a_refused_file_is_kept_with_its_reason():
    found = read_printed("burstlens-probe\trefused\twrfout\tNo space left on device\n")
    assert found.refused == {"wrfout": "No space left on device"}


def test_each_pattern_of_cray_mpich_is_looked_up_in_a_file_of_its_own():
    hints = {"wrfout*": {"cb_nodes": 2}, "wrfrst*": {"cb_nodes": 4}}
    found = printed([("cb_nodes", "2")], file="wrfoutprobe")
    first, second = rows(hints, "cray-mpich", found)
    assert (first.pattern, first.in_force, first.arrived) == ("wrfout*", "2", True)
    assert (second.pattern, second.in_force, second.arrived) == ("wrfrst*", None, False)


def test_lowered_aggregators_did_not_arrive_unless_there_are_no_more_ranks():
    hints = {"*": {"cb_nodes": 8}}
    clipped = printed([("cb_nodes", "1")])
    assert verdicts(hints, "romio", clipped)["cb_nodes"] == ("lowered", False)
    few = printed([("cb_nodes", "4"), ("cb_config_list", "*:8")])
    assert verdicts(hints, "romio", few)["cb_nodes"] == (
        "in force for 4 ranks", True
    )  # fmt: skip


def test_the_list_of_hosts_that_burstlens_adds_has_a_row_too():
    found = printed([("cb_nodes", "2"), ("cb_config_list", "*:2")])
    assert verdicts({"*": {"cb_nodes": 2}}, "romio", found) == {
        "cb_nodes": ("in force", True), "cb_config_list": ("in force", True),
    }  # fmt: skip


@pytest.mark.parametrize("shown", [[("striping_unit", "65536")], []])
def test_striping_is_without_effect_where_the_driver_has_no_stripes(shown):
    found = printed([("romio_filesystem_type", UFS), *shown])
    assert verdicts({"*": {"striping_unit": 65536}}, "romio", found)["striping_unit"] == (
        "no effect on UFS",
        True,
    )


def test_striping_on_lustre_counts():
    found = printed([("romio_filesystem_type", "LUSTRE: "), ("striping_factor", "1")])
    assert verdicts({"*": {"striping_factor": 8}}, "romio", found)["striping_factor"] == (
        "not in force",
        False,
    )


def test_open_mpi_s_parameters_are_read_from_the_tool_interface():
    hints = {"*": {"cb_nodes": 8, "romio_cb_write": "disable", "romio_ds_write": "disable",
                   "striping_factor": 4, "ind_wr_buffer_size": 9, "cb_buffer_size": 7,
                   "romio_cb_read": "automatic"}}  # fmt: skip
    found = printed(variables=[("io_ompio_num_aggregators", "8"), ("fcoll", ""),
                               ("fbtl_posix_write_datasieving", "false")])  # fmt: skip
    assert verdicts(hints, "openmpi", found) == {
        "cb_nodes": ("in force", True),
        "romio_cb_write": ("not in force", False),
        "romio_ds_write": ("in force", True),
        "striping_factor": ("no effect without Lustre", True),
        "ind_wr_buffer_size": ("no such hint", False),
        "cb_buffer_size": ("no such parameter", False),
        "romio_cb_read": ("its default", True),
    }


@pytest.mark.parametrize(
    ("library", "mpi"),
    [
        ("MPI VERSION    : CRAY MPICH version 8.1.28.15 (ANL base 3.4a2)", "cray-mpich"),
        ("MPICH Version: 4.0.2", "romio"),
        ("MVAPICH2 Version      :       2.3.7", "romio"),
        ("Open MPI v4.1.4", "openmpi"),
        ("Intel(R) MPI Library 2021.10", None),
    ],
)
def test_a_library_s_version_names_the_mpi(library, mpi):
    assert mpi_of_library(library) == mpi


@pytest.mark.parametrize("pattern", ["*", "wrfout_*", "wrf???.nc", "out[0-9]*", "deep/wrfrst*"])
def test_the_probe_s_file_matches_the_pattern(pattern):
    assert fnmatch(example(pattern), pattern)
