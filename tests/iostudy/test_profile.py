"""Profiles: read, checked, and turned into what the program reads."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from burstlens.core.errors import RecipeError
from burstlens.workflows.iostudy.profile import Profile, read, study

RECIPES = Path(__file__).parents[2] / "workflows" / "recipes"
PROFILES = sorted(RECIPES.glob("io-*/profile.toml"))


@pytest.fixture
def written(tmp_path):
    def write(text: str) -> Path:
        path = tmp_path / "profile.toml"
        path.write_text(text)
        return path

    return write


IOR = 'title = "t"\npattern = "segments"\nblock = "64 KiB"\n[sizes.talk]\nblock = "1 MiB"\n'


def test_a_size_and_settings_lie_over_the_profile(written):
    path = written(IOR)
    assert read(path).block == 65536
    assert read(path, size="talk").block == 2**20
    assert read(path, ["block=4 KiB", "segments=3"], "talk").block == 4096
    assert read(path, ["collective=false", "frames="]).collective is False
    assert read(path, ["hints=cb_nodes=2; romio_cb_write=enable"]).hints == {
        "cb_nodes": "2", "romio_cb_write": "enable",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "settings", "size", "message"),
    [
        ("title = ", [], "", "is not TOML"),
        (IOR, ["frames"], "", "expected key=value, got 'frames'"),
        (IOR, [], "tlak", "has no size 'tlak'; it has: talk"),
        (IOR, ["fames=3"], "", "fames: unknown key; did you mean frames"),
        (IOR, ["frames=many"], "", "frames: "),
        (IOR, ["block=3"], "", "block is a multiple of 4 bytes"),
        (IOR, ["block=2 GiB"], "", "at most 1 GiB"),
        (IOR, ["hints=cb_nodes"], "", "expected key=value;key=value"),
        (IOR, ["hints=a=b c"], "", "words without spaces"),
        (IOR, ["pattern=cells", "shape=[3,4,3]"], "", "the shape of cells is a cube"),
        (IOR, ["pattern=blocks"], "", "needs a shape"),
        (IOR, ["pattern=blocks", "shape=[4]", "split=[1,0]"], "", "split has as many"),
        (IOR, ["pattern=blocks", "shape=[4]", "calls=runs"], "", "needs collective = false"),
        (IOR, ["pattern=blocks", "shape=[4]", "files=rank"], "", "goes with the pattern segments"),
    ],
)
def test_faults_are_one_message(written, text, settings, size, message):
    with pytest.raises(RecipeError) as caught:
        read(written(text), settings, size)
    assert message in str(caught.value)


def test_a_missing_profile_is_named(tmp_path):
    with pytest.raises(RecipeError, match=r"cannot read .*none.toml"):
        read(tmp_path / "none.toml")


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.parent.name)
def test_profiles_that_ship_fit_a_laptop_with_every_size_right(path):
    sizes = tomllib.loads(path.read_text()).get("sizes", {})
    laptop = read(path)
    laptop.require_ranks(4)
    assert laptop.frame_bytes(4) * laptop.frames < 0.5e9
    for size in sizes:
        read(path, size=size).require_ranks(16)


@pytest.mark.parametrize(
    ("name", "size", "ranks", "expected"),
    [
        ("io-btio", "", 4, 64**3 * 40),
        ("io-btio", "talk", 1024, 408**3 * 40),
        ("io-wrf", "talk", 1280, 2.9e9),
        ("io-pidx", "talk", 10, 10 * 64 * 2**20),
        ("io-migration", "talk", 1242, 86e9),
        ("io-ior", "file-per-rank", 8, 8 * 8 * 2**20),
    ],
)
def test_the_talk_s_sizes_are_the_talk_s(name, size, ranks, expected):
    profile = read(RECIPES / name / "profile.toml", size=size)
    assert profile.frame_bytes(ranks) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("fields", "ranks", "message"),
    [
        ({"pattern": "cells", "shape": (8, 8, 8)}, 6, "a square number of ranks, not on 6"),
        ({"pattern": "cells", "shape": (2, 2, 2)}, 9, "too small"),
        ({"pattern": "blocks", "shape": (8, 8), "split": (2, 0)}, 3, "do not fit"),
        ({"pattern": "blocks", "shape": (8, 8), "split": (2, 2)}, 8, "do not fit"),
        ({"pattern": "blocks", "shape": (1024, 1024, 1024)}, 2, "more than 1 GiB in one call"),
    ],
)
def test_ranks_that_cannot_share_the_work_are_refused(fields, ranks, message):
    with pytest.raises(RecipeError, match=message):
        Profile(title="t", **fields).require_ranks(ranks)


def test_the_program_s_file_ends_with_a_mark_and_has_every_hint():
    profile = Profile(title="t", pattern="segments", block=4096, hints={"cb_nodes": 2})
    lines = study(profile, 2, 4096).splitlines()
    assert lines[-1] == "end"
    assert {"ranks 2", "transfer 4096", "calls runs", "hint cb_nodes 2", "begin 4096"} <= set(lines)


def test_files_of_ranks_are_never_written_collectively():
    profile = Profile(title="t", pattern="segments", files="rank")
    assert "collective 0" in study(profile, 2, 4096).splitlines()
