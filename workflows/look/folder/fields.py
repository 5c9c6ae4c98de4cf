"""The fields of unknown files that a person looks at first: temperature, pressure, rain, ...

They are chosen by CF standard names, else by usual names and words; never bounds, coordinates,
masks, grid metrics, and what does not change with time only where nothing else is there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from burstlens.core.errors import BurstlensError
from burstlens.core.lengths import metres
from burstlens.core.units import is_difference, is_temperature
from burstlens.viz.frames.further import is_further, is_upwards
from burstlens.viz.geometry.mesh import is_of_mesh, is_table
from burstlens.workflows.frames.contents import Content, Contents
from burstlens.workflows.look.folder.content import fields, record_dimension

if TYPE_CHECKING:
    from burstlens.viz.diagnostics.derived import DerivedFrame

MOST = 6
_LEAST_POINTS = 2
_UNRANKED = 4
"""Without any known quantity, so many others are shown."""

_LOOKS: tuple[tuple[str, str, str], ...] = (
    (r"air_pressure_at_(mean_)?sea_level|air_pressure_at_msl",
     r"psl|msl|mslp|prmsl|slp|pmsl", "hPa"),
    (r"air_temperature|surface_temperature",
     r"tas|t2m?|2t|tmp2m|trefht|t_?2m|air|tmp|ts|tsk|t|ta", "degC"),
    (r"(sea_surface|sea_water(_potential|_conservative)?)_temperature(_at_.*)?",
     r"sst|tos|thetao|temp|theta|tosst|votemper", "degC"),
    (r"precipitation_flux|(convective_|large_scale_)?(rainfall|precipitation)_.*|lwe_.*precip.*",
     r"pr|precip|precc?t?|prate|tp|rain|rainfall|acprec|prateb?_ave", "mm h-1|mm"),
    (r"sea_surface_height.*|sea_surface_elevation.*",
     r"zeta|ssh|zos|eta(n|_t)?|sossheig|sla|adt", ""),
    (r"wind_speed(_of_gust)?", r"ws10m?|wspd.*|sfcwind|si10|u10m?_?speed|wind", ""),
    (r"(sea_water|sea_surface)_(practical_)?salinity", r"salt|so|sos|salinity|vosaline|s", ""),
    (r"sea_ice_area_fraction", r"siconc|aice|ice_?frac|sic|ileadfra", ""),
    (r"sea_surface_wave_significant_height", r"hs|swh|vhm0|htsgw", ""),
    (r"toa_outgoing_longwave_flux", r"rlut|olr|ulwrf|flut", ""),
    (r"atmosphere_(mass_content|water)_.*|.*cloud_area_fraction",
     r"pwat|tmq|prw|clt|cldtot|tcc", ""),
    (r"eastward_wind|x_wind", r"u10m?|uas|10u|ugrd10m|u", ""),
    (r"northward_wind|y_wind", r"v10m?|vas|10v|vgrd10m|v", ""),
    (r"(surface_)?(eastward_)?sea_water_(x_)?velocity|surface_.*eastward.*velocity",
     r"uo|uos|vozocrtx|uvel", ""),
    (r"geopotential_height", r"z500|hgt|zg", ""),
    (r".*soil_moisture.*|.*snow.*", r"mrso|snw|snowh?|swe|soilw", ""),
    (r"mass_concentration_of_.*|mole_fraction_of_.*|.*chlorophyll.*",
     r"o3|pm25|pm2_5.*|chl|chla|no2|co", ""),
)  # fmt: skip
"""Standard names, names of variables, and the units in which the quantity is read; first looks
first."""
_COMPILED = [(re.compile(a), re.compile(b, re.IGNORECASE), units) for a, b, units in _LOOKS]
_NEVER = re.compile(
    r"(?:.*_)?(?:mask|bnds|bounds|vertices|corners)(?:_.*)?|lsm|land(?:frac|mask)?|angle|area\w*"
    r"|[xy]?(?:lat|lon)[a-z]*(?:_\w+)?|nav_l(?:at|on).*|e[123][tuvfw].*|gdep.*|hy[ab][mi]"
    r"|date(?:sec)?|crs|.*_qc|.*_flag|wetdry.*|palette|colou?r_?(?:map|table)|lut",
    re.IGNORECASE,
)
_SAMPLED = re.compile(r"(?:point|trajectory|profile|time_?series|station)(?:_?profile)?", re.I)
_LISTED = re.compile(
    r"(?:n_?|num_?)?(?:obs(?:ervations?)?|traj(?:ector(?:y|ies))?|prof(?:iles?)?|stations?|drifters?"
    r"|floats?|casts?|buoys?|gauges?|particles?|parcels?)|feature_id",
    re.IGNORECASE,
)
"""Dimensions along which stations, paths and what is on them are listed."""
_UPWARDS = ("pa", "hpa", "kpa", "mb", "mbar", "millibar", "millibars", "k", "kelvin")
"""Units of heights in the air that are no lengths."""
_HORIZONTAL = re.compile(r"projection_|grid_|latitude|longitude")
_ON_EARTH = re.compile(r"degrees?_?(?:n(?:orth)?|e(?:ast)?|s(?:outh)?|w(?:est)?|t(?:rue)?)")
"""Units of latitude and longitude (CF 4.1, 4.2); a temperature may be in degrees as well."""
_ANGLES = re.compile(rf"{_ON_EARTH.pattern}|deg(?:ree)?s?|rad(?:ian)?s?")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A field that can be mapped. ``rank`` is its place among first looks, larger for others.

    ``deep``: one level of it is shown, or one point of its ``further`` dimensions. ``counted`` is a
    dimension of levels that nothing shows to be heights."""

    name: str
    rank: int
    deep: bool
    varies: bool
    score: int
    units: str
    further: tuple[str, ...] = ()
    counted: str = ""

    @property
    def order(self) -> tuple[bool, int, bool, int, str]:
        """A key that puts what is looked at first in front."""
        return not self.varies, self.rank, self.deep, -self.score, self.name


