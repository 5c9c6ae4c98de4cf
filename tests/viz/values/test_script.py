"""The script of values: read back whole and by the point; what is not whole is refused."""

from __future__ import annotations

import numpy as np
import pytest

from burstlens.core.errors import ValuesError
from burstlens.viz.values.quantised import quantised
from burstlens.viz.values.script import ValuesFile, script


@pytest.fixture
def field():
    values = np.random.default_rng(5).normal(0, 3, (150, 200)).astype("f4")
    values[100, 130] = 1e9
    values[3, 3] = np.nan
    return values


@pytest.fixture
def nest():
    return np.arange(30.0).reshape(5, 6)


@pytest.fixture
def path(tmp_path, field, nest):
    parts = [({"grid": "a", "units": "K"}, *quantised(field, 12)),
             ({"grid": "b", "units": "<b>&\u2028"}, *quantised(nest, 16))]  # fmt: skip
    path = tmp_path / "t2.values.js"
    path.write_bytes(script({"product": "t2"}, parts, [((1, 2, 3, 4), b"image")]))
    return path


def test_values_are_read_back_whole_and_by_the_point(path, field, nest):
    found = ValuesFile(path)
    assert found.header["product"] == "t2"
    step = found.fields[0].scale.scale
    whole = found.field()
    assert np.nanmax(np.abs(whole - field)) <= step / 2 * (1 + 1e-6)
    for at in ((0, 0), (149, 199), (100, 130), (64, 63), (3, 3)):
        assert found.at(*at) == pytest.approx(whole[at], rel=1e-12, nan_ok=True)
    for row, column in ((0, 0), (149, 199), (100, 130), (3, 3)):
        values, (top, left) = found.block(row, column)
        np.testing.assert_array_equal(values, whole[top : top + 64, left : left + 64])
        assert 0 <= row - top < 64
        assert 0 <= column - left < 64
    assert found.at(4, 5, number=1) == pytest.approx(29, abs=1e-3)
    assert found.field(1).shape == nest.shape


def test_the_longest_block_is_where_the_values_differ(tmp_path, nest):
    calm = np.zeros((150, 200))
    calm[70:74, 140:144] = np.arange(16.0).reshape(4, 4)
    parts = [({"grid": name}, *quantised(one, 12)) for name, one in (("b", nest), ("a", calm))]
    path = tmp_path / "a.js"
    path.write_bytes(script({}, parts))
    assert ValuesFile(path).longest_block() == (0, 0)
    assert ValuesFile(path).longest_block(1) == (64, 128)


def test_the_overlay_comes_back(path):
    assert ValuesFile(path).overlay == [([1, 2, 3, 4], b"image")]


def test_the_script_is_one_call_without_what_could_end_it(path):
    text = path.read_text(encoding="ascii")
    assert text.startswith('burstlensFeed("')
    assert text.endswith('");\n')
    assert set(text[15:-4]) <= set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
    )


def test_one_point_reads_a_small_part_of_the_file(tmp_path):
    values = np.random.default_rng(2).normal(size=(1000, 1000)).astype("f4")
    path = tmp_path / "large.values.js"
    path.write_bytes(script({}, [({"grid": "a"}, *quantised(values, 16))]))
    found = ValuesFile(path)
    read = []
    whole = found._bytes
    found._bytes = lambda at, length: read.append(length) or whole(at, length)
    assert found.at(700, 901) == pytest.approx(values[700, 901], abs=1e-3)
    assert sum(read) < path.stat().st_size / 100


@pytest.mark.parametrize("kept", [10, 200, 2000, 20_000])
def test_a_file_that_is_cut_short_is_refused(path, kept):
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValuesError, match=r"cut short|damaged|header|not a file"):
        ValuesFile(path).field()


def test_what_is_not_a_file_of_values_is_refused(tmp_path):
    path = tmp_path / "x.values.js"
    with pytest.raises(ValuesError, match="cannot be read: No such file"):
        ValuesFile(path)
    path.write_text("<html>")
    with pytest.raises(ValuesError, match="not a file of values"):
        ValuesFile(path)
    path.write_text('burstlensFeed("QkxWMgAAAAA=");\n')
    with pytest.raises(ValuesError, match="newer version"):
        ValuesFile(path)


def test_a_point_outside_of_the_field_is_an_error_of_the_caller(path):
    with pytest.raises(IndexError):
        ValuesFile(path).at(150, 0)
