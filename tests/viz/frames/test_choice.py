"""Further dimensions: known by name and attributes, chosen by value, else the first is shown."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.derived import SharedFrame, open_frame
from burstlens.viz.frames.further import is_further
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.geometry.field import read_field

Write = Callable[..., Path]


@pytest.mark.parametrize(
    ("dimension", "attributes"),
    [
        ("expver", {}), ("number", {}), ("realization", {}), ("member_id", {}), ("ens", {}),
        ("step", {"units": "hours"}), ("lead", {"units": "days"}), ("quantile", {}), ("month", {}),
        ("frequency", {"units": "Hz"}), ("f", {"standard_name": "wave_frequency"}), ("band", {}),
        ("M", {"long_name": "Ensemble Member"}), ("hour", {}), ("t1", {"units": "days since 1900"}),
        ("lambda", {"units": "nm"}), ("category", {}), ("n", {"standard_name": "realization"}),
        ("nens", {}), ("run", {}), ("soil_type", {}), ("size_bin", {}), ("return_period", {}),
        ("threshold", {"units": "m"}), ("bin", {"units": "mm"}), ("soil_cat", {}),
        ("theta", {"standard_name": "sea_surface_wave_from_direction"}), ("model_id", {}),
        ("fcst_hour", {}), ("doy", {}), ("model", {}), ("ssp", {}), ("component", {}), ("wl", {}),
        ("threshold_hs", {"units": "m"}), ("rock_type", {}), ("biome_type", {}), ("drop_bin", {}),
        ("hydrometeor_type", {}), ("ice_bin", {}), ("sea_salt_bin", {}), ("types", {}),
        ("k", {"long_name": "ensemble member"}), ("z", {"long_name": "Ensemble member"}),
        ("thresholds_wind", {"units": "km"}), ("mass_nbins", {}), ("rock_type_id", {}),
    ],
)  # fmt: skip
def test_members_steps_and_bands_are_further_dimensions(
    dimension: str, attributes: dict[str, str]
) -> None:
    assert is_further(dimension, attributes)


@pytest.mark.parametrize(
    ("dimension", "attributes"),
    [
        ("lev", {}), ("depth", {"units": "m"}), ("plev", {"units": "Pa"}), ("s_rho", {}), ("z", {}),
        ("lat", {"units": "degrees"}), ("number_of_levels", {}), ("level_type", {}), ("ny", {}),
        ("number", {"positive": "up"}), ("class", {"axis": "Z"}), ("twt", {"units": "s"}),
        ("band", {"standard_name": "height"}), ("bottom_top", {}), ("isentropic", {"units": "K"}),
        ("lat_bin", {}), ("lon_bin", {"units": "degrees"}), ("bin", {"units": "degrees_north"}),
        ("bins", {"units": "km"}), ("pressure_bin", {}), ("altitude_bins", {}), ("sigma_bin", {}),
        ("model_pressure", {}), ("model_x", {}), ("model_y", {}), ("source_lat", {}),
        ("x_type", {}), ("radius", {"units": "m", "long_name": "category of range"}),
        ("model_level", {}), ("soil_layer", {}), ("modelz", {}), ("f", {}), ("s", {}), ("xs", {}),
        ("y_bin", {}), ("longitude_bins", {}), ("grid_x_type", {}), ("z_bin", {}), ("alt_bin", {}),
        ("vertical_bin", {}), ("k", {"long_name": "model level"}), ("range_bin", {}),
        ("rho_bin", {}), ("bin_lat", {}), ("distance_bin", {}), ("plev_bins", {}),
    ],
)  # fmt: skip
def test_heights_and_places_are_none(dimension: str, attributes: dict[str, str]) -> None:
    assert not is_further(dimension, attributes)


def place(*shape: int) -> NDArray[Any]:
    """100 times the first index, 10 times the second one, and so on."""
    indices = np.indices(shape)
    return np.asarray(sum(10.0 ** (2 - n) * one for n, one in enumerate(indices)))


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes variables by name: their dimensions and values; ``about`` are attributes."""

    def written(
        variables: dict[str, tuple[tuple[str, ...], Any]], about: dict[str, dict[str, str]] | None
    ) -> Path:
        path = tmp_path / "a.nc"
        with netCDF4.Dataset(path, "w") as data:
            for name, (dimensions, values) in variables.items():
                values = np.asarray(values)
                for dimension, size in zip(dimensions, values.shape, strict=True):
                    if dimension not in data.dimensions:
                        data.createDimension(dimension, size)
                kind = str if values.dtype.kind in "UO" else values.dtype
                data.createVariable(name, kind, dimensions)[:] = values
                data[name].setncatts((about or {}).get(name, {}))
        return path

    return written


