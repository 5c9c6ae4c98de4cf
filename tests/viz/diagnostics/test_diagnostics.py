"""Diagnostics by name: described, read in windows, in products; errors name what is missing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burstlens.core.errors import FrameError, RecipeError
from burstlens.core.units import convert
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.diagnostics.diagnostic import OR
from burstlens.viz.diagnostics.table import DIAGNOSTICS
from burstlens.viz.frames.reader import FrameReader, netCDF4
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.geometry.field import read_field
from burstlens.viz.kinds.map.kind import MapKind
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.kinds.netcdf.kind import NetcdfKind
from burstlens.viz.kinds.netcdf.options import NetcdfOptions
from burstlens.viz.kinds.vtk.kind import VtkKind
from burstlens.viz.kinds.vtk.options import VtkOptions
from burstlens.viz.product import Context
from burstlens.workflows.guards.field import inspect
from burstlens.workflows.guards.guard import Guard

pytestmark = pytest.mark.integration

PART = {"south_north": slice(1, 12, 3), "west_east": slice(2, 15, 4)}
LEVELS = ("temperature@850hPa", "QVAPOR@2km", "U@1000m agl", "W@7", "wind@0-3km agl")
SIZES = {"west_east": 15, "south_north": 12}
TIME = "00010101T000800"


@pytest.fixture(scope="module")
def storm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corner of the supercell's domain that holds a part of the storm, small to read often."""
    source = Path(__file__).parents[2] / "data" / "wrf" / "wrfout_d01_0001-01-01_00_08_00"
    path = tmp_path_factory.mktemp("storm") / "wrfout_d01"
    with netCDF4.Dataset(os.fspath(source)) as old:
        names = [name for name in old.variables if old[name].dtype.kind == "f"]
    return subset(source, path, names, corner=14)


@pytest.fixture
def frame(storm: Path) -> Iterator[FrameReader]:
    with open_frame([storm], time=TIME) as opened:
        yield opened


def subset(source: Path, target: Path, names: list[str], corner: int = 0) -> Path:
    """Copies some variables of a file, of the domain from point ``corner`` on."""
    with netCDF4.Dataset(os.fspath(source)) as old, netCDF4.Dataset(str(target), "w") as data:
        cut: dict[str, slice] = {}
        if corner:
            for name, size in SIZES.items():
                cut[name] = slice(corner, corner + size)
                cut[f"{name}_stag"] = slice(corner, corner + size + 1)
        for name, dimension in old.dimensions.items():
            part = cut.get(name, slice(None)).indices(len(dimension))
            data.createDimension(name, part[1] - part[0])
        for key in ("DX", "DY", "MAP_PROJ", "BUCKET_MM", "SIMULATION_START_DATE"):
            data.setncattr(key, old.getncattr(key))
        for name in names:
            variable = data.createVariable(name, old[name].dtype, old[name].dimensions)
            variable.units = old[name].units
            variable[:] = old[name][tuple(cut.get(d, slice(None)) for d in old[name].dimensions)]
    return target


@pytest.mark.parametrize("name", [*DIAGNOSTICS, *LEVELS])
def test_each_has_the_shape_and_words_it_is_described_with(frame: FrameReader, name: str):
    about = frame.variable(name)
    values = frame.read(name)
    assert values.shape == about.shape
    assert values.dtype == np.float32
    assert about.units
    assert about.long_name
    assert not np.isinf(values).any()


