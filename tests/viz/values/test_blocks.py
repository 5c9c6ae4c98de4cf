"""Blocks of codes: whole fields and single blocks, of any shape; damage is noticed."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from burstlens.core.errors import ValuesError
from burstlens.viz.values import blocks


def codes(rows, columns, seed=0):
    generator = np.random.default_rng(seed)
    return generator.integers(0, 1 << 16, (rows, columns), dtype=np.uint16)


@pytest.mark.parametrize("shape", [(1, 1), (1, 200), (63, 65), (64, 64), (65, 128), (300, 100)])
def test_a_field_comes_back_whole_and_by_blocks(shape):
    field, encoder = codes(*shape), blocks.Encoder()
    encoder.add(field)
    stream = encoder.finish()
    assert len(encoder.ends) == blocks.count(*shape)
    assert np.array_equal(blocks.decode(stream, *shape), field)
    for row, column in ((0, 0), (shape[0] - 1, shape[1] - 1), (shape[0] // 2, shape[1] // 3)):
        number, down, across = blocks.place(row, column, shape[1])
        begin = encoder.ends[number - 1] if number else 0
        block = blocks.decode_block(stream[begin : encoder.ends[number]])
        assert block[down, across] == field[row, column]


def test_several_fields_share_one_stream_that_inflates_in_one_go():
    first, second, encoder = codes(70, 90), codes(10, 200, seed=1), blocks.Encoder()
    encoder.add(first)
    encoder.add(second)
    stream = encoder.finish()
    assert len(zlib.decompress(stream, -15)) == len(encoder.ends) * 2 * blocks.BLOCK**2
    assert np.array_equal(blocks.decode(stream, 10, 200, blocks.count(70, 90)), second)


def test_a_smooth_field_takes_less_than_half_a_byte_a_point():
    y, x = np.mgrid[0:512, 0:512] / 512
    field = np.rint(2000 + 1900 * np.sin(3 * x) * np.cos(4 * y)).astype(np.uint16)
    encoder = blocks.Encoder()
    encoder.add(field)
    assert len(encoder.finish()) < 0.5 * field.size


def test_a_stream_that_is_cut_or_damaged_is_refused():
    encoder = blocks.Encoder()
    encoder.add(codes(64, 128))
    stream = encoder.finish()
    with pytest.raises(ValuesError, match="cut short"):
        blocks.decode(stream[: len(stream) // 2], 64, 128)
    with pytest.raises(ValuesError, match="damaged"):
        blocks.decode_block(b"\xff" * 40)
