"""What leaf rooms put into a seam."""

from __future__ import annotations

import pytest

from burstlens.core.plugins import has_leaf, leaf, points


def test_a_leaf_is_what_its_room_has_under_that_name():
    assert leaf("burstlens.core.plugins:points") is points
    assert has_leaf("burstlens.core.plugins:points")


def test_a_room_that_is_not_installed_puts_nothing_into_a_seam():
    assert leaf("burstlens.workflows.there_is_no_such_room.inside:Reader") is None
    assert not has_leaf("burstlens.workflows.there_is_no_such_room.inside:Reader")


def test_a_room_that_lacks_the_module_is_a_defect():
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        leaf("burstlens.core.no_such_module:Reader")