@pytest.fixture
def ensemble(write: Write) -> Path:
    return write(
        {
            "number": (("number",), [3, 7, 11]), "lat": (("lat",), [40.0, 41, 42, 43]),
            "lon": (("lon",), [5.0, 6, 7, 8, 9]), "lev": (("lev",), [100.0, 200.0]),
            "t": (("number", "lat", "lon"), place(3, 4, 5)),
            "q": (("lev", "number", "lat", "lon"), place(2, 3, 4, 5)),
            "u": (("number", "lat", "lon"), place(3, 4, 5)),
            "gaps": (("number", "lat", "lon"),
                     np.where(place(3, 4, 5) < 100, np.nan, place(3, 4, 5))),
        },
        {"lat": {"units": "degrees_north"}, "lon": {"units": "degrees_east"},
         "lev": {"units": "m", "axis": "Z"}, "t": {"units": "K", "long_name": "temperature"}},
    )  # fmt: skip


def shown(frame: Any, name: str, level: int | None = None, index: Any = None) -> Any:
    crop = Crop(index=index or {})
    return read_field(frame.choosing(crop.index), name, level=level, crop=crop, units=None)


def test_a_point_is_chosen_by_its_value_in_pictures_and_everywhere_else(ensemble: Path) -> None:
    with open_frame([ensemble]) as frame:
        field = shown(frame, "t[number=7]")
        assert np.array_equal(field.values, place(3, 4, 5)[1])
        assert field.level == "number 7 (2 of 3)"
        assert np.array_equal(frame.read("t[number=11]"), place(3, 4, 5)[2])
        assert np.array_equal(frame.stored("t[number=11]").values, place(3, 4, 5)[2])
        assert frame.read("t").shape == (3, 4, 5)  # products that are no pictures have all of it
        part = frame.read("t[number=3]", {"lon": slice(1, 3)})
        assert np.array_equal(part, place(3, 4, 5)[0, :, 1:3])


@pytest.fixture
def shared(ensemble: Path) -> Iterator[SharedFrame]:
    made = SharedFrame([ensemble], 0, stream="", time="", time_variable="")
    yield made
    made.close()


def test_products_share_what_is_chosen_unless_their_known_points_differ(
    shared: SharedFrame,
) -> None:
    one, both, other = ({"t": {"number": 1}}, {"u": {"number": 1}, "t": {"number": 1}},
                        {"t": {"number": 2}, "u": {"number": 1}})  # fmt: skip
    views = [shared.view(known=known).choosing() for known in (one, both, other, {}, {})]
    read = [view.read("t").ravel()[0] for view in views]
    assert read == [place(3, 4, 5)[n].ravel()[0] for n in (1, 1, 2, 0, 0)]
    frames = [view.frame for view in views]
    assert frames[0] is frames[1]
    assert frames[3] is frames[4]
    assert len({id(frame) for frame in frames}) == 3


def test_without_a_choice_the_first_point_with_values_is_shown_and_named(ensemble: Path) -> None:
    with open_frame([ensemble]) as frame:
        assert np.array_equal(shown(frame, "t").values, place(3, 4, 5)[0])
        field = shown(frame, "gaps")
        assert np.array_equal(field.values, place(3, 4, 5)[1])
        assert field.level == "number 7 (2 of 3)"
        assert field.facts()["level"] == field.level


def test_levels_are_those_of_what_is_left(ensemble: Path) -> None:
    with open_frame([ensemble]) as frame:
        field = shown(frame, "q[number=7]", level=1)
        assert np.array_equal(field.values, place(2, 3, 4, 5)[1, 1])
        assert field.level == "lev = 200 m, number 7 (2 of 3)"
        at = frame.read("q[number=11]@150m")
        assert at == pytest.approx(place(2, 3, 4, 5)[:, 2].mean(axis=0))
        both = shown(frame, "q[number=7, lev=200]")
        assert np.array_equal(both.values, place(2, 3, 4, 5)[1, 1])


def test_expressions_take_choices_and_say_the_one_that_is_shown(ensemble: Path) -> None:
    with open_frame([ensemble]) as frame:
        field = shown(frame, "t[number=11] - t[number=3] [K]")
        assert np.all(field.values == 200)
        field = shown(frame, "hypot(t, u)")
        assert field.values == pytest.approx(place(3, 4, 5)[0] * np.sqrt(2))
        assert field.level == "number 3 (1 of 3)"
        assert shown(frame, "t[number=7] - t[number=3] [K]").level == ""  # the text says it


