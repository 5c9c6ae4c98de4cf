"""Real frames, and a context to make products in."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from burstlens.viz.frames.reader import netCDF4  # after HDF5 locking is switched off
from burstlens.viz.product import Context

DATA = Path(__file__).parents[1] / "data" / "wrf"


@pytest.fixture
def supercell() -> Path:
    return DATA / "wrfout_d01_0001-01-01_00_08_00"


@pytest.fixture
def nest() -> Path:
    return DATA / "wrfout_d02_0001-01-01_00_03_00"


@pytest.fixture
def katrina() -> Path:
    return DATA / "wrfout_d01_2005-08-28_12_00_00"


@pytest.fixture
def cyclone() -> Path:
    """Katrina at 21 UTC, with what diagnostics need: Mercator, 14 levels up to 5.6 km."""
    return DATA / "wrfout_d01_2005-08-28_21_00_00"


@pytest.fixture
def wrf_python() -> dict[str, Any]:
    """Diagnostics of the cyclone by wrf-python's Fortran, 3-D ones on ``levels`` only."""
    import numpy as np

    with np.load(DATA / "wrf_python_2005-08-28_21_00_00.npz") as stored:
        return dict(stored)


@pytest.fixture
def tiles() -> list[Path]:
    return [DATA / f"wrfout_d01_0001-01-01_00_04_00_{rank:04d}" for rank in (0, 1)]


@pytest.fixture
def context(tmp_path: Path) -> Context:
    files = tmp_path / "files"
    files.mkdir()
    return Context(
        run="20261121-supercell-7f3a",
        title="Supercell",
        product="w",
        stream="d01",
        time="00010101T000800",
        files=files,
        version="1.2.3",
    )


@pytest.fixture
def cf_volume(tmp_path: Path) -> Callable[..., Path]:
    """Writes a CF file of one record: vx, vy (time, z, y, x) and vz (time, y, x), in metres."""

    def write(name: str = "volume.nc", **axes: Any) -> Path:
        import numpy as np

        x = np.asarray(axes.get("x", np.arange(7) * 50.0), dtype="f4")
        y = np.asarray(axes.get("y", np.arange(6) * 50.0), dtype="f4")
        z = np.asarray(axes.get("z", np.arange(5) * 25.0), dtype="f4")
        path = tmp_path / name
        with netCDF4.Dataset(os.fspath(path), "w") as data:
            data.createDimension("time", None)
            data.createVariable("time", "f8", ("time",)).units = "s"
            data["time"][0] = 1.5
            for axis, values in (("x", x), ("y", y), ("z", z)):
                data.createDimension(axis, values.size)
                variable = data.createVariable(axis, "f4", (axis,))
                variable.setncatts({"units": "m", "axis": axis.upper()})
                variable[:] = values
            if axes.get("depth"):
                data["z"].positive = "down"
            generator = np.random.default_rng(7)
            for field in ("vx", "vy"):
                variable = data.createVariable(field, "f4", ("time", "z", "y", "x"))
                variable.setncatts({"units": "m s-1", "long_name": "velocity"})
                variable[0] = generator.normal(size=(z.size, y.size, x.size))
            variable = data.createVariable("vz", "f4", ("time", "y", "x"))
            variable.setncatts({"units": "m s-1", "long_name": "vertical velocity"})
            variable[0] = generator.normal(size=(y.size, x.size))
        return path

    return write


@pytest.fixture
def copy_with() -> Callable[..., None]:
    """Copies some variables of a netCDF file into another format, or changes their values."""

    def copy(source: Path, target: Path, names: list[str], *, form: str = "NETCDF4", **new: Any):
        with (
            netCDF4.Dataset(os.fspath(source)) as old,
            netCDF4.Dataset(os.fspath(target), "w", format=form) as data,
        ):
            for name, dimension in old.dimensions.items():
                data.createDimension(name, None if dimension.isunlimited() else len(dimension))
            data.setncatts({key: old.getncattr(key) for key in old.ncattrs()})
            for name in names:
                stored = old[name]
                variable = data.createVariable(name, stored.dtype, stored.dimensions)
                variable.setncatts({key: stored.getncattr(key) for key in stored.ncattrs()})
                variable[:] = new.get(name, stored[:])

    return copy