def candidates(frame: DerivedFrame, contents: Contents, time: str | None) -> list[Candidate]:
    """The fields of a file that can be mapped, the first look first, one of each quantity."""
    found = [
        one for name in fields(contents, time)
        if (one := _candidate(frame, contents, name, time)) is not None
    ]  # fmt: skip
    found.sort(key=lambda one: one.order)
    if any(one.varies for one in found):
        found = [one for one in found if one.varies]
    kept: list[Candidate] = []
    for one in found:
        known = one.rank < len(_LOOKS)
        if known and any(other.rank == one.rank for other in kept):
            continue
        if not known and len(kept) >= _UNRANKED:
            continue
        kept.append(one)
    return kept[:MOST]


def why_none(contents: Contents, time: str | None) -> str:
    """Why nothing of a file can be mapped, in words."""
    if sampling := _sampling(contents):
        return f"its values lie at stations or along paths (featureType {sampling}): nothing to map"
    names = list(fields(contents, time))
    tables = [name for name in names if _is_table(contents, name)]
    of_mesh = [
        name for name in tables
        if is_of_mesh((about := contents.variables[name]).dimensions)
        or "connectivity" in about.text("cf_role")
    ]  # fmt: skip
    names = [one for one in names if one not in tables and not _is_coordinate(contents, one)]
    if of_mesh and not names:
        return f"it describes a mesh ({', '.join(of_mesh[:2])}), which is not drawn"
    dimensions = sorted({d for name in names for d in contents.variables[name].dimensions})
    record = record_dimension(contents, time)
    inner = [dimension for dimension in dimensions if dimension != record]
    if of_mesh or any(_is_unstructured(contents, contents.variables[name]) for name in names):
        return (
            "its fields are on an unstructured mesh, of which maps are not drawn: a product of the "
            "kind python or command can draw them"
        )
    if len(inner) == 2 and 1 in (contents.sizes.get(dimension) for dimension in inner):
        return f"its fields are one row or column of points ({', '.join(inner)}): nothing to map"
    along = f" (they are along {', '.join(inner)})" if inner else ""
    if not names:
        return "it holds numbers without a place only, such as a time series: nothing to map"
    return f"no variable has two horizontal dimensions{along}: nothing to map"


def _candidate(
    frame: DerivedFrame, contents: Contents, name: str, time: str | None
) -> Candidate | None:
    from burstlens.viz.geometry.grid import axes

    about = contents.variables[name]
    if _NEVER.fullmatch(name) or _is_coordinate(contents, name) or _is_flag(about):
        return None
    if _is_table(contents, name) or _is_unstructured(contents, about):
        return None
    try:
        directions = axes(frame, name)
        sizes = dict(zip((found := frame.variable(name)).dimensions, found.shape, strict=True))
    except BurstlensError:
        return None
    if not {"x", "y"} <= directions.keys():
        return None
    ground = [directions[way] for way in "xy"]
    if not all(_may_be_vertical(contents, dimension) for dimension in ground):
        return None  # spectra, classes by latitude
    if any(_LISTED.fullmatch(dimension) for dimension in ground):
        return None
    if _sampling(contents) and not all(dimension in contents.variables for dimension in ground):
        return None
    if "z" in directions and not _may_be_vertical(contents, directions["z"]):
        directions = {way: d for way, d in directions.items() if way != "z"}
    used = set(directions.values())
    if any(size > 1 for d, size in sizes.items() if not used & {d, d.removesuffix("_stag")}):
        return None  # members of an ensemble, categories
    if any(sizes.get(dimension, _LEAST_POINTS) < _LEAST_POINTS for dimension in ground):
        return None
    rank, units = _rank(name, about)
    record = record_dimension(contents, time)
    score = 3 * bool(about.text("standard_name")) + 2 * bool(about.text("units"))
    score += bool(about.text("long_name")) - 4 * (
        about.kind != "f" and "scale_factor" not in about.attributes
    )
    z = directions.get("z", "")
    deep = bool(z) and sizes.get(z, 2) > 1
    return Candidate(
        name, rank, bool(found.further) or deep, record is None or record in about.dimensions,
        score, _usual(name, about, units), found.further,
        z if deep and not _is_vertical(contents, z) else "",
    )  # fmt: skip