def test_the_index_of_a_crop_chooses_too(ensemble: Path) -> None:
    with open_frame([ensemble]) as frame:
        field = shown(frame, "t", index={"number": 2, "lat": (1, 3)})
        assert np.array_equal(field.values, place(3, 4, 5)[2, 1:3])
        with pytest.raises(FrameError, match="not one of its 3 points"):
            shown(frame, "t", index={"number": (0, 2)})


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("t[number=5]", "number has 3, 7, 11, not 5"),
        ("t[step=5]", "t has no dimension step: it has number, lat, lon"),
        ("t[number]", "has no variable"),
    ],
)
def test_a_point_that_is_not_there_is_refused_with_those_that_are(
    ensemble: Path, name: str, said: str
) -> None:
    with open_frame([ensemble]) as frame, pytest.raises(FrameError, match=said):
        frame.variable(name)


@pytest.mark.parametrize(
    ("values", "text", "point"),
    [
        ([876592.0, 876598.0], "876598", 1), ([20000101, 20000131], "20000131", 1),
        ([0.0333333333, 0.0666666667], "0.0667", 1), ([0.0345, 0.03795], "0.03795", 1),
        ([-3, 0, 3], "0", 1), ([1 / 3], "0.333333", 0),
    ],
)  # fmt: skip
def test_of_near_values_the_nearest_is_chosen_and_shown_with_its_digits(
    write: Write, values: list[float], text: str, point: int
) -> None:
    size = len(values)
    path = write({"step": (("step",), values), "t": (("step", "lat", "lon"), place(size, 4, 5))},
                 None)  # fmt: skip
    with open_frame([path]) as frame:
        field = shown(frame, f"t[step={text}]")
        assert np.array_equal(field.values, place(size, 4, 5)[point])
        assert field.level == f"step {text} ({point + 1} of {size})"


@pytest.mark.parametrize(
    ("values", "text", "listed"),
    [
        ([20000101, 20000131], "20000102", "20000101, 20000131"), ([20000101], "20000102", "200"),
        ([876592.0, 876598.0], "876595", "876592, 876598"), ([0.0, 1000.0], "1", "0, 1000"),
        ([np.nan, 0.25], "1", "nan, 0.25"),
    ],
)  # fmt: skip
def test_a_value_between_those_of_a_coordinate_is_refused(
    write: Write, values: list[float], text: str, listed: str
) -> None:
    size = len(values)
    path = write({"step": (("step",), values), "t": (("step", "lat", "lon"), place(size, 4, 5))},
                 None)  # fmt: skip
    with open_frame([path]) as frame, pytest.raises(FrameError, match=f"has {listed}"):
        frame.variable(f"t[step={text}]")


def test_a_level_is_refused_with_the_text_that_chooses(ensemble: Path) -> None:
    with open_frame([ensemble]) as frame, pytest.raises(FrameError, match=r"t\[number=...\]"):
        shown(frame, "t", level=1)


def test_the_versions_of_era5_are_joined(write: Write) -> None:
    values = place(2, 4, 5)
    values[0, 2:] = np.nan
    path = write({"expver": (("expver",), [1, 5]), "t2m": (("expver", "lat", "lon"), values)}, None)
    with open_frame([path]) as frame:
        field = shown(frame, "t2m")
        assert np.array_equal(field.values[:2], values[0, :2])
        assert np.array_equal(field.values[2:], values[1, 2:])
        assert field.level == "expver 1 and 5 joined"
        assert np.isnan(shown(frame, "t2m[expver=1]").values[2:]).all()


def test_points_without_a_coordinate_are_numbered_and_names_are_texts(write: Write) -> None:
    path = write(
        {"kind": (("category",), np.array(["sea", "ice"], object)),
         "a": (("member", "lat", "lon"), place(2, 4, 5)),
         "type": (("type",), np.array(["sea", "ice"], object)),
         "b": (("type", "lat", "lon"), place(2, 4, 5)),
         "crop": (("crop",), np.array(["rice", "maize"], object)),
         "c": (("crop", "lat", "lon"), place(2, 4, 5))},
        None,
    )  # fmt: skip
    with open_frame([path]) as frame:
        assert shown(frame, "a[member=1]").level == "member 1 (2 of 2)"
        with pytest.raises(FrameError, match="member is 0 to 1, not 2"):
            frame.variable("a[member=2]")
        assert np.array_equal(shown(frame, "b[type=ice]").values, place(2, 4, 5)[1])
        assert shown(frame, "c").level == "crop rice (1 of 2)"
        with pytest.raises(FrameError, match=r"c\[crop=...\] chooses along crop"):
            shown(frame, "c", level=1)


def test_of_four_dimensions_the_unknown_one_is_a_further_one(write: Write) -> None:
    values = place(2, 3, 4, 5)
    turned = place(3, 2, 4, 5)
    path = write({"a": (("foo", "lev", "y", "x"), values), "b": (("lev", "foo", "y", "x"), turned)},
                 None)  # fmt: skip
    with open_frame([path]) as frame:
        assert np.array_equal(shown(frame, "a", level=2).values, values[0, 2])
        assert np.array_equal(shown(frame, "a[foo=1]", level=2).values, values[1, 2])
        assert np.array_equal(shown(frame, "b", level=1).values, turned[1, 0])
        assert shown(frame, "b", level=1).level == "level 1, foo 0 (1 of 2)"


