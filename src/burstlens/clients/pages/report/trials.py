"""A tuning in its report: a row for each trial, and the picture that the tuning has drawn."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass

from PIL import Image

from burstlens.clients.opened.picture import read_picture
from burstlens.clients.pages.report.gallery import data_uri
from burstlens.core.errors import RunError
from burstlens.core.run.directory import RunDir
from burstlens.core.run.job_record import TrialRecord

HEADS = ("trial", "phase", "why", "output#", "load#", "values, or what went wrong")
"""Of the rows; one that ends with # is above numbers."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture as a ``data:`` URI, with its width and height in pixels."""

    uri: str
    size: tuple[int, int]


def trial_rows(trials: Mapping[str, TrialRecord]) -> list[tuple[str, ...]]:
    """The trials in the order in which they ran, in the columns of ``HEADS``."""
    return [_row(name, record) for name, record in trials.items()]


def drawn(run: RunDir) -> Drawn | None:
    """The tuning's picture; None where there is none that can be read."""
    try:
        data = read_picture(run.path / "tuning" / "tuning.png")
        with Image.open(io.BytesIO(data)) as image:
            image.load()
            return Drawn(data_uri(data, "image/png"), image.size)
    except (RunError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


def _row(name: str, record: TrialRecord) -> tuple[str, ...]:
    from burstlens.workflows.tuning.options import configuration_of

    begun, ended = record.submitting, record.ended
    values = configuration_of(begun.values).text() if begun.values else "the recipe as it is"
    what, took, load = values, "", ""
    if ended is not None:
        done = ended.outcome == "done"
        took = f"{sum((ended.seconds or {}).values()):.4g} s" if done else ended.outcome
        load = "" if ended.load is None else f"{ended.load:.1f}"
        what += "" if done or not ended.message else f": {ended.message}"
    return name.rpartition("-")[2], begun.phase, begun.origin, took, load, what