@pytest.fixture
def wrf_file(tmp_path: Path) -> Callable[..., Path]:
    """Writes a WRF-like frame of T2, PSFC, U10, V10, U and V on a projection of the earth.

    Its XLAT and XLONG come from the formulas of Snyder (1987, USGS Professional Paper 1395:
    14-5 for the rotated pole, 7-4 Mercator, 15 Lambert, 21 stereographic; sphere), not from PROJ.
    The grid's middle lies at ``middle`` (x, y) metres of the projection's own plane.
    """
    import numpy as np

    radius = 6370000.0

    def lambert(x: Any, y: Any, of: dict[str, float]) -> tuple[Any, Any]:
        one, two, zero = (np.radians(of[k]) for k in ("TRUELAT1", "TRUELAT2", "MOAD_CEN_LAT"))
        t = lambda phi: np.tan(np.pi / 4 + phi / 2)  # noqa: E731
        n = np.sin(one)
        if one != two:
            n = np.log(np.cos(one) / np.cos(two)) / np.log(t(two) / t(one))
        f = np.cos(one) * t(one) ** n / n
        rho_0 = radius * f / t(zero) ** n
        rho = np.sign(n) * np.hypot(x, rho_0 - y)
        theta = np.arctan2(np.sign(n) * x, np.sign(n) * (rho_0 - y))
        lat = 2 * np.arctan((radius * f / rho) ** (1 / n)) - np.pi / 2
        return of["STAND_LON"] + np.degrees(theta / n), np.degrees(lat)

    def stereographic(x: Any, y: Any, of: dict[str, float]) -> tuple[Any, Any]:
        side = np.sign(of["TRUELAT1"])
        k = (1 + np.sin(np.radians(abs(of["TRUELAT1"])))) / 2
        c = 2 * np.arctan(np.hypot(x, y) / (2 * radius * k))
        return of["STAND_LON"] + np.degrees(np.arctan2(x, -side * y)), side * (90 - np.degrees(c))

    def mercator(x: Any, y: Any, of: dict[str, float]) -> tuple[Any, Any]:
        scale = radius * np.cos(np.radians(of["TRUELAT1"]))
        lat = np.degrees(2 * np.arctan(np.exp(y / scale)) - np.pi / 2)
        return of["STAND_LON"] + np.degrees(x / scale), lat

    def rotated(x: Any, y: Any, of: dict[str, float]) -> tuple[Any, Any]:
        """WPS's rotate_coords (geogrid/src/module_llxy.F), from the computational grid."""
        lat, lon = np.radians(np.degrees(y / radius)), x / radius
        if abs(of["POLE_LAT"]) == 90:
            return np.degrees(lon) + of["CEN_LON"], np.degrees(lat)
        pole, turn = np.radians(of["POLE_LAT"]), np.radians(of["POLE_LON"])
        sin = np.cos(pole) * np.cos(lat) * np.cos(lon - turn) + np.sin(pole) * np.sin(lat)
        along = np.sin(pole) * np.cos(lat) * np.cos(lon - turn) - np.cos(pole) * np.sin(lat)
        across = np.cos(lat) * np.sin(lon - turn)
        return np.degrees(np.arctan2(across, along)) - of["STAND_LON"], np.degrees(np.arcsin(sin))

    inverse = {1: lambert, 2: stereographic, 3: mercator, 6: rotated}

    def write(
        map_proj: int,
        *,
        size: tuple[int, int] = (60, 50),
        spacing: float = 30000.0,
        middle: tuple[float, float] = (0.0, 0.0),
        without: tuple[str, ...] = (),
        **attributes: float,
    ) -> Path:
        path = tmp_path / f"wrfout_{map_proj}.nc"
        lonlat = inverse[map_proj]
        # POLE_LAT and POLE_LON are those given, else those of an unrotated grid.
        known = {"POLE_LAT": 90.0, "POLE_LON": 0.0, "TRUELAT2": 0.0, "MOAD_CEN_LAT": 0.0}
        known |= {"CEN_LON": 0.0, "CEN_LAT": 0.0, "STAND_LON": 0.0, "TRUELAT1": 0.0} | attributes
        nx, ny = size
        x = middle[0] + (np.arange(nx) - (nx - 1) / 2) * spacing
        y = middle[1] + (np.arange(ny) - (ny - 1) / 2) * spacing
        x_faces = np.append(x - spacing / 2, x[-1] + spacing / 2)
        y_faces = np.append(y - spacing / 2, y[-1] + spacing / 2)
        cen_lon, cen_lat = lonlat(np.array(middle[0]), np.array(middle[1]), known)
        plane = dict(known)
        known |= {"CEN_LON": float(cen_lon), "CEN_LAT": float(cen_lat)}
        with netCDF4.Dataset(os.fspath(path), "w") as data:
            data.setncatts({key: np.float32(value) for key, value in known.items()})
            data.setncatts(
                {
                    "MAP_PROJ": np.int32(map_proj),
                    "DX": np.float32(spacing),
                    "DY": np.float32(spacing),
                    "WEST-EAST_GRID_DIMENSION": np.int32(nx + 1),
                    "SOUTH-NORTH_GRID_DIMENSION": np.int32(ny + 1),
                    "SIMULATION_START_DATE": "2005-08-28_00:00:00",
                }
            )
            sizes = {"Time": None, "west_east": nx, "south_north": ny}
            sizes |= {"west_east_stag": nx + 1, "south_north_stag": ny + 1}
            for name, length in sizes.items():
                data.createDimension(name, length)
            fields: dict[str, tuple[tuple[str, str], Any, str]] = {}
            rows, columns = "south_north", "west_east"
            for suffix, dims, (px, py) in (
                ("", (rows, columns), (x, y)),
                ("_U", (rows, columns + "_stag"), (x_faces, y)),
                ("_V", (rows + "_stag", columns), (x, y_faces)),
            ):
                lon, lat = lonlat(*np.meshgrid(px, py), plane)
                lon = (lon + 180) % 360 - 180
                fields[f"XLONG{suffix}"] = dims, lon, "degree_east"
                fields[f"XLAT{suffix}"] = dims, lat, "degree_north"
                if not suffix:
                    fields["T2"] = dims, 260 + 0.4 * (90 - np.abs(lat)), "K"
                    fields["PSFC"] = dims, 1e5 + 3e3 * np.hypot(*np.meshgrid(x, y)) / 1e6, "Pa"
                    fields["U10"] = dims, np.full((ny, nx), 10.0), "m s-1"
                    fields["V10"] = dims, np.zeros((ny, nx)), "m s-1"
            fields["U"] = (rows, columns + "_stag"), np.full((ny, nx + 1), 3.0), "m s-1"
            fields["V"] = (rows + "_stag", columns), np.full((ny + 1, nx), 4.0), "m s-1"
            for name, (dims, values, units) in fields.items():
                if name not in without:
                    variable = data.createVariable(name, "f4", ("Time", *dims))
                    variable.units = units
                    variable[0] = values
        return path

    return write


