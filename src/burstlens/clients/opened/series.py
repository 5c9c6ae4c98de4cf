"""The series of a product at a place: its value in each frame, one block of each file read.

What cannot be read is a gap with a reason, never an error of the whole: an index, values and grids
may be torn, missing, of another version, or hostile.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from dataclasses import field as made
from enum import StrEnum
from pathlib import Path
from typing import Any

from burstlens.clients.opened.picture import is_picture
from burstlens.clients.opened.points import Files, Grids, Point
from burstlens.clients.opened.spot import PlaneError, Spot
from burstlens.core.errors import BurstlensError, RunError, ValuesError
from burstlens.core.run.index import Published, values_path
from burstlens.core.units import printed
from burstlens.viz.values.script import ValuesFile

FACTS = ("variable", "long_name", "units", "printed", "level", "transform")


class Gap(StrEnum):
    """Why a frame has no value at the place."""

    NONE = ""
    OUTSIDE = "outside"
    """The frame's grid does not hold the place."""
    WITHOUT = "no values"
    """The picture was published without values."""
    UNREADABLE = "unreadable"
    """Its values or their grid are missing, torn, or of another version."""
    FOREIGN = "another picture"
    """Its values belong to another picture: the product was published anew just now."""
    OTHER = "another field"
    """It is of another variable or in other units than the rest of the series."""
    NAN = "nan"
    """The model has no value there."""
    INFINITE = "inf"
    MINUS_INFINITE = "-inf"


@dataclass(frozen=True, slots=True)
class Sample:
    """The value of one frame at the place; of a gap ``value`` is None, or what is not finite.

    ``step`` is the step of quantisation at the value, in its units: the model's value lies within
    half of it, beside an edge of colours in steps within all of it; every ``stride``-th point of
    the grid is kept. ``facts`` has variable, units and more, ``number`` is that of the field, the
    lowest first. ``from_frame``: it was read from the frame's own file, so it is of the grid cell
    itself and exact.
    """

    time: str
    value: float | None
    gap: Gap = Gap.NONE
    reason: str = ""
    step: float = 0.0
    number: int = 0
    point: Point | None = None
    facts: Mapping[str, Any] = made(default_factory=dict)
    stride: int = 1
    from_frame: bool = False

    @property
    def finite(self) -> float | None:
        """The value, None where there is none that can be plotted."""
        return None if self.gap else self.value

    def row(self) -> list[str | float | None]:
        """``[time, value]``, with why it is a gap as the third where it is one."""
        return [self.time, self.finite, *([self.gap.value] if self.gap else [])]


Read = Callable[[Published], Sample]
Renew = Callable[[Published], Published | None]


def samples(
    read: Read,
    entries: Iterable[Published],
    renew: Renew | None,
    kind: tuple[str, str] | None = None,
) -> Iterator[Sample]:
    """The value of each entry at the place that ``read`` reads, in the order of the entries.

    ``renew`` gives the newest entry of the same frame, for one whose files were just replaced.
    ``kind`` are variable and units of the series; without it the first field decides.
    """
    for entry in entries:
        found = read(entry)
        if found.gap in (Gap.FOREIGN, Gap.UNREADABLE) and renew is not None:
            newer = renew(entry)
            if newer is not None and newer != entry:
                found = read(newer)
        if found.facts:
            own = (found.facts["variable"], found.facts["units"])
            kind = kind or own
            if own != kind:
                reason = f"{own[0]} in {own[1]!r}, not {kind[0]} in {kind[1]!r}"
                found = Sample(found.time, None, Gap.OTHER, reason)
        yield found


def reader(files: Files, spot: Spot, grids: Grids) -> Read:
    """Reads the value of a published picture at the place (:func:`sample`)."""
    return lambda entry: sample(files, entry, spot, grids)


def sample(files: Files, entry: Published, spot: Spot, grids: Grids) -> Sample:
    """The value of one published picture at the place: of several fields the topmost there."""
    try:
        if entry.placeholder:
            return Sample(entry.time, None, Gap.WITHOUT, entry.placeholder)
        if not has_values(entry):
            reason = "traces of stations, not values of a field" if has_traces(entry) else ""
            return Sample(entry.time, None, Gap.WITHOUT, reason or "published without values")
        values = open_values(files, entry)
        if values.header.get("picture") != entry.line.get("crc32"):
            return Sample(entry.time, None, Gap.FOREIGN, "its values belong to another picture")
        return _sample(files, entry.time, values, spot, grids)
    except (BurstlensError, OSError) as error:
        return Sample(entry.time, None, Gap.UNREADABLE, str(error))
    except Exception as error:  # any content of another user's files
        return Sample(entry.time, None, Gap.UNREADABLE, f"its values are damaged: {error!r}")