def test_bins_of_latitude_and_longitude_are_the_ground(write: Write) -> None:
    values = place(2, 4, 5)
    path = write({"a": (("month", "lat_bin", "lon_bin"), values)}, None)
    with open_frame([path]) as frame:
        field = shown(frame, "a")
    assert np.array_equal(field.values, values[0])
    assert field.level == "month 0 (1 of 2)"


def test_levels_may_have_names(write: Write) -> None:
    names = np.array(["1000 mb", "850 mb"], object)
    values = place(2, 4, 5)
    path = write({"lev": (("lev",), names), "a": (("lev", "lat", "lon"), values)}, None)
    with open_frame([path]) as frame:
        field = shown(frame, "a", level=1)
        assert np.array_equal(field.values, values[1])


def test_spectra_at_one_place_are_left_as_they_are(write: Write) -> None:
    path = write({"e": (("station", "frequency", "direction"), place(2, 3, 4))}, None)
    with open_frame([path]) as frame:
        assert frame.choosing().variable("e").dimensions == ("station", "frequency", "direction")


def test_pictures_of_one_frame_share_what_was_computed(cyclone: Path) -> None:
    with open_frame([cyclone]) as frame:
        described = frame.choosing().variable("wind10")
        assert described == frame.variable("wind10")
        assert np.array_equal(frame.choosing().read("T2"), frame.read("T2"))


@pytest.mark.parametrize("name", ["t * 10 [K]", "hypot(t, u)", "q@150m"])
def test_pictures_of_other_points_do_not_get_what_was_computed_for_one(
    ensemble: Path, name: str
) -> None:
    wanted = {"t * 10 [K]": 10 * place(3, 4, 5), "hypot(t, u)": place(3, 4, 5) * np.sqrt(2),
              "q@150m": place(2, 3, 4, 5).mean(axis=0)}[name]  # fmt: skip
    shared = SharedFrame([ensemble], 0, stream="", time="", time_variable="")
    try:
        for number in (0, 2, None, 1, 2):
            index = {} if number is None else {"number": number}
            field = shown(shared.view(keeps=True), name, index=index)
            assert field.values == pytest.approx(wanted[number or 0])
            assert f"number {(3, 7, 11)[number or 0]} " in field.level
    finally:
        shared.close()


def test_pictures_of_the_same_points_look_for_them_once(ensemble: Path) -> None:
    shared = SharedFrame([ensemble], 0, stream="", time="", time_variable="")
    try:
        first, second = (shared.view(keeps=True).choosing().variable("gaps") for _ in range(2))
        assert first is second
    finally:
        shared.close()


def test_later_pictures_of_a_series_show_the_point_of_the_first_one(ensemble: Path) -> None:
    known = {"t": {"number": 2}, "gaps": {"number": 0}, "q": {"number": 9}}
    shared = SharedFrame([ensemble], 0, stream="", time="", time_variable="")
    with contextlib.closing(shared):
        series, alone = shared.view(known=known), shared.view()
        assert np.array_equal(shown(series, "t").values, place(3, 4, 5)[2])
        assert np.array_equal(shown(alone, "t").values, place(3, 4, 5)[0])
        # Where that point has no values, or is none, the first that has some is shown.
        assert shown(series, "gaps").level == "number 7 (2 of 3)"
        assert "number 3 (1 of 3)" in shown(series, "q", level=0).level
        assert np.array_equal(shown(series, "t[number=7]").values, place(3, 4, 5)[1])
        assert {name: one["points"] for name, one in series.shown.items()} == {
            "t": {"number": 2}, "gaps": {"number": 1}, "q": {"number": 0},
        }  # fmt: skip
        assert alone.shown == {"t": {"points": {"number": 0}, "words": "number 3 (1 of 3)"}}


def test_what_is_joined_or_named_is_not_chosen(write: Write) -> None:
    values = place(2, 2, 3)
    path = write(
        {"expver": (("expver",), [1, 5]), "lat": (("lat",), [40.0, 41]),
         "lon": (("lon",), [5.0, 6, 7]), "t": (("expver", "lat", "lon"), values)},
        {"lat": {"units": "degrees_north"}, "lon": {"units": "degrees_east"}},
    )  # fmt: skip
    with open_frame([path]) as frame:
        assert shown(frame, "t").level == "expver 1 and 5 joined"
        shown(frame, "t[expver=5]")
        assert frame.shown == {}