@pytest.fixture
def add_variables(tmp_path: Path) -> Callable[..., Path]:
    """Copies a WRF file of one record, and adds variables (y, x) or changes those it has."""

    def add(source: Path, **values: Any) -> Path:
        path = tmp_path / f"more_{source.name}"
        path.write_bytes(source.read_bytes())
        with netCDF4.Dataset(os.fspath(path), "a") as data:
            for name, array in values.items():
                if name not in data.variables:
                    dimensions = ("Time", "south_north", "west_east")
                    data.createVariable(name, array.dtype, dimensions)
                data[name][0] = array
        return path

    return add


@pytest.fixture
def integers(tmp_path: Path) -> Callable[..., Path]:
    """Copies some variables of a WRF file, rounded, as integers."""

    def write(source: Path, *names: str) -> Path:
        import numpy as np

        path = tmp_path / f"integers_{source.name}"
        with (
            netCDF4.Dataset(os.fspath(source)) as old,
            netCDF4.Dataset(os.fspath(path), "w") as data,
        ):
            for name, dimension in old.dimensions.items():
                data.createDimension(name, None if dimension.isunlimited() else len(dimension))
            data.setncatts({key: old.getncattr(key) for key in old.ncattrs()})
            for name in names:
                variable = data.createVariable(name, "i4", old[name].dimensions)
                variable[:] = np.rint(old[name][:]).astype("i4")
        return path

    return write


