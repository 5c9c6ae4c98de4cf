"""JSON Schemas of the files of a run: a line of the journal, ``status.json``, ``run.json``."""

from __future__ import annotations

from typing import Any

import msgspec

from burstlens.core.run.events import AnyEvent
from burstlens.core.run.facts import RunFacts
from burstlens.core.run.record import FORMAT
from burstlens.core.run.status_file import StatusFile

_FILES: dict[str, tuple[str, Any]] = {
    "journal": ("A line of journal.jsonl", AnyEvent),
    "status": ("status.json", StatusFile),
    "run": ("run.json", RunFacts),
}
NAMES = tuple(_FILES)


def file_schema(name: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the file: ``journal``, ``status`` or ``run``. Keys that it
    does not name are allowed: a newer Burstlens may write more."""
    title, kind = _FILES[name]
    made = msgspec.json.schema(kind)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{title} of a Burstlens run, format {FORMAT}",
        **made,
    }
