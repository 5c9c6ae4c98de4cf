"""Capacity planning, checked against what KAUST and NERSC published of their machines."""

from __future__ import annotations

import pytest

from burstlens.cluster_configs.site import BufferSite, choose
from burstlens.core.errors import SiteError
from burstlens.core.quantity import parse_bytes
from burstlens.workflows.plan.capacity import Granularity, granularity, passed_over, show_exactly

GIB, TIB = 2**30, 2**40
SHAHEEN = Granularity(368 * GIB, nodes=268, node_capacity=parse_bytes("5.82 TiB"))
CORI = Granularity(20 * 10**9, nodes=288)


def test_600_gib_on_shaheen_are_two_granules_on_two_nodes():
    assert SHAHEEN.grant(600 * GIB).text == (
        "600 GiB asked = 2 granules = 736 GiB on 2 DW nodes, 18 % unused"
    )


def test_a_node_of_shaheen_holds_sixteen_granules():
    assert SHAHEEN.per_node == 16
    assert SHAHEEN.total == 268 * 16 * 368 * GIB


def test_sixty_terabytes_on_shaheen_are_served_by_167_nodes():
    assert SHAHEEN.grant(60 * TIB).nodes == 167


def test_above_96_31_tb_some_nodes_of_shaheen_serve_twice():
    alone = SHAHEEN.capacity(268)
    assert round(alone / TIB, 2) == 96.31
    assert SHAHEEN.grant(alone).per_node == 1
    twice = SHAHEEN.grant(alone + 1)
    assert (twice.granules, twice.nodes, twice.per_node) == (269, 268, 2)
    assert "on 268 DW nodes, up to 2 granules per node, " in twice.text


def test_64_nodes_of_shaheen_are_asked_for_by_23552_gib():
    assert SHAHEEN.capacity(64) == 23_552 * GIB
    # KAUST advised users to ask for 1 GiB less, to be on the safe side of the rounding.
    for size in (23_552 * GIB, 23_551 * GIB):
        assert SHAHEEN.grant(size).nodes == 64


@pytest.mark.parametrize(("asked", "nodes"), [("19 GB", 1), ("20 GB", 1), ("21 GB", 2)])
def test_what_is_below_a_granule_of_cori_lies_on_one_node(asked, nodes):
    assert CORI.grant(parse_bytes(asked)).nodes == nodes


def test_a_whole_granule_wastes_nothing():
    assert CORI.grant(parse_bytes("40 GB")).text == (
        "40 GB asked = 2 granules = 40 GB on 2 DW nodes, 0 % unused"
    )


def test_without_a_number_of_nodes_none_is_shown():
    grant = Granularity(20 * 10**9).grant(parse_bytes("30 GB"))
    assert grant.text == "30 GB asked = 2 granules = 40 GB, 25 % unused"
    assert grant.nodes is None


def test_more_than_there_is_is_refused_before_slurm_lets_it_wait_for_ever():
    with pytest.raises(SiteError, match=r"2,000 TiB are asked for, .* has 1,541 TiB"):
        SHAHEEN.grant(2000 * TIB)
    with pytest.raises(SiteError, match="300 burst-buffer nodes are asked for, and there are 268"):
        SHAHEEN.capacity(300)


def test_a_site_without_a_granule_is_not_planned():
    assert granularity(BufferSite()) is None
    assert granularity(BufferSite(granule=368 * GIB, nodes=268)) == Granularity(368 * GIB, 268)


@pytest.mark.parametrize("text", ["736 GiB", "60 TB", "20 GB", "23 TiB", "1 MiB", "2,000 TiB"])
def test_sizes_are_shown_whole(text):
    assert show_exactly(parse_bytes(text.replace(",", ""))) == text


def test_a_folder_that_the_user_names_is_not_passed_over_in_silence(tmp_path, monkeypatch):
    local = choose("local")
    assert passed_over(local, 1000) is None
    monkeypatch.setenv("BURSTLENS_BUFFER", str(tmp_path))
    assert passed_over(local, 1000) is None
    assert "has " in passed_over(local, 1 << 60)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BURSTLENS_BUFFER", str(tmp_path / "file"))
    reason = passed_over(local, 1000)
    assert reason.startswith("BURSTLENS_BUFFER is not used: ")
    assert str(tmp_path / "file") in reason
