"""Stagers by name: those that ship, and those of installed packages."""

from __future__ import annotations

import functools

from burstlens.core.errors import SiteError
from burstlens.core.nearness import did_you_mean
from burstlens.stagers.base import Stager

ENTRY_POINTS = "burstlens.stagers"


@functools.cache
def stager(kind: str) -> Stager:
    """This process's stager of that kind: a built-in one, else that of an entry point.

    Raises SiteError with near names when there is none.
    """
    built_in = _built_in()
    return built_in[kind]() if kind in built_in else _added(kind, built_in)


def require_stager(kind: str) -> None:
    """Raise SiteError with near names when there is no stager of that kind."""
    built_in = _built_in()
    if kind not in built_in:
        _added(kind, built_in)


def _built_in() -> dict[str, type[Stager]]:
    from burstlens.stagers.datawarp import DataWarpStager
    from burstlens.stagers.posix import PosixStager

    return {
        "posix": PosixStager,
        "datawarp": DataWarpStager,
        "rabbit": PosixStager,  # a mounted file system; its copy offload is not used
    }


def _added(kind: str, built_in: dict[str, type[Stager]]) -> Stager:
    """The stager of an entry point."""
    from burstlens.core.plugins import plugins

    known = plugins(ENTRY_POINTS, "stager", Stager, built_in)  # type: ignore[type-abstract]
    if kind not in known:
        raise SiteError(f"there is no stager {kind!r}{did_you_mean(kind, {*built_in, *known})}")
    return known[kind]
