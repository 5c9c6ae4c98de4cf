"""Hints by pattern, as each MPI takes them."""

from __future__ import annotations

import pytest

from burstlens.workflows.hints.delivery import check_spelling, deliver, merged, spread

WRF = {
    "wrfout*": {"cb_nodes": 8, "romio_cb_write": "enable", "striping_unit": 4194304},
    "wrfrst*": {"striping_factor": 144},
}


def test_cray_mpich_gets_each_pattern_with_its_own_hints():
    made = deliver(WRF, "cray-mpich", nodes=4)
    assert made.environment == {
        "MPICH_MPIIO_HINTS": "wrfout*:cb_nodes=8:romio_cb_write=enable:striping_unit=4194304,"
        "wrfrst*:striping_factor=144"
    }
    assert made.files == {}


def test_a_list_of_hosts_stands_between_hashes_since_colons_separate_hints_of_cray_mpich():
    made = deliver({"*": {"cb_config_list": "*:2", "cb_nodes": 4}}, "cray-mpich")
    assert made.environment["MPICH_MPIIO_HINTS"] == "*:cb_config_list=#*:2#:cb_nodes=4"


def test_an_unknown_mpi_gets_what_cray_mpich_takes():
    assert deliver(WRF, None) == deliver(WRF, "cray-mpich")


def test_romio_gets_one_file_of_lines_for_all_patterns_and_pnetcdf_the_same():
    made = deliver(WRF, "romio", nodes=4)
    lines = [
        "cb_nodes 8", "romio_cb_write enable", "striping_unit 4194304", "striping_factor 144",
        "cb_config_list *:2",
    ]  # fmt: skip
    assert made.files == {"ROMIO_HINTS": "\n".join([*lines, ""])}
    assert made.environment == {"PNETCDF_HINTS": ";".join(line.replace(" ", "=") for line in lines)}


@pytest.mark.parametrize(
    ("cb_nodes", "nodes", "allowed"),
    [("8", 4, "*:2"), ("8", 3, "*:3"), ("2", 8, "*:1"), ("4", 1, "*:4"), ("auto", 4, None)],
)
def test_as_many_aggregators_are_allowed_on_each_host_as_reach_cb_nodes(cb_nodes, nodes, allowed):
    assert spread(cb_nodes, nodes) == allowed


def test_the_recipe_s_own_list_of_hosts_stays():
    made = deliver({"*": {"cb_nodes": 8, "cb_config_list": "n1:8"}}, "romio", nodes=4)
    assert made.files["ROMIO_HINTS"] == "cb_nodes 8\ncb_config_list n1:8\n"


def test_open_mpi_gets_the_parameters_that_do_the_same():
    hints = {"*": {"cb_nodes": 8, "cb_buffer_size": 1048576, "striping_factor": 64,
                   "striping_unit": 65536, "romio_cb_write": "disable",
                   "romio_ds_write": "disable", "io_ompio_grouping_option": 4}}  # fmt: skip
    made = deliver(hints, "openmpi", nodes=2)
    mca = {name: value for name, value in made.environment.items() if name != "PNETCDF_HINTS"}
    assert mca == {
        "OMPI_MCA_io_ompio_num_aggregators": "8",
        "OMPI_MCA_io_ompio_bytes_per_agg": "1048576",
        "OMPI_MCA_fs_lustre_stripe_width": "64",
        "OMPI_MCA_fs_lustre_stripe_size": "65536",
        "OMPI_MCA_fcoll": "individual",
        "OMPI_MCA_fbtl_posix_write_datasieving": "false",
        "OMPI_MCA_io_ompio_grouping_option": "4",
    }
    assert "cb_config_list" not in made.environment["PNETCDF_HINTS"]


def test_a_site_without_mpi_gets_nothing():
    made = deliver(WRF, "none", report=True)
    assert (made.environment, made.files) == ({}, {})


def test_of_two_values_for_all_files_the_first_one_counts_and_the_other_is_named():
    values, (conflict,) = merged({"a*": {"cb_nodes": 8}, "b*": {"cb_nodes": 16, "direct_io": True}})
    assert values == {"cb_nodes": "8", "direct_io": "true"}
    assert (conflict.hint, conflict.pattern, conflict.kept) == ("cb_nodes", "a*", "8")
    assert conflict.dropped == {"b*": "16"}


@pytest.mark.parametrize(
    ("mpi", "variable"),
    [
        ("cray-mpich", "MPICH_MPIIO_TIMERS"),
        ("romio", "ROMIO_PRINT_HINTS"),
        ("openmpi", "OMPI_MCA_io_ompio_verbose_info_parsing"),
    ],
)
def test_each_mpi_has_a_report_of_its_own(mpi, variable):
    assert deliver({}, mpi, report=True).environment[variable] == "1"
    assert variable not in deliver(WRF, mpi).environment


@pytest.mark.parametrize(
    ("pattern", "hint", "value"),
    [
        ("a,b", "cb_nodes", 8),
        ("a b", "cb_nodes", 8),
        ("*", "cb nodes", 8),
        ("*", "cb_nodes", "8\nromio_ds_write disable"),
        ("*", "cb_nodes", "8:direct_io=true"),
        ("*", "cb_nodes", "8;x=1"),
        ("*", "cb_nodes", ""),
        ("*", "cb_config_list", "*:2;x=1"),
    ],
)
def test_what_separates_hints_is_refused_so_that_none_can_bring_in_another(pattern, hint, value):
    with pytest.raises(ValueError, match="mpiio_hints of"):
        check_spelling({pattern: {hint: value}})


def test_lists_of_hosts_are_spelt_with_commas_and_colons():
    check_spelling({"*": {"cb_config_list": "n1:2,n2:*", "romio_no_indep_rw": True}})
