"""The comparison of buffer and parallel file system, from recipes and site files."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from burstlens.cluster_configs.site import choose
from burstlens.core.errors import RecipeError, SiteError
from burstlens.core.quantity import parse_bytes
from burstlens.workflows.buffer_worth.comparison import buffer_worth, compare, storages
from burstlens.workflows.buffer_worth.output import Output, output_of
from burstlens.workflows.recipe.load import load

GIB = 2**30
BTIO = {"frame_bytes": 50 * GIB, "frames": 20, "compute_s": 3600.0}
TRACES = Path(__file__).parents[1] / "data" / "traces"


def worth(*settings: str, recipe: str = "io-btio", **given: float):
    return buffer_worth(recipe, "shaheen2", ("nodes=32", *settings), **{**BTIO, **given})


def test_the_buffer_that_the_recipe_asks_for_sets_the_nodes():
    found = worth("capacity=3 TiB")
    assert [row.targets for row in found.rows] == [144, 9, 9]
    assert found.granted == "3 TiB asked = 9 granules = 3,312 GiB on 9 DW nodes, 7 % unused"


def test_it_pays_from_the_nodes_on_that_it_names():
    found = worth("capacity=3 TiB")
    assert found.pays_from == 7
    parallel = found.rows[0].frame_s
    capacity = found.capacity_to_pay
    assert capacity == 7 * 368 * GIB
    assert worth(f"capacity={capacity}").rows[2].frame_s < parallel
    assert worth(f"capacity={capacity - 368 * GIB}").rows[2].frame_s > parallel


def test_the_capacity_in_its_sentence_can_be_set_as_it_stands():
    (text,) = [text for text in worth().verdict() if "buffer.capacity" in text]
    assert parse_bytes(text.split('"')[1]) == 7 * 368 * GIB


def test_with_default_hints_no_number_of_nodes_pays_here():
    found = worth("capacity=90 TiB")
    assert found.pays_untuned_from is None
    assert found.rows[1].frame_s > found.rows[0].frame_s


def test_a_run_is_computing_output_and_both_stagings():
    output = Output(frame_bytes=GIB, frames=10, compute_s=100.0, staged_in=30 * GIB, kept=10 * GIB)
    recipe, _ = load("io-btio", ())
    site = choose("shaheen2")
    found = compare(recipe, site, output, storages(site, 1))
    parallel, _, tuned = found.rows
    assert parallel.run_s == pytest.approx(100 + 10 * parallel.frame_s)
    drain = 337 * 2**20  # one viewing node
    staging = (30 * GIB + GIB) / drain
    assert tuned.run_s == pytest.approx(100 + 10 * tuned.frame_s + staging)


def test_stage_out_that_cannot_keep_up_delays_the_end():
    output = Output(frame_bytes=100 * GIB, frames=10, compute_s=100.0, kept=1000 * GIB)
    recipe, _ = load("io-btio", ("nodes=64",))
    site = choose("shaheen2")
    tuned = compare(recipe, site, output, storages(site, 64)).rows[2]
    model_s = 100 + 10 * tuned.frame_s
    assert tuned.run_s == pytest.approx(1000 * GIB / (337 * 2**20))
    assert tuned.run_s > model_s
    more = replace(site, viewing=replace(site.viewing, nodes=8))
    assert compare(recipe, more, output, storages(more, 64)).rows[2].run_s < tuned.run_s


def test_nodes_for_5_percent_bring_output_there():
    found = worth(compute_s=1000.0)
    nodes = found.nodes_for_share
    assert nodes is not None
    granted = worth(f"capacity={nodes * 368} GiB", compute_s=1000.0)
    assert granted.rows[2].share <= 0.05
    fewer = worth(f"capacity={(nodes - 1) * 368} GiB", compute_s=1000.0)
    assert fewer.rows[2].share > 0.05


def test_frames_and_sizes_of_wrf_come_from_its_namelist(tmp_path):
    shutil.copy(TRACES / "namelist.input", tmp_path)
    (tmp_path / "wrf.exe").write_bytes(b"\x7fELF")
    recipe, _ = load("wrf-live", (f"inputs={tmp_path}",))
    output, notes = output_of(recipe, None, None, None)
    assert (output.frames, output.frame_bytes) == (3, 3594240 // 3)
    assert output.model_s == 120.0
    assert output.kept == output.frame_bytes * 3
    assert output.staged_in == (tmp_path / "namelist.input").stat().st_size + 4
    assert "walltime" in notes[0]


def test_files_that_are_no_frames_are_not_taken_for_kept_ones():
    recipe, _ = load("seismic-basin", ())
    output, _ = output_of(recipe, None, None, 60.0)
    assert output.frames == 60 + 12
    assert output.kept == 0


def test_one_tuned_node_pays_for_wrf_chem_and_an_untuned_one_does_not(tmp_path):
    shutil.copy(TRACES / "namelist.input", tmp_path)
    (tmp_path / "wrf.exe").write_bytes(b"\x7fELF")
    given = (f"inputs={tmp_path}", "capacity=368 GiB", "nodes=40", "ranks_per_node=32")
    about = {"frame_bytes": 2_900_000_000, "frames": 25, "compute_s": 3600.0}
    found = buffer_worth("wrf-live", "shaheen2", given, **about)
    assert found.pays_from == 1
    parallel, untuned, tuned = found.rows
    assert tuned.frame_s < parallel.frame_s < untuned.frame_s
    assert any("efficiency of wrf" in note for note in found.notes)
    plain = buffer_worth("wrf-live", "shaheen2", given, efficiency=1.0, **about)
    assert plain.rows[2].frame_s < tuned.frame_s
    assert plain.rows[0] == parallel


def test_a_model_that_does_not_say_its_sizes_needs_them_given():
    with pytest.raises(RecipeError, match="give --frames and --frame-size"):
        buffer_worth("io-btio", "shaheen2")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"frames": 0}, "--frames must"),
        ({"frame_bytes": -1, "compute_s": 0.0}, "--frame-size and --compute must"),
        ({"efficiency": 0.0}, "an efficiency must"),
        ({"parallel_efficiency": -1.0}, "an efficiency must"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(wrong, message):
    with pytest.raises(RecipeError, match=message):
        worth(**wrong)


def test_a_site_without_rates_is_refused_with_the_keys_that_it_lacks():
    with pytest.raises(
        SiteError, match=r"parallel.targets, parallel.target_rate, buffer.node_rate"
    ):
        buffer_worth("io-btio", "local", **BTIO)


def test_a_buffer_larger_than_the_machine_s_is_refused():
    with pytest.raises(SiteError, match="are asked for, and the burst buffer has"):
        worth("capacity=9 PiB")


def test_frames_that_do_not_fit_the_buffer_are_noted():
    assert any("release" in note for note in worth("capacity=100 GiB").notes)
