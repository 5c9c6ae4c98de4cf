"""Events of a journal that name only what a test is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, get_type_hints

import msgspec

from burstlens.core.run import events as ev

_BLANK: dict[Any, Any] = {str: "x", int: 0, float: 0.0, dict: {}, tuple: (0.0, 1.0)}
_STAGED = {"incoming": ".incoming/x", "name": "x", "bytes": 0, "crc32": 0}


def event(value: Mapping[str, Any]) -> ev.Event:
    """The event of these JSON values; fields that it needs and that are missing are blank."""
    kind = ev.EVENTS[value["event"]]
    hints = get_type_hints(kind)
    blank = {
        field.name: _BLANK[getattr(hints[field.name], "__origin__", hints[field.name])]
        for field in msgspec.structs.fields(kind)
        if field.required
    }
    full = {**blank, **value}
    if isinstance(full.get("state"), dict):
        full["state"] = _STAGED | full["state"]
    return ev.event_of(full)


def events(values: Iterable[Mapping[str, Any]]) -> list[ev.Event]:
    """As :func:`event`, of each."""
    return [event(value) for value in values]