@pytest.mark.parametrize("name", [*DIAGNOSTICS, *LEVELS])
def test_a_window_with_strides_is_that_part_of_the_whole(frame: FrameReader, name: str):
    about = frame.variable(name)
    window = PART | {"bottom_top": slice(3, 30, 4)}
    index = tuple(window[dimension] for dimension in about.dimensions)
    assert np.array_equal(frame.read(name, window), frame.read(name)[index], equal_nan=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", DIAGNOSTICS)
def test_each_reads_what_it_says_it_needs_and_no_more(name: str, storm: Path, tmp_path: Path):
    # Snow and ice, which the storm's microphysics does not have, are in neither file.
    with netCDF4.Dataset(os.fspath(storm)) as data:
        there = set(data.variables)
    alternatives = [need.split(OR) for need in DIAGNOSTICS[name].needs]
    needs = [next(one for one in some if one in there) for some in alternatives]
    with open_frame([storm], time=TIME) as frame:
        whole = frame.read(name)
    with open_frame([subset(storm, tmp_path / "needs.nc", needs)], time=TIME) as frame:
        assert np.array_equal(frame.read(name), whole, equal_nan=True)
    for need in needs:
        path = tmp_path / f"without_{need}.nc"
        path.write_bytes((tmp_path / "needs.nc").read_bytes())
        with netCDF4.Dataset(os.fspath(path), "a") as data:
            data.renameVariable(need, "other")
        lacks = rf"^{name} needs (.*; the frame has .*, not .*{need}|{need}, which .* not have$)"
        with (
            open_frame([path]) as frame,
            pytest.raises(FrameError, match=lacks),
        ):
            frame.variable(name)


def test_the_table_in_the_documentation_is_that_of_the_program():
    text = (Path(__file__).parents[3] / "docs" / "diagnostics.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| .* \| ([^|]*) \|$", text, re.MULTILINE)
    needs: dict[str, list[str]] = {}
    for name, _, listed in rows:
        needs[name] = []
        for need in listed.split(", "):
            other = re.fullmatch(r"as `(\w+)`", need)
            needs[name] += needs[other[1]] if other else [need.replace(" or ", OR)]
    assert needs == {name: list(one.needs) for name, one in DIAGNOSTICS.items()}
    assert [row[1] for row in rows] == [one.units for one in DIAGNOSTICS.values()]


def test_what_is_needed_and_what_is_there_is_named(supercell: Path, tmp_path: Path):
    path = subset(supercell, tmp_path / "few.nc", ["T", "P", "QVAPOR", "T2"])
    with open_frame([path]) as frame, pytest.raises(FrameError) as error:
        frame.read("slp")
    assert str(error.value) == (
        "slp needs P, PB, T, QVAPOR, PH, PHB; the frame has P, T, QVAPOR, not PB, PH, PHB"
    )
    with open_frame([path]) as frame, pytest.raises(FrameError, match=r"has none of them$"):
        frame.read("wind10")
    with open_frame([path]) as frame, pytest.raises(FrameError, match="pressure needs P, PB; the"):
        frame.read("QVAPOR@850hPa")


def test_a_name_that_is_nearly_a_diagnostic_s_is_put_right(frame: FrameReader):
    with pytest.raises(FrameError, match=r"no variable 'refectivity'.*reflectivity"):
        frame.read("refectivity")
    with pytest.raises(FrameError, match=r"no variable 'temprature'.*temperature"):
        frame.read("temprature@850hPa")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("T2@850hPa", "T2 has no bottom_top, so @850hPa means nothing"),
        ("slp@500m", "slp has no bottom_top"),
        ("T@", "'' is not a level"),
        ("lapse_rate@850hPa", "lapse_rate needs a layer, such as @700-500hPa"),
        ("TSLB@2km", "TSLB has no bottom_top"),
        ("T@850@500hPa", "'850@500hPa' is not a level"),
    ],
)
def test_an_invalid_level_is_an_error(frame: FrameReader, name: str, message: str):
    with pytest.raises(RecipeError, match=message):
        frame.read(name)


def test_a_model_level_above_the_highest_is_an_error(frame: FrameReader):
    with pytest.raises(FrameError, match="level 40 is outside of bottom_top, which has 0 to 39"):
        frame.read("temperature@40")
    assert np.array_equal(frame.read("W@7"), 0.5 * (frame.read("W")[7] + frame.read("W")[8]))


