"""The picture that stands for a run that is over."""

from __future__ import annotations

import pytest

from burstlens.core.run.index import fullest, published


def series(*sizes: int, holes: tuple[int, ...] = ()):
    return [
        published(
            {"product": "w", "stream": "d01", "time": f"t{n}", "name": f"w/{n}.png", "bytes": size}
            | ({"facts": {"placeholder": True}} if n in holes else {})
        )
        for n, size in enumerate(sizes)
    ]


@pytest.mark.parametrize(
    ("sizes", "holes", "name"),
    [
        ((30, 90, 80, 31), (), "w/2.png"),  # a quake that is over
        ((60, 61, 59, 60), (), "w/3.png"),  # a field that fills each frame: the newest
        ((90, 60, 80), (2,), "w/1.png"),
        ((20, 21), (0, 1), "w/1.png"),
        ((0, 0), (), "w/1.png"),
    ],
)
def test_it_is_the_newest_that_is_not_nearly_empty(sizes, holes, name):
    assert fullest(series(*sizes, holes=holes)).name == name


def constant(name: str, *values: tuple[float, float]):
    return [
        published(
            {"product": name, "stream": "d01", "time": f"t{n}", "name": f"{name}/{n}.png"}
            | {"bytes": 50, "facts": {"min": least, "max": most}}
        )
        for n, (least, most) in enumerate(values)
    ]


def test_a_series_of_constant_fields_stands_back_for_one_with_something_in_it():
    ideal, wind = constant("t2", (0, 0), (0, 0)), constant("wind", (0, 0), (1, 9), (3, 3))
    assert fullest(ideal, wind).name == "wind/1.png"
    assert fullest(wind, ideal).name == "wind/1.png"
    assert fullest([], ideal).name == "t2/1.png"
    assert fullest(ideal, constant("ice", (1, 1))).name == "t2/1.png"


def test_a_constant_field_stands_before_placeholders_of_an_earlier_product():
    assert fullest(series(20, 21, holes=(0, 1)), constant("ice", (1, 1))).name == "ice/0.png"
    assert fullest(series(20, holes=(0,)), series(20, 9, holes=(0, 1))).name == "w/0.png"


def test_without_pictures_there_is_none():
    assert fullest([]) is None
