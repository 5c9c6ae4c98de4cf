"""What check says of hints: by their names, their values, ranks, buffer nodes and file system."""

from __future__ import annotations

import pytest

from burstlens.workflows.hints.advice import Place, advise, choices


def said(values, **place):
    """The remarks on hints for all files of a Cray, each as ``level: text``."""
    where = Place(**{"site": "here", "mpi": "cray-mpich", **place})
    return [f"{one.level}: {one.text}" for one in advise({"*": values}, where)]


def test_what_the_talk_recommends_is_not_remarked_on():
    assert said({"cb_nodes": 64, "striping_unit": 4194304}, ranks=1024, buffer_nodes=8) == []


def test_aggregators_that_do_not_divide_the_ranks_are_shown_with_better_numbers():
    (text,) = said({"cb_nodes": 100}, ranks=1024)
    assert text == (
        "warning: cb_nodes 100 of '*' does not divide the 1024 ranks; try 32, 64, 128, 256"
    )


def test_aggregators_are_a_multiple_of_the_buffer_s_nodes():
    (text,) = said({"cb_nodes": 16}, ranks=1152, buffer_nodes=6)
    assert text == (
        "warning: cb_nodes 16 of '*' is not a multiple of the buffer's 6 nodes; try 12, 18, 24, 36"
    )


def test_one_aggregator_per_buffer_node_is_too_few():
    (text,) = said({"cb_nodes": 6}, ranks=1152, buffer_nodes=6)
    assert "is not 12 to 768 (2 to 128 for each of 6 nodes); try 12, 18, 24, 36" in text


def test_numbers_that_no_aggregators_suit_are_named():
    (text,) = said({"cb_nodes": 12}, ranks=1024, buffer_nodes=12)
    assert "does not divide the 1024 ranks" in text
    assert "with 1024 ranks no number is right for 12 nodes" in text


@pytest.mark.parametrize(
    ("cb_nodes", "why"),
    [(64, "there are 16 ranks, so 16 is used"), (16, "makes each of the 16 ranks an aggregator")],
)
def test_more_aggregators_than_half_of_the_ranks(cb_nodes, why):
    (text,) = said({"cb_nodes": cb_nodes}, ranks=16)
    assert why in text


def test_nothing_is_said_of_ranks_that_are_not_known():
    assert said({"cb_nodes": 100}) == []


@pytest.mark.parametrize("near", [1, 5, 7, 64, 1000, 10**6])
def test_choices_keep_the_rules(near):
    for ranks, nodes in ((1152, 6), (1024, 8), (96, None), (None, 4)):
        for number in choices(near, ranks, nodes):
            assert ranks is None or (ranks % number == 0 and ranks // number >= 2)
            assert nodes is None or (number % nodes == 0 and 2 <= number // nodes <= 128)


def test_a_list_of_hosts_that_clips_the_aggregators_of_romio():
    hints = {"cb_nodes": 8, "cb_config_list": "*:1"}
    (text,) = said(hints, mpi="romio", nodes=4, ranks=64)
    assert text == (
        "warning: cb_nodes 8 of '*': cb_config_list *:1 allows 4 on 4 nodes, so 4 is used"
    )
    assert said({"cb_nodes": 8}, mpi="romio", nodes=4, ranks=64) == []


def test_a_striping_unit_off_64_kib_is_shown_with_the_nearest_that_is_on_it():
    (text,) = said({"striping_unit": 665600})
    assert text.endswith("665600 is not a multiple of 64 KiB, as Lustre's stripes are: 655360 is")


def test_striping_has_no_effect_on_other_file_systems():
    (text,) = said({"striping_factor": 64}, file_system="ext4")
    assert text.endswith(
        "acts on Lustre and DataWarp only: the buffer is on ext4, where it has no effect"
    )
    for file_system in ("lustre", "datawarp", ""):
        assert said({"striping_factor": 64}, file_system=file_system) == []


@pytest.mark.parametrize(
    ("mpi", "hint", "meant"),
    [("cray-mpich", "cb_node", "cb_nodes"), ("romio", "cray_cb_nodes_multiplier", ""),
     ("openmpi", "ind_wr_buffer_size", ""), ("openmpi", "cb_nodez", "cb_nodes")],
)  # fmt: skip
def test_a_hint_that_the_mpi_does_not_have(mpi, hint, meant):
    (text,) = said({hint: 4}, mpi=mpi)
    assert "has no such hint" in text
    assert meant in text


@pytest.mark.parametrize("value", ["4M", "0", "-1", "all"])
def test_a_size_with_a_unit_is_an_error_since_mpi_would_read_its_first_digits(value):
    (text,) = said({"cb_buffer_size": value})
    assert text.startswith("error: ")
    assert "is not a whole number above 0" in text


def test_a_switch_has_three_values():
    (text,) = said({"romio_cb_write": "off"})
    assert text == "warning: romio_cb_write of '*': 'off' is none of enable, disable, automatic"


def test_an_mpi_that_is_not_known_or_takes_no_hints():
    (unknown,) = said({"cb_nodes": 4}, mpi=None)
    assert "does not say which MPI" in unknown
    assert "--probe-io" in unknown
    assert said({"cb_nodes": 4}, mpi="none") == [
        'warning: site here has mpi = "none": the hints have no effect'
    ]


def test_patterns_that_differ_where_one_set_serves_all_files():
    hints = {"wrfout*": {"cb_nodes": 8}, "wrfrst*": {"cb_nodes": 16}}
    warning, note = advise(hints, Place(site="here", mpi="romio"))
    assert (warning.level, warning.text) == (
        "warning",
        "ROMIO takes one value of cb_nodes for all files: 8 of 'wrfout*' counts, "
        "16 of 'wrfrst*' does not",
    )
    assert note.level == "note"
    assert list(advise(hints, Place(site="here", mpi="cray-mpich"))) == []


def test_a_value_that_open_mpi_cannot_say_is_not_called_a_misspelt_hint():
    place = Place(site="s", mpi="openmpi")
    texts = [one.text for one in advise({"*": {"romio_cb_write": "enable"}}, place)]
    assert texts == ["romio_cb_write of '*': Open MPI has no way to say 'enable'"]