def test_words_say_level_and_layer(frame: FrameReader):
    words = {name: frame.variable(name).long_name for name in LEVELS}
    assert words["temperature@850hPa"] == "temperature at 850 hPa"
    assert words["wind@0-3km agl"] == "wind speed, mean from 0 to 3 km above ground"
    assert frame.variable("updraft_helicity").long_name == (
        "updraft helicity from 2 to 5 km above ground"
    )
    assert frame.variable("U@1000m agl").dimensions == ("south_north", "west_east")


def test_what_the_file_has_is_not_computed(supercell: Path, tmp_path: Path):
    path = subset(supercell, tmp_path / "own.nc", ["T2"])
    with netCDF4.Dataset(str(path), "a") as data:
        own = data.createVariable("slp", "f4", data["T2"].dimensions)
        own.units = "hPa"
        own[:] = 1000
    with open_frame([path]) as frame:
        assert frame.variable("slp").units == "hPa"
        assert (frame.read("slp") == 1000).all()


def test_no_more_is_read_than_the_window_needs(frame: FrameReader, monkeypatch: pytest.MonkeyPatch):
    sizes: dict[str, tuple[int, ...]] = {}
    read = FrameReader._read

    def watched(reader: FrameReader, variable: Any, slices: Any, **more: Any) -> Any:
        values = read(reader, variable, slices, **more)
        sizes[variable.name] = values.shape
        return values

    monkeypatch.setattr(FrameReader, "_read", watched)
    window = {"south_north": slice(4, 8), "west_east": slice(5, 11)}
    frame.read("vorticity", window | {"bottom_top": slice(5, 6)})
    assert sizes["U"] == (1, 6, 9)
    assert sizes["V"] == (1, 7, 8)
    sizes.clear()
    frame.read("slp", window | {"bottom_top": slice(5, 6)})
    assert sizes["PH"] == (15, 4, 6)
    assert set(sizes) == {"P", "PB", "T", "QVAPOR", "PH", "PHB"}
    sizes.clear()
    frame.read("temperature@3", window)
    assert set(sizes.values()) == {(1, 4, 6)}


def test_tiles_give_what_their_domain_gives(tiles: list[Path]):
    with open_frame(tiles) as whole, open_frame(tiles[:1]) as south:
        found = whole.read("wind")
        assert found.shape == (40, 41, 41)
        u, v = whole.read("U"), whole.read("V")
        expected = np.hypot(0.5 * (u[..., 1:] + u[..., :-1]), 0.5 * (v[:, 1:] + v[:, :-1]))
        assert np.abs(found - expected).max() < 1e-5
        part = south.read("wind", {"south_north": slice(0, 20)})
    assert np.array_equal(found[:, :20], part)


def test_a_nan_column_is_nan_alone_in_every_diagnostic(storm: Path, tmp_path: Path):
    with netCDF4.Dataset(os.fspath(storm)) as data:
        names = list(data.variables)
    path = subset(storm, tmp_path / "hole.nc", names)
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        for name in ("T", "P", "QVAPOR", "QCLOUD", "QRAIN", "U", "V", "W", "PH", "RAINNC", "U10"):
            data[name][..., 6, 7] = np.nan
        data["PSFC"][:], data["Q2"][:], data["T2"][:] = 1e5, 0.01, 300
        data["PSFC"][..., 6, 7] = np.nan
    # Derivatives and averages of faces reach one point further.
    far = np.ones((12, 15), bool)
    far[4:9, 5:10] = False
    with open_frame([storm], time=TIME) as whole, open_frame([path], time=TIME) as frame:
        for name in [*DIAGNOSTICS, *LEVELS]:
            found = frame.read(name)
            assert np.isnan(found[..., 5:8, 6:9]).any(axis=(-1, -2)).all(), name
            assert not np.isnan(found[..., far]).any(), name
            if not name.endswith("_2m"):
                assert np.array_equal(found[..., far], whole.read(name)[..., far]), name


