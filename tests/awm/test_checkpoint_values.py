"""A checkpoint of awm is judged by its CRCs and values, in slabs."""

from __future__ import annotations

import numpy as np
import planted
import pytest

from burstlens.core.errors import RecipeError
from burstlens.workflows.awm import checkpoint_values
from burstlens.workflows.awm.adapter import Awm
from burstlens.workflows.awm.checkpoint_files import HEAD_BYTES


@pytest.fixture
def path(tmp_path):
    return planted.write(tmp_path / "checkpoint_0000001.awm", planted.fields())


def test_a_good_one_has_no_fault(path):
    assert Awm().checkpoint_fault(path) == ""


@pytest.mark.parametrize("slab", [16, 64, 32 << 20])
@pytest.mark.parametrize(("value", "word"), [(np.nan, "nan"), (-np.inf, "-inf")])
def test_a_value_that_is_not_finite_is_named_with_its_place(path, monkeypatch, slab, value, word):
    monkeypatch.setattr(checkpoint_values, "SLAB_BYTES", slab)
    planted.plant(path, "vy", value, (2, 3, 1), (3, 0, 0))
    assert Awm().checkpoint_fault(path) == f"vy is {word} at 2, 3, 1"


def test_a_field_that_was_changed_on_the_way_is_named(path):
    data = bytearray(path.read_bytes())
    data[HEAD_BYTES + 4 * 120 + 7] ^= 1
    path.write_bytes(data)
    assert Awm().checkpoint_fault(path) == "its field vy was changed since it was written"


def test_one_that_is_cut_ends_in_a_field(path):
    path.write_bytes(path.read_bytes()[:-10])
    assert Awm().checkpoint_fault(path) == "it ends in the field sxx"


def test_what_is_no_checkpoint_is_refused(path):
    path.write_bytes(b"anything")
    with pytest.raises(RecipeError, match="is not a whole checkpoint of awm"):
        Awm().checkpoint_fault(path)


def test_what_awm_writes_has_no_fault(run, tmp_path):
    run("one", time={"steps": 20}).go()
    found = sorted((tmp_path / "one").glob("*.awm"))
    assert [Awm().checkpoint_fault(one) for one in found] == ["", ""]