def has_values(entry: Published) -> bool:
    """Whether a picture was published with the values of a field."""
    return isinstance(entry.line.get("values"), dict) and not has_traces(entry)


def has_traces(entry: Published) -> bool:
    """Whether a picture was published with the recorded traces of stations."""
    return isinstance(entry.line.get("values"), dict) and "traces" in entry.facts


def open_values(files: Files, entry: Published) -> ValuesFile:
    """The file with the values of a picture. Raises ValuesError and RunError."""
    return ValuesFile(files.regular(values_path(Path(entry.name)).as_posix()))


def _sample(files: Files, time: str, values: ValuesFile, spot: Spot, grids: Grids) -> Sample:
    for number in reversed(range(len(values.fields))):
        one = values.fields[number]
        # A nest whose grid cannot be read may cover the place: the value below is not what is seen.
        try:
            point = grids.point(files, one.grid, spot)
        except PlaneError as error:
            return Sample(time, None, Gap.OUTSIDE, str(error))
        if point and point.shape != (one.rows, one.columns):
            raise ValuesError(f"the grid {one.grid} is not that of its {one.rows} rows")
        if point is None:
            continue
        value = values.at(point.row, point.column, number)
        field = values.header["fields"][number]
        facts = {name: str(field.get(name, "")) for name in (*FACTS, "label")}
        facts["transform"] = one.scale.transform
        step, stride = one.scale.scale, int(field.get("stride", 1))
        if one.scale.transform == "log":  # in the units of the value, with which it grows
            step = abs(value) * math.expm1(step) if math.isfinite(value) else 0.0
        return Sample(time, value, gap_of(value), "", step, number, point, facts, stride)
    return Sample(time, None, Gap.OUTSIDE, "the frame's grid does not hold the place")


def gap_of(value: float) -> Gap:
    """Why a value is none that can be plotted."""
    if math.isfinite(value):
        return Gap.NONE
    return Gap.NAN if math.isnan(value) else Gap.INFINITE if value > 0 else Gap.MINUS_INFINITE


def heading(product: str, stream: str, entries: Iterable[Published], first: Iterable[Sample],
            spot: Spot) -> dict[str, Any]:  # fmt: skip
    """What is common to a series, as JSON values: its field, units, step, place and number of
    frames. ``first`` are samples of it; where none has a value, the index says what it can."""
    shown = list(entries)
    known = next((one for one in first if one.facts), None)
    if known:
        facts = dict(known.facts)
    else:
        listed = next((one.facts for one in shown if not one.placeholder), {})
        facts = {name: str(listed.get(name, "")) for name in ("variable", "units")}
        facts["printed"] = printed(facts["units"])
    found: dict[str, Any] = {"product": product, "stream": stream, **facts, "frames": len(shown)}
    found["step"] = known.step if known and math.isfinite(known.step) else None
    found["stride"] = known.stride if known else 1
    found["index"] = dict(known.point.index) if known and known.point else None
    return found | {"at": spot.facts()}


def value_label(sample: Sample) -> str:
    """A value for people, with as many digits as its step allows, and its units.

    >>> value_label(Sample("t", 29.4137, step=0.01, facts={"printed": "K", "transform": "linear"}))
    '29.41 K'
    """
    if sample.value is None:
        return f"no value ({sample.reason or sample.gap})"
    if sample.gap:
        return "no value" if sample.gap is Gap.NAN else sample.gap.value
    digits = math.ceil(-math.log10(sample.step)) if sample.step > 0 else 6
    plain = sample.facts.get("transform") != "log" and digits <= 6 and abs(sample.value) < 1e7
    text = f"{sample.value:.{max(0, digits)}f}" if plain else f"{sample.value:.5g}"
    return f"{text} {sample.facts.get('printed', '')}".rstrip()


def without_values(product: str, entries: Iterable[Published]) -> RunError:
    """The error for a product none of whose ``entries`` has the values of a field."""
    entries = list(entries)
    if any(map(has_traces, entries)):
        return RunError(
            f"the pictures of {product} have recorded traces of stations beside them, not the "
            "values of a field: the page shows them at a place near a station"
        )
    if entries and not any(is_picture(entry.name) for entry in entries):
        return RunError(f"{product} has no pictures, whose values a series is made of")
    return RunError(
        f"the pictures of {product} have no values: maps, sections and peaks publish them unless "
        "their recipe says `values = false` or an older version of Burstlens made them"
    )