def test_a_map_takes_a_diagnostic_with_units_and_says_both(cyclone: Path, context: Context):
    options = MapOptions("slp", units="hPa", mark="min")
    out = context.files.parent / "slp.png"
    with open_frame([cyclone]) as frame:
        facts = MapKind().make(options, frame, out, context).facts
    assert facts["units"] == "hPa"
    assert facts["min"] == pytest.approx(938.4, abs=0.1)
    assert out.stat().st_size > 10000


@pytest.mark.parametrize(
    ("name", "colours"),
    [("vorticity@850hPa", "cmocean.balance"), ("wind_direction@850hPa", "cmocean.phase"),
     ("precipitable_water", "cmocean.rain"), ("reflectivity_max", "nws_reflectivity")],
)  # fmt: skip
def test_a_diagnostic_has_the_colours_of_its_quantity(
    name: str, colours: str, cyclone: Path, context: Context
):
    with open_frame([cyclone]) as frame:
        facts = MapKind().make(MapOptions(name), frame, context.files.parent / "m.png", context)
    assert facts.facts["colormap"] == colours


def test_a_map_takes_a_level_of_a_diagnostic(cyclone: Path, context: Context):
    with open_frame([cyclone]) as frame:
        wind = read_field(frame, "wind", level=3, crop=Crop(), units="kn")
        there = read_field(frame, "wind@700hPa", level=None, crop=Crop(), units="kn")
        u = frame.read("wind")[3]
    assert wind.values == pytest.approx(convert(u, "m s-1", "kn"))
    assert there.level == ""
    assert there.long_name == "wind speed at 700 hPa"
    assert there.values.max() > 80


def test_a_crop_follows_a_diagnostic(cyclone: Path):
    with open_frame([cyclone]) as frame:
        slp = frame.read("slp")
        field = read_field(
            frame, "wind10", level=None, units=None, crop=Crop(follow="min:slp", half_width=6)
        )
    j, i = np.unravel_index(slp.argmin(), slp.shape)
    assert field.values.shape == (13, 13)
    # The eye is near the domain's edge, within which the crop stays.
    assert field.first == (min(j - 6, 48 - 13), min(i - 6, 48 - 13))


def test_a_vtk_file_holds_diagnostics_beside_variables(cyclone: Path, context: Context):
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOXML import vtkXMLStructuredGridReader

    options = VtkOptions(("temperature", "reflectivity", "QVAPOR"), units={"temperature": "degC"})
    out = context.files.parent / "core.vts"
    with open_frame([cyclone]) as frame:
        made = VtkKind().make(options, frame, out, context)
        expected = frame.read("temperature") - 273.15
    reader = vtkXMLStructuredGridReader()
    reader.SetFileName(str(out))
    reader.Update()
    found = vtk_to_numpy(reader.GetOutput().GetPointData().GetArray("temperature"))
    assert np.abs(found.reshape(expected.shape) - expected).max() < 1e-3
    assert made.facts["variables"]["temperature"]["units"] == "degC"
    assert made.facts["variables"]["reflectivity"]["units"] == "dBZ"


def test_a_netcdf_file_holds_diagnostics_with_names_that_cf_allows(cyclone: Path, context: Context):
    options = NetcdfOptions(("slp", "wind@0-3km agl", "T2"), units={"slp": "hPa"})
    out = context.files.parent / "some.nc"
    with open_frame([cyclone]) as frame:
        NetcdfKind().make(options, frame, out, context)
        slp, wind = frame.read("slp"), frame.read("wind@0-3km agl")
    with netCDF4.Dataset(os.fspath(out)) as data:
        assert data["slp"].units == "hPa"
        assert data["slp"].standard_name == "air_pressure_at_mean_sea_level"
        assert data["slp"].coordinates == "longitude latitude"
        assert np.abs(data["slp"][0] - slp / 100).max() < 1e-3
        assert np.array_equal(data["wind_0_3km_agl"][0], wind)


