"""Imports Parsl without SQLAlchemy: the module to import before it.

Parsl's monitoring alone needs SQLAlchemy, Burstlens uses none of it, and where it is installed, as
with ObsPy, each process of a run that imports Parsl would spend a third of that import on it
(docs/decisions/0003-parsl.md). Parsl works without it.
"""

from __future__ import annotations

import sys

_UNUSED = "sqlalchemy"

if _UNUSED not in sys.modules:
    # None makes an import of it fail.
    sys.modules[_UNUSED] = None  # type: ignore[assignment]
    try:
        import parsl  # noqa: F401
    finally:
        del sys.modules[_UNUSED]
