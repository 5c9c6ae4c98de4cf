"""Whether `check` sees that checkpoints do not fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from segments_case import PARAMETERS, RECIPE

from burstlens.cluster_configs.site import choose
from burstlens.workflows.models.base import Facts
from burstlens.workflows.recipe.checkpoint_room import checkpoint_room
from burstlens.workflows.recipe.findings import ERROR, WARNING

MIB = 2**20
EVERY = '[checkpoint]\nevery = "1 s"\n'


@pytest.fixture
def findings(recipe, monkeypatch, tmp_path: Path):
    """The levels and texts for checkpoints of so many bytes."""
    monkeypatch.setenv("BURSTLENS_RUNS", str(tmp_path / "not" / "made"))

    def make(
        each: int | None, buffer="", more=EVERY, segments=4, placement="local", own="", **facts
    ):
        made = recipe(text=RECIPE.format(segments=segments, keys="") + more + buffer)
        (made.inputs / "awm.toml").write_text(PARAMETERS + own)
        site = choose("local")
        if placement != "local":
            viewing = replace(site.viewing, placement=placement)
            site = replace(site, scheduler="slurm", viewing=viewing)
        known = Facts(total_s=facts.pop("total_s", 10.0), checkpoint_bytes=each, **facts)
        return [(one.level, one.text) for one in checkpoint_room(made, known, site)]

    return make


def capacity(size: str, more: str = "") -> str:
    return f'[buffer]\ncapacity = "{size}"\n{more}'


def test_kept_ones_the_one_that_is_written_and_a_frame_must_fit_the_capacity(findings):
    ((level, text),) = findings(MIB, capacity("3 MiB"), output_bytes=MIB, frames=10)
    assert level == ERROR
    assert "3 checkpoints of 1.00 MiB each and 102 KiB of frames beside them are 3.10 MiB" in text
    assert "buffer.capacity is 3.00 MiB" in text
    assert findings(MIB, capacity("4 MiB"), output_bytes=MIB, frames=10) == []


def test_frames_that_are_never_released_count_all(findings):
    stays = capacity("4 MiB", 'raw = "keep"\non_pressure = "stop"\n')
    ((_, text),) = findings(MIB, stays, output_bytes=2 * MIB, frames=10)
    assert "2.00 MiB of frames" in text


def test_a_run_that_writes_fewer_needs_less(findings):
    assert findings(MIB, capacity("2 MiB"), total_s=2.0) == []
    assert findings(MIB, capacity("2 MiB"), more="", segments=3) == []
    assert len(findings(MIB, capacity("2 MiB"), more="", segments=4)) == 1


def test_each_job_of_a_run_without_an_interval_ends_with_one(findings):
    ((_, text),) = findings(MIB, capacity("2 MiB"), more="", segments='"until done"')
    assert text.startswith("checkpoint.keep: 3 checkpoints of 1.00 MiB each")


def test_where_only_the_models_settings_ask_for_them_it_is_a_warning(findings):
    own = "[checkpoint]\nevery = 50\n"
    ((level, _),) = findings(MIB, capacity("2 MiB"), more="", segments=1, own=own)
    assert level == WARNING


def test_what_comes_home_must_fit_where_runs_are_kept(findings, tmp_path):
    big = capacity("400 PB")
    ((level, text),) = findings(10**17, big)
    assert level == ERROR
    assert f"1 checkpoint of 88.8 PiB each must fit {tmp_path}, which has" in text
    ((_, text),) = findings(10**17, big, placement="same-job")
    assert "3 checkpoints of" in text


def test_of_a_model_whose_checkpoints_have_no_known_size_nothing_is_said(findings):
    assert findings(None, capacity("1 MiB")) == []
    assert findings(10**12, capacity("1 MiB"), more="", segments=1) == []