def test_a_guard_watches_a_diagnostic_and_accepts_nan_below_the_ground(cyclone: Path):
    guards = (
        Guard(name="deep", variable="slp", min=95000),
        Guard(name="warm", variable="temperature@990hPa", max=350),
        Guard(name="both", expression="max(wind10) > 43 and min(slp) < 93900"),
    )
    with open_frame([cyclone]) as frame:
        deep, warm, both = inspect(frame, guards, 1)
        near_ground = frame.read("temperature@990hPa")
    assert deep.breach is not None
    assert deep.breach.text.startswith("slp = 93843 Pa, below 95000, at south_north 47")
    assert np.isnan(near_ground).any()
    assert (warm.error, warm.bad, warm.breach) == ("", 0, None)
    assert both.breach is not None


@pytest.mark.parametrize("kind", [NetcdfOptions, VtkOptions])
def test_units_of_what_is_not_stored_are_refused(kind: Any):
    with pytest.raises(ValueError, match="units names T2, which is not among the variables"):
        kind(("slp",), units={"T2": "degC"})


def test_other_models_get_an_error_that_names_what_is_needed(cf_volume: Callable[..., Path]):
    with open_frame([cf_volume()]) as frame:
        with pytest.raises(FrameError, match=r"slp needs P, PB, .*none of them"):
            frame.read("slp")
        with pytest.raises(FrameError, match="vx@850 hPa: the pressure of its levels is not known"):
            frame.read("vx@850hPa")


def test_what_lies_at_the_ground_needs_no_levels(storm: Path, tmp_path: Path):
    # WRF's auxiliary history holds only the variables of its iofields, and no other dimensions.
    path = tmp_path / "auxhist2_d01"
    with netCDF4.Dataset(os.fspath(storm)) as old, netCDF4.Dataset(str(path), "w") as data:
        data.createDimension("Time", None)
        for name in ("south_north", "west_east"):
            data.createDimension(name, len(old.dimensions[name]))
        for name in ("U10", "V10", "RAINC", "RAINNC"):
            data.createVariable(name, "f4", old[name].dimensions)[:] = old[name][:]
    with open_frame([path]) as found, open_frame([storm]) as whole:
        for name in ("wind10", "rain"):
            assert np.array_equal(found.read(name), whole.read(name))
        with pytest.raises(FrameError, match="slp needs P, PB, T"):
            found.read("slp")


def test_the_hydrostatic_pressure_stands_for_that_of_the_levels(supercell: Path, tmp_path: Path):
    # The air of a storm is not hydrostatic: the values are close, not equal.
    names = ["P_HYD", "T", "QVAPOR", "PH", "PHB", "QCLOUD", "QRAIN", "U", "V"]
    path = tmp_path / "without_p"
    subset(supercell, path, names)
    with open_frame([path]) as found, open_frame([supercell]) as whole:
        assert np.array_equal(found.read("pressure"), whole.read("P_HYD"))
        for name, near in (("slp", 300), ("temperature", 0.5), ("theta_e@700hPa", 1.0)):
            assert np.nanmax(np.abs(found.read(name) - whole.read(name))) < near, name
        for name in ("cape", "reflectivity_max", "cloud_top_temperature", "rh"):
            assert np.isfinite(found.read(name)).any(), name


def test_members_of_an_ensemble_are_not_taken_for_levels(storm: Path, tmp_path: Path):
    path = tmp_path / "ensemble"
    with netCDF4.Dataset(os.fspath(storm)) as old, netCDF4.Dataset(str(path), "w") as data:
        data.createDimension("member", 3)
        for name in ("south_north", "west_east"):
            data.createDimension(name, len(old.dimensions[name]))
        for name in ("U10", "V10"):
            variable = data.createVariable(name, "f4", ("member", "south_north", "west_east"))
            variable[:] = np.repeat(old[name][:1], 3, axis=0)
    with open_frame([path]) as found, pytest.raises(FrameError, match="U10 has the dimension memb"):
        found.read("wind10")
