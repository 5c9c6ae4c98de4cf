"""Values and series as xarray's DataArrays."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from burstlens.clients.opened import series
from burstlens.clients.opened.pictured import Pictured
from burstlens.clients.opened.points import Files, Grids
from burstlens.clients.opened.products import ProductView, Time
from burstlens.clients.opened.spot import Spot
from burstlens.core import valid_time
from burstlens.core.errors import RunError, ValuesError
from burstlens.core.extras import install_command
from burstlens.core.nearness import did_you_mean
from burstlens.core.run.directory import RunDir
from burstlens.core.run.index import Published
from burstlens.core.run.segments import segments_of
from burstlens.viz.values.lookup import Grid

if TYPE_CHECKING:
    import xarray

_HEADER = ("product", "stream", "time")
_FIELD = ("variable", "long_name", "units", "level", "label", "stride")
_SERIES = ("product", "stream", "long_name", "units", "level", "transform")
DEGREES = {"lon": "degrees_east", "lat": "degrees_north"}


def values_of(
    view: ProductView, time: Time = "latest", stream: str | None = None, field: int | str = 0
) -> xarray.DataArray:
    """The values of a product's picture as (row, column), rows from the top of the picture.

    ``time`` is as for :meth:`.ProductView.entry`, or an ``int``: the number of the frame, -1 the
    last. ``field`` is a field's number, 0 the lowest, or the label of a nest. Raises RunError and
    ValuesError.
    """
    module = _xarray()
    entry = _entry(view, time, stream)
    if not series.has_values(entry):
        raise series.without_values(view.name, [entry])
    try:
        return _array(module, Files(view.folder), entry, field)
    except OSError as error:
        raise ValuesError(f"{error.filename or entry.name}: {error.strerror}") from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValuesError(f"the values of {entry.name} are damaged: {error!r}") from error


def _array(module: Any, files: Files, entry: Published, field: int | str) -> xarray.DataArray:
    file = series.open_values(files, entry)
    if file.header.get("picture") != entry.line.get("crc32"):
        raise ValuesError(f"{file.path} belongs to another picture: it was published anew just now")
    fields: Sequence[Mapping[str, Any]] = file.header["fields"]
    number = _number(field, fields)
    facts, laid = fields[number], file.fields[number]
    dims, coordinates = _coordinates(Grids().grid(files, laid.grid))
    at, about = times([entry.time])
    coordinates["time"] = ((), at[0], about)
    attributes = {name: file.header[name] for name in _HEADER if name in file.header}
    attributes["attempt"] = entry.attempt
    attributes |= {name: facts[name] for name in _FIELD if facts.get(name)}
    attributes |= {"step": laid.scale.scale, "transform": laid.scale.transform}
    projection = file.header.get("projection")
    if projection:
        text = isinstance(projection, str)
        attributes["projection"] = projection if text else json.dumps(projection)
    name = str(facts.get("variable", ""))
    values = file.field(number)
    made: xarray.DataArray = module.DataArray(values, coordinates, dims, name, attributes)
    return made


def series_of(run: RunDir, product: str, spot: Spot, stream: str | None) -> xarray.DataArray:
    """A series over time, NaN for gaps, with why each is one as the coordinate ``gap``; ``stale``
    is true where another attempt of the model owns the time by now.

    Raises RunError as :meth:`.Pictured.entries`.
    """
    module = _xarray()
    pictured = Pictured(run, product)
    entries = pictured.entries(stream)
    read = series.reader(Files(run.products), spot, Grids())
    found = list(series.samples(read, entries, pictured.newest))
    facts = series.heading(product, entries[0].stream, entries, found[::-1], spot)
    at, about = times([one.time for one in found])
    values = [math.nan if one.value is None else one.value for one in found]
    attributes = {name: facts[name] for name in _SERIES if facts.get(name)} | facts["at"]
    stride = max((one.stride for one in found), default=1)
    if stride > 1:
        text = f"the nearest of the kept points: 1 of {stride} along each direction of the grid"
        attributes |= {"stride": stride, "comment": text}
    coordinates = {
        "time": ("time", at, about),
        "step": ("time", [one.step for one in found], {"long_name": "step of quantisation"}),
        "gap": ("time", np.array([one.gap.value for one in found], dtype=str)),
        "stale": ("time", np.array([one.stale for one in segments_of(run).mark(entries)], bool)),
    }
    name = str(facts.get("variable", ""))
    made: xarray.DataArray = module.DataArray(values, coordinates, ["time"], name, attributes)
    return made


def times(keys: Sequence[str]) -> tuple[Any, dict[str, str]]:
    """Valid-time keys as datetime64[s], or [us] with parts of a second; elapsed ones as seconds;
    others, such as a day that only another calendar has, as they are. With their attributes."""
    if keys and all(map(valid_time.is_elapsed, keys)):
        elapsed = {"units": "s", "long_name": "elapsed time"}
        return np.array([valid_time.seconds(key) for key in keys]), elapsed
    try:
        if all(map(valid_time.is_calendar, keys)):
            texts = [valid_time.iso(key) for key in keys]
            unit = "us" if "." in "".join(keys) else "s"
            return np.array(texts, f"datetime64[{unit}]"), {"long_name": "valid time (UTC)"}
    except ValueError:
        pass
    return np.array(keys, dtype=str), {"long_name": "valid-time key"}


def _entry(view: ProductView, time: Time, stream: str | None) -> Published:
    if not isinstance(time, int) or isinstance(time, bool):
        return view.entry(time, stream)
    entries = [entry for entry in view.entries if stream in (None, entry.stream)]
    if not -len(entries) <= time < len(entries):
        raise RunError(f"{view.name} has {len(entries)} frames, and none of number {time}")
    return entries[time]


def _number(field: int | str, facts: Sequence[Mapping[str, Any]]) -> int:
    labels = [str(one.get("label", "")) for one in facts]
    if isinstance(field, str):
        if field not in labels:
            near = did_you_mean(field, filter(None, labels))
            raise RunError(f"there is no field {field!r}{near}")
        return labels.index(field)
    if not -len(facts) <= field < len(facts):
        raise RunError(f"the picture has {len(facts)} fields, and none of number {field}")
    return field % len(facts)


def _coordinates(grid: Grid) -> tuple[list[str], dict[str, Any]]:
    """The names of both directions, and the coordinates on them."""
    axes, found = grid.axes(), dict[str, Any]()
    if axes is None:
        dims = ["row", "column"]
        middles = grid.middles()
        assert middles is not None
        units = str(grid.facts.get("units", ""))
        names = ("lon", "lat") if grid.on_earth else ("x", "y")
        for name, values in zip(names, middles, strict=True):
            found[name] = (dims, values, {"units": DEGREES.get(name, units)})
    else:
        own = _name(grid.x), _name(grid.y)
        across, down = ("lon", "lat") if grid.facts.get("geographic") else own
        dims = [down, across]
        for name, axis, values in ((down, grid.y, axes[1]), (across, grid.x, axes[0])):
            units = DEGREES.get(name, str(axis.get("units", "")))
            found[name] = (name, values, {"units": units, "long_name": str(axis.get("name", name))})
        lonlat, along = grid.lonlat(), grid.facts.get("along")
        if lonlat is not None:
            mesh = {"error_km": grid.facts["mesh"].get("error_km", 0.0)}
            for name, values in zip(("lon", "lat"), lonlat, strict=True):
                found[name] = (dims, values, {"units": DEGREES[name], **mesh})
        if along:
            for name in ("lon", "lat"):
                found[name] = (across, np.array(along[name], float), {"units": DEGREES[name]})
    for name, axis, count in ((dims[0], grid.y, grid.rows), (dims[1], grid.x, grid.columns)):
        if axis.get("dimension"):
            first, step = axis["index"]
            index = int(first) + int(step) * np.arange(count)
            found[f"{axis['dimension']}_index"] = (name, index, {"long_name": "index in the file"})
    return dims, found


def _name(axis: Mapping[str, Any]) -> str:
    """The name of a direction: ``x``, ``distance``, ``height``."""
    return "_".join(str(axis.get("name", "")).split()) or "coordinate"


def _xarray() -> Any:
    try:
        import xarray
    except ImportError:
        raise RunError(f"this needs xarray: {install_command('jupyter')}") from None
    return xarray
