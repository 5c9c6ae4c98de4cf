"""A run's files for ParaView: a product's files as one series, and a script that shows it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlens.core.durable import write_whole
from burstlens.core.run.follow import number
from burstlens.core.run.segments import Segments
from burstlens.core.valid_time import has_time, series_calendar
from burstlens.viz.kinds.vtk.paraview import paraview_script
from burstlens.viz.kinds.vtk.pvd import pvd_entry, pvd_text, time_value, time_zero

if TYPE_CHECKING:
    from burstlens.viz.kinds.vtk.hdf_file import Step

PERIOD_S = 1.0
XML_SUFFIXES = frozenset({".vti", ".vtr", ".vts", ".pvti", ".pvtr", ".pvts"})
HDF_SUFFIX = ".vtkhdf"
SUFFIXES = (*sorted(XML_SUFFIXES), HDF_SUFFIX)
FIRST_FILES = 100


@dataclass(slots=True)
class _Product:
    """The files of one product by valid time, the attempts that computed them, and the facts of
    the first of them."""

    facts: Mapping[str, Any]
    entries: dict[str, str] = field(default_factory=dict)
    steps: dict[str, Step] = field(default_factory=dict)
    attempts: dict[str, int] = field(default_factory=dict)


def has_series(folder: Path) -> bool:
    """Whether that folder of a product has files for ParaView, by the first of its files."""
    try:
        with os.scandir(folder) as entries:
            first = [entry.name for entry in islice(entries, FIRST_FILES)]
    except FileNotFoundError:
        return False
    return any(name.endswith(SUFFIXES) for name in first)


class Series:
    """``<product>.pvd`` or ``<product>.vtkhdf`` and ``<product>.paraview.py`` in ``folder``.

    ``start`` is the key of the model's start: ParaView's times are seconds after it. What is stale
    by the run's ``segments`` is left out, as of movies.
    """

    def __init__(
        self, folder: Path, start: str | None, segments: Callable[[], Segments] = Segments
    ) -> None:
        self._folder = folder
        self._start = start
        self._segments = segments
        self._stretches: list[tuple[int, str]] = []
        """By what the series on disk are: each attempt and where it begins."""
        self._calendars: dict[tuple[str, str], str] = {}
        """Of each product and stream: that of its latest frame."""
        self._products: dict[str, _Product] = {}
        self._grown: set[str] = set()
        self._next = 0.0

    def add(self, line: Mapping[str, Any]) -> None:
        """Add a line of the index, if it names a file for ParaView."""
        name = str(line["name"])
        suffix = Path(name).suffix
        if suffix not in XML_SUFFIXES and suffix != HDF_SUFFIX:
            return
        product, key = str(line["product"]), str(line["time"])
        given = line.get("facts")
        facts: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
        series, named = (product, str(line["stream"])), str(facts.get("calendar", ""))
        calendar = series_calendar(self._calendars.get(series, ""), named)
        self._calendars[series] = calendar
        if suffix == HDF_SUFFIX:
            # Only the products of this kind bring HDF5 to the driver.
            from burstlens.viz.kinds.vtk.hdf_file import Step, layout_of

            layout = layout_of(facts)
            if layout is None:
                return
            held = self._products.setdefault(product, _Product(facts))
            held.steps[key] = Step(name, time_value(key, self._start, calendar), layout)
        else:
            held = self._products.setdefault(product, _Product(facts))
            held.entries[key] = pvd_entry(key, name, start=self._start, calendar=calendar)
        held.attempts[key] = int(number(line.get("attempt")) or 0)
        self._grown.add(product)

    def write(self, *, force: bool = False) -> None:
        """Write, at most once a second, the series that have grown, and all of them when another
        attempt has begun. Raises OSError."""
        begin, segments = time.monotonic(), self._segments()
        stretches = [(one.attempt, one.begin) for one in segments.parts]
        if stretches != self._stretches:
            self._grown.update(self._products)
            self._stretches = stretches
        if not self._grown or (begin < self._next and not force):
            return
        for product in sorted(self._grown):
            self._write(product, self._products[product], segments)
        self._grown.clear()
        # A series of 10,000 frames takes longer to write: it must not eat the driver.
        took = time.monotonic() - begin
        self._next = begin + max(PERIOD_S, 50 * took)

    def _write(self, product: str, held: _Product, segments: Segments) -> None:
        """Write a series. One of which all is stale stays as it was: there is nothing to show
        instead yet."""
        stale = {key for key, of in held.attempts.items() if segments.is_stale(key, of)}
        shown = sorted(held.attempts.keys() - stale)
        if not shown:
            return
        series = f"{product}{HDF_SUFFIX if held.steps else '.pvd'}"
        if held.steps:
            from burstlens.viz.kinds.vtk.hdf_file import write_series

            write_series(self._folder / series, [held.steps[key] for key in shown])
        else:
            entries = [held.entries[key] for key in shown]
            write_whole(self._folder / series, pvd_text(entries), sync=False)
        self._write_script(product, series, held)

    def _write_script(self, product: str, series: str, held: _Product) -> None:
        path = self._folder / f"{product}.paraview.py"
        # Once: a person may have changed it since.
        if path.exists():
            return
        first = min((*held.entries, *held.steps))
        zero = time_zero(first, self._start)
        text = paraview_script(series, held.facts, zero, has_times=has_time(first))
        if text is None:
            return
        write_whole(path, text, sync=False)
