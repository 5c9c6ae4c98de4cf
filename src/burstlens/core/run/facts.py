"""The facts of a run that never change: ``run.json``."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from burstlens.core.decode import Clock, Count, convert, record
from burstlens.core.durable import write_json
from burstlens.core.errors import RunError
from burstlens.core.run.directory import RunDir
from burstlens.core.run.record import read_record


class _Product(Struct):
    name: str
    kind: str


class _Table(Struct):
    """Keys of the recipe that readers rely on."""

    simulation: dict[str, Any] | None = None
    product: list[_Product] | None = None
    description: str | None = None


class RunFacts(Struct, frozen=True):
    """What a run was created with. ``table`` is the recipe as resolved, ``source`` its file.

    ``buffer_folder`` names the run's folder on the buffer, ``created`` is in Unix seconds,
    ``attached`` is None in a run that starts its model itself, else the ``path`` that the run looks
    at and the options of ``look``. ``tuning`` is None in a run that is no tuning, else its options.
    ``format``, ``burstlens`` and ``python`` say what wrote the
    file. A key that an older version has not written is None.
    """

    run: str | None = None
    buffer_folder: str | None = None
    title: str | None = None
    recipe: str | None = None
    source: str | None = None
    table: dict[str, Any] | None = None
    site: str | None = None
    created: Clock | None = None
    attached: dict[str, Any] | None = None
    tuning: dict[str, Any] | None = None
    host: str | None = None
    format: Count | None = None
    burstlens: str | None = None
    python: str | None = None

    def __post_init__(self) -> None:
        if self.table is not None:
            convert(self.table, _Table)


def facts_of(run: RunDir, *needed: str) -> RunFacts:
    """The facts in ``run.json``; those that are ``needed`` must be there. Raises RunError when they
    cannot be read."""
    then = "the run directory is damaged: restore it from a copy"
    facts = read_record(run.facts, RunFacts, then)
    if facts is None:
        raise RunError(f"{run.facts} is missing; this is not a complete run directory")
    for name in needed:
        if getattr(facts, name) is None:
            raise RunError(f'{run.facts}: "{name}" is missing; {then}')
    return facts


def write_facts(run: RunDir, facts: RunFacts) -> None:
    """Write ``run.json``. Raises OSError."""
    write_json(run.facts, record(facts))
