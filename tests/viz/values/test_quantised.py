"""Values as codes: within half a step, special values apart, outliers exact."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from burstlens.viz.values.quantised import Scale, quantised, restored


def back(values, bits=12, *, log=False):
    codes, scale = quantised(values, bits, log=log)
    assert codes.dtype == np.uint16
    assert int(codes.max()) < 1 << bits
    return restored(codes, Scale.of(json.loads(json.dumps(scale.facts())))), scale


def noise(shape=(90, 130), seed=3):
    return np.random.default_rng(seed).normal(280, 10, shape).astype("f4")


@pytest.mark.parametrize("bits", [12, 16])
def test_a_value_comes_back_within_half_a_step(bits):
    values = noise()
    found, scale = back(values, bits)
    assert scale.scale == pytest.approx(np.ptp(values) / ((1 << bits) - 5), rel=1e-5)
    assert np.abs(found - values).max() <= scale.scale / 2 * (1 + 1e-9)


@settings(deadline=None)
@given(
    arrays(
        "f8",
        (7, 9),
        elements=st.one_of(
            st.floats(-1e30, 1e30), st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -0.0])
        ),
    ),
    st.booleans(),
    st.sampled_from([12, 16]),
)
def test_whatever_a_field_holds_comes_back(values, log, bits):
    found, scale = back(values, bits, log=log)
    finite = np.isfinite(values)
    assert np.array_equal(found[~finite], values[~finite], equal_nan=True)
    away = np.abs(found[finite] - values[finite])
    if log:
        step = np.expm1(scale.scale / 2)
        assert (away <= np.abs(values[finite]) * (step * (1 + 1e-9) + 1e-12) + 1e-300).all()
        assert np.array_equal(np.sign(found[finite]), np.sign(values[finite]))
    else:
        assert (away <= scale.scale / 2 * (1 + 1e-9) + 1e-9 * np.abs(values[finite]) + 1e-300).all()


@pytest.mark.parametrize("ends", [(0.0, 4e-321), (-1e-318, 1e-318), (-8e307, 9e307)])
@pytest.mark.parametrize("bits", [12, 16])
def test_the_ends_of_double_precision_come_back_within_half_a_step(ends, bits):
    values = np.concatenate([np.linspace(ends[0] / 2, ends[1] / 2, 61) * 2, ends]).reshape(7, 9)
    found, scale = back(values, bits)
    assert scale.scale > 0
    assert (np.abs(found / 2 - values / 2) <= scale.scale * 0.25000001 + 5e-324).all()


def test_integers_and_masked_values_are_taken():
    field = np.ma.masked_less(np.arange(42).reshape(6, 7), 3)
    for values in (field, field.astype("f4"), field.data.astype("i2")):
        found, _ = back(values)
        hidden = np.ma.getmaskarray(values)
        assert np.isnan(found[hidden]).all()
        assert np.abs(found - np.ma.getdata(values))[~hidden].max() <= 0.01


def test_a_constant_field_comes_back_exactly():
    found, scale = back(np.full((5, 6), 273.15, "f4"))
    assert scale.scale == 0
    assert (found == np.float32(273.15)).all()


def test_a_field_without_values_comes_back_as_such():
    assert np.isnan(back(np.full((3, 4), np.nan, "f4"))[0]).all()
    assert np.isneginf(back(np.full((3, 4), -np.inf, "f4"), log=True)[0]).all()


def test_one_value_of_a_blow_up_does_not_take_all_bits():
    values = noise()
    values[17, 5], values[60, 129] = 3e9, -np.inf
    found, scale = back(values)
    assert scale.outliers == ((17, 5, 3e9),)
    assert found[17, 5] == 3e9
    assert scale.scale < 0.03


def test_many_far_values_are_part_of_the_field():
    values = noise((100, 100))
    values[:, 0] += 1e6
    _, scale = back(values)
    assert scale.outliers == ()


def test_a_few_drops_in_a_dry_field_are_kept_exactly():
    values = np.zeros((80, 80), "f4")
    values[4, 5:10] = [0.1, 0.7, 12.3, 0.002, 5]
    found, _ = back(values)
    assert np.array_equal(found.astype("f4"), values)


def test_half_a_step_is_relative_on_a_logarithmic_scale():
    values = np.exp(np.random.default_rng(1).uniform(-12, 3, (64, 70)))
    values[3, 4], values[8, 9] = 0.0, -values[8, 9]
    found, scale = back(values, log=True)
    assert scale.transform == "log"
    assert found[3, 4] == 0
    assert found[8, 9] < 0
    shown = values != 0
    assert np.abs(found[shown] / values[shown] - 1).max() <= np.expm1(scale.scale / 2) * 1.000001
    assert scale.scale < 0.01


def test_a_field_of_zeros_on_a_logarithmic_scale_comes_back():
    assert (back(np.zeros((4, 4)), log=True)[0] == 0).all()


def test_values_stay_on_their_side_of_the_edges_of_colours():
    rng = np.random.default_rng(5)
    values = np.append(rng.uniform(0.15, 0.25, 200), [0.2, 1.98, 2.0, np.nan, np.inf, 264.7, 0.0])
    values = values.reshape(9, 23).astype(np.float32)
    edges = 0.2, 2.0, 5.0
    codes, scale = quantised(values, 12, edges=edges)
    back = restored(codes, scale)
    assert (np.digitize(back, edges) == np.digitize(values, edges)).all()
    known = np.isfinite(values)
    assert np.abs(back[known] - values[known]).max() <= scale.scale
    assert np.isnan(back[np.isnan(values)]).all()
    assert np.isposinf(back[np.isposinf(values)]).all()


def test_each_part_of_a_large_field_keeps_its_sides_and_its_outliers():
    values = np.random.default_rng(6).uniform(0.15, 0.25, (150, 20)).astype("f4")
    values[149, 3], values[0, 0] = 3e9, 264.7
    edges = 0.2, 2.0
    codes, scale = quantised(values, 12, edges=edges)
    assert (np.digitize(restored(codes, scale), edges) == np.digitize(values, edges)).all()
    assert scale.outliers