def _may_be_vertical(contents: Contents, dimension: str) -> bool:
    """Whether a dimension that is left when x and y are found is one of levels: members, classes
    and names are counted along others."""
    about = contents.variables.get(dimension)
    if about is not None and about.kind not in "fiu":
        return is_upwards(dimension, about.attributes)  # levels may have names
    return not is_further(dimension, {} if about is None else about.attributes)


def _is_vertical(contents: Contents, dimension: str) -> bool:
    """Whether a dimension is known to be one of levels, by its coordinate or its usual name."""
    about = contents.variables.get(dimension)
    attributes = {} if about is None else about.attributes
    if is_upwards(dimension, attributes) or "standard_name" in attributes:
        return True
    units = "" if about is None else about.text("units")
    return metres(units) is not None or units.lower() in _UPWARDS


def _sampling(contents: Contents) -> str:
    """The kind of stations or paths along which a file's values lie (CF 9.4); "" for grids."""
    kind = contents.attributes.get("featureType", contents.attributes.get("CF:featureType", ""))
    return kind if isinstance(kind, str) and _SAMPLED.fullmatch(kind) else ""


def _rank(name: str, about: Content) -> tuple[int, str]:
    standard = about.text("standard_name").removeprefix("unknown")  # as ERA5's files have it
    for number, (names, _, units) in enumerate(_COMPILED):
        if standard and names.fullmatch(standard):
            return number, units
    if not standard:
        for number, (_, usual, units) in enumerate(_COMPILED):
            if usual.fullmatch(name):
                return number, units
    return len(_LOOKS), ""


def _usual(name: str, about: Content, wanted: str) -> str:
    """The usual units; an anomaly of a temperature stays in its own, which have no zero."""
    own = about.text("units")
    if is_temperature(own) and is_difference(name, about.attributes):
        return ""
    return _fitting(own, wanted)


def pressure_units(name: str, attributes: Mapping[str, Any]) -> str:
    """hPa for pressure at sea level that is in other units; "" for anything else."""
    names, usual, units = _COMPILED[0]
    standard = str(attributes.get("standard_name", ""))
    is_pressure = names.fullmatch(standard) if standard else usual.fullmatch(name)
    return _fitting(str(attributes.get("units", "")), units) if is_pressure else ""


def _fitting(own: str, wanted: str) -> str:
    """The usual units of a quantity, if those of the file can be converted to them."""
    from burstlens.core.units import conversion

    for usual in wanted.split("|") if own and wanted else ():
        try:
            conversion(own, usual)
        except BurstlensError:
            continue
        return usual if own != usual else ""
    return ""


def _is_coordinate(contents: Contents, name: str) -> bool:
    about = contents.variables[name]
    return bool(
        _ON_EARTH.fullmatch(about.text("units").lower())
        or _HORIZONTAL.match(about.text("standard_name"))
        or about.text("axis") in ("X", "Y", "Z", "T")
        or name in _named(contents)
    )


def _is_table(contents: Contents, name: str) -> bool:
    """Whether a variable is of a mesh's topology: its attributes, or those of UGRID's mesh."""
    about = contents.variables[name]
    return is_table(name, about.attributes, about.dimensions) or any(
        name in one.text(key).split()
        for one in contents.variables.values() if one.text("cf_role") == "mesh_topology"
        for key in one.attributes if key.endswith("_connectivity")
    )  # fmt: skip


def _named(contents: Contents) -> set[str]:
    """What other variables name as their coordinates, cell measures and grid mappings."""
    keys = ("coordinates", "cell_measures", "grid_mapping", "ancillary_variables", "formula_terms")
    texts = (one.text(key) for one in contents.variables.values() for key in keys)
    return {word for text in texts for word in text.split() if not word.endswith(":")}


def _is_flag(about: Content) -> bool:
    # A packed quantity may have flags among its values (sea ice of satellites).
    return ("flag_values" in about.attributes or "flag_masks" in about.attributes) and (
        "scale_factor" not in about.attributes
    )


def _is_unstructured(contents: Contents, about: Content) -> bool:
    """Whether its points are listed along one dimension (UGRID, MPAS, CAM-SE, FVCOM)."""
    if {"mesh", "location"} <= about.attributes.keys() or is_of_mesh(about.dimensions):
        return True
    named = [
        contents.variables[n] for n in about.text("coordinates").split() if n in contents.variables
    ]
    on_one = [
        one.dimensions for one in named
        if len(one.dimensions) == 1 and _ANGLES.fullmatch(one.text("units").lower())
    ]  # fmt: skip
    return len(on_one) >= 2 and len(set(on_one)) == 1 and on_one[0][0] in about.dimensions
