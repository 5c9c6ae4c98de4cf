"""Where a box is cut: parts fill it, meet as they should, and follow compressed chunks."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from burstlens.core.errors import FrameError
from burstlens.viz.kinds.vtk.split import Split

axes = st.builds(
    lambda first, size, step: range(first, first + size * step, step),
    st.integers(0, 50), st.integers(1, 60), st.integers(1, 5),
)  # fmt: skip
splits = st.builds(
    Split, st.tuples(axes, axes, axes), st.tuples(*[st.integers(0, 70)] * 3), st.booleans(),
    st.booleans(),
)  # fmt: skip


@settings(deadline=None)
@given(splits, st.integers(1, 20))
def test_parts_fill_the_box_and_meet(split: Split, count: int):
    assume(max(len(split.points[1]), len(split.points[2])) > count)
    parts = split.parts(count)
    assert len(parts) == count
    (axis,) = {part.axis for part in parts}
    assert (parts[0].first, parts[-1].stop) == (0, len(split.points[axis]))
    for one, after in pairwise(parts):
        assert one.own == after.first
        assert one.stop == one.own + split.shared
    assert all(part.stop - part.first > split.shared for part in parts)
    assert parts[-1].own == parts[-1].stop


@settings(deadline=None)
@given(splits, st.integers(1, 8), st.integers(1, 20), st.integers(1, 4))
def test_slabs_fill_their_part_and_count_its_own_points_once(
    split: Split, parts: int, count: int, least: int
):
    assume(max(len(split.points[1]), len(split.points[2])) > parts)
    for part in split.parts(parts):
        slabs = split.slabs(part, count, least)
        assert (slabs[0].first, slabs[-1].stop) == (part.first, part.stop)
        assert all(one.stop == after.first for one, after in pairwise(slabs))
        assert sum(slab.own - slab.first for slab in slabs) == part.own - part.first
        assert all(slab.own > slab.first for slab in slabs)


@settings(deadline=None)
@given(splits, st.integers(1, 20))
def test_no_slab_begins_within_a_compressed_chunk(split: Split, count: int):
    whole = split.whole()
    chunk = split.chunks[whole.axis]
    assume(chunk)
    points = split.points[whole.axis]
    for slab in split.slabs(whole, count, 1)[1:]:
        assert points[slab.first] // chunk != points[slab.first - 1] // chunk


def test_a_chunk_that_is_larger_than_the_memory_is_cut_all_the_same():
    split = Split((range(4), range(40), range(30)), (4, 40, 30), False, False)
    assert [slab.first for slab in split.slabs(split.whole(), 8, 4)] == [0, 10, 20, 30]


def test_quantities_are_not_cut_between_levels():
    chunks = (1, 40, 30)
    points = (range(50), range(40), range(30))
    assert Split(points, chunks, True, False).parts(2)[0].axis == 0
    assert Split(points, chunks, False, False).parts(2)[0].axis == 1


def test_a_box_with_too_few_points_is_not_cut():
    split = Split((range(1), range(3), range(3)), (0, 0, 0), True, True)
    assert len(split.parts(2)) == 2
    with pytest.raises(FrameError, match="3 x 3 x 1 points cannot be cut into 3 pieces"):
        split.parts(3)