@pytest.fixture
def copied_package(tmp_path: Path) -> Callable[..., Path]:
    """Makes a read-only copy of the package, like a shared installation."""

    def copy() -> Path:
        import shutil

        import burstlens

        target = tmp_path / "installed"
        # src/burstlens has links to the top-level folders: their content is copied.
        ignored = shutil.ignore_patterns("__pycache__", "*.npz", "natural_earth*")
        shutil.copytree(Path(burstlens.__file__).parent, target / "burstlens", ignore=ignored)
        for path in (target, *target.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        return target

    return copy


@pytest.fixture
def gulf(wrf_file: Callable[..., Path]) -> Path:
    """A frame around the Gulf of Mexico, in Lambert's projection."""
    return wrf_file(
        map_proj=1, TRUELAT1=25.0, TRUELAT2=45.0, MOAD_CEN_LAT=27.0, STAND_LON=-88.0,
        size=(110, 85), spacing=20000.0,
    )  # fmt: skip


@pytest.fixture
def follow_storm(context: Context) -> Callable[..., list[tuple[dict[str, Any], Path]]]:
    """Makes the product ``track`` of frames in their order, each with the state of the one before.

    A frame is a file, or a file and a record, or a file and a function that changes it first.
    Returns the facts and the state of each. ``previous`` is the state to begin with, ``times`` are
    those of the frames.
    """

    def follow(
        *frames: Any, times: list[str], previous: Path | None = None, **options: Any
    ) -> list[tuple[dict[str, Any], Path]]:
        import dataclasses

        from pydantic import TypeAdapter

        from burstlens.viz.diagnostics.derived import open_frame
        from burstlens.viz.kinds.track.kind import TrackKind
        from burstlens.viz.kinds.track.options import TrackOptions

        asked = TypeAdapter(TrackOptions).validate_python(options)
        made = []
        for frame, time in zip(frames, times, strict=True):
            path, extra = frame if isinstance(frame, tuple) else (frame, 0)
            if callable(extra):
                extra(path)
            state = context.files.parent / f"{time}.state"
            now = dataclasses.replace(context, time=time, state=state, product="track")
            record = extra if isinstance(extra, int) else 0
            with open_frame([path], record, time=time, previous=previous) as reader:
                out = context.files.parent / f"track.{asked.format}"
                made.append((dict(TrackKind().make(asked, reader, out, now).facts), state))
            previous = state
        return made

    return follow


@pytest.fixture
def vortex() -> Callable[..., Callable[[Path], None]]:
    """Returns a function that puts lows into PSFC of a file: (lon, lat, depth in Pa) each.

    Gaussians of the distance on the sphere, 150 km wide, in a field of 1013 hPa with a gradient.
    """

    def at(*lows: tuple[float, float, float], width_km: float = 150.0) -> Callable[[Path], None]:
        import numpy as np
        import pyproj

        geod = pyproj.Geod(a=6370000, b=6370000)

        def change(path: Path) -> None:
            with netCDF4.Dataset(os.fspath(path), "a") as data:
                lon, lat = (np.asarray(data[name][0], "f8") for name in ("XLONG", "XLAT"))
                field = 101300.0 + 20.0 * (lat - lat.mean())
                for x, y, depth in lows:
                    _, _, metres = geod.inv(np.full_like(lon, x), np.full_like(lat, y), lon, lat)
                    field -= depth * np.exp(-0.5 * (metres / 1e3 / width_km) ** 2)
                data["PSFC"][0] = field

        return change

    return at
