"""What the contents of a sample file say: whether it is a piece, a climatology; its records.

CF conventions 1.11, section 7.4 (climatological statistics).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from burstlens.core import record_axis
from burstlens.core.lengths import metres
from burstlens.workflows.frames.contents import Contents
from burstlens.workflows.frames.structure import PATCH

_OVER_YEARS = re.compile(r"(?:within|over) (?:years|days)")
_JOINED = {
    "DOMAIN_number_total": "a piece that one rank of NEMO or XIOS wrote: join them with "
    "rebuild_nemo, or set one_file",
    "exch2_myFace": "a tile of MITgcm's mnc package: join them with gluemncbig",
    "tile_number": "a tile of MITgcm's mnc package: join them with gluemncbig",
    "NumFilesInSet": "a piece of FMS: join them with mppnccombine",
    "partition": "a piece that one process of ROMS or CROCO wrote: join them with ncjoin",
    "WEST-EAST_PATCH_START_UNSTAG": "a tile of WRF (io_form 102): they are joined in a folder with "
    "WRF's own file names",
}
_BY_PLACES = (
    "pieces of one frame: they have the same times at different places along {along}: join them "
    "(cdo collgrid)"
)
_UPWARDS = re.compile(r"z|lev|height|depth|alt", re.IGNORECASE)
BY_NAME = (
    "pieces of one frame by their names: join them (FMS: mppnccombine, FV3: fregrid, "
    "MITgcm: gluemncbig)"
)
"""What kind of piece files are whose names alone say that they are pieces."""


def is_climatology(found: Contents, time: str | None) -> bool:
    """Whether its times are those of an average year or day."""
    if time is not None and "climatology" in found.variables[time].attributes:
        return True
    methods = [one.text("cell_methods") for one in found.variables.values()]
    given = [text for text in methods if text]
    return bool(given) and all(_OVER_YEARS.search(text) for text in given)


def piece(found: Contents) -> str:
    """What kind of piece of a frame the file is, and how pieces are joined; "" if it is whole."""
    attributes = found.attributes
    there = (key for key in _JOINED if key in attributes and not _is_whole(found, key))
    return _JOINED.get(next(there, ""), "")


def beside(one: Contents, other: Contents, time: str | None) -> str:
    """Whether two files of one pattern hold the same times at different places, as DALES's ranks
    write them; "" if not."""
    here = one.variables.get(time) if time else None
    there = other.variables.get(time) if time else None
    if here is None or there is None or here.ends is None or here.ends != there.ends:
        return ""
    apart = [
        name for name, about in one.variables.items()
        if about.dimensions == (name,) and name != time and about.ends is not None
        and _is_horizontal(about.text("units")) and not _UPWARDS.match(name)
        and name in other.variables and other.variables[name].ends not in (None, about.ends)
    ]  # fmt: skip
    return _BY_PLACES.format(along=", ".join(apart)) if apart else ""


def _is_horizontal(units: str) -> bool:
    return units.lower().startswith("degree") or metres(units) is not None


def _is_whole(found: Contents, key: str) -> bool:
    """Whether an attribute that pieces have says that the file is the only one."""
    value = found.attributes[key]
    if key in ("DOMAIN_number_total", "NumFilesInSet"):
        return bool(value == 1)
    if key == "partition":
        return not (isinstance(value, list) and len(value) == 4)
    if key == "tile_number":
        return all(found.attributes.get(one) == 1 for one in ("nPx", "nPy", "nSx", "nSy"))
    return key == PATCH[1] and _covers(found)


def _covers(found: Contents) -> bool:
    """Whether a file with WRF's attributes of tiles holds the whole domain."""
    numbers = [found.attributes.get(key) for key in PATCH]
    if not all(isinstance(number, int | float) for number in numbers):
        return True
    grid_x, start_x, end_x, grid_y, start_y, end_y = (int(n) for n in numbers if n is not None)
    return start_x <= 1 and start_y <= 1 and end_x >= grid_x - 1 and end_y >= grid_y - 1


def fields(found: Contents, time: str | None) -> Iterator[str]:
    """The variables that are numbers over at least one dimension beside time, but no bounds."""
    bounds = {
        str(one.attributes[key])
        for one in found.variables.values()
        for key in ("bounds", "climatology")
        if key in one.attributes
    }
    dimension = record_dimension(found, time)
    for name, one in found.variables.items():
        spatial = [each for each in one.dimensions if each != dimension]
        if one.kind in "fiu" and spatial and one.dimensions != (name,) and name not in bounds:
            yield name


def record_dimension(found: Contents, time: str | None) -> str | None:
    """The dimension along which a file's records lie; ``time`` is the time variable, if any."""
    return record_axis.record_dimension(found.variables, found.sizes, found.unlimited, time or "")


def counted_dimension(found: Contents) -> str | None:
    """The dimension along which a file without times has several records; None for one frame."""
    dimension = record_dimension(found, None)
    return dimension if dimension and found.sizes.get(dimension, 1) > 1 else None
