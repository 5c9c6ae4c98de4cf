"""What was recognised in a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class StreamFound:
    """A family of files: its glob and the name that comes last, both relative to the folder;
    ``files`` is their number, ``newest`` None where there are none yet."""

    name: str
    pattern: str
    files: int
    newest: str | None


@dataclass(frozen=True, slots=True)
class Found:
    """The model and its files.

    ``settings`` are keys of ``[simulation]`` for its adapter, without ``model``, ``inputs`` and
    the program that starts it. ``reason`` says in one line what the folder was taken for and why,
    ``passed_over`` what else of netCDF lies there, one short remark each.
    """

    model: str
    settings: Mapping[str, Any]
    reason: str
    streams: tuple[StreamFound, ...]
    passed_over: tuple[str, ...]
