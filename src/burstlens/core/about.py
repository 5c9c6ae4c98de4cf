"""``--help`` and ``--version`` of the modules that Burstlens starts as separate programs."""

from __future__ import annotations

import sys

from burstlens.core.version import __version__


def answer(doc: str | None) -> None:
    """If asked for, print a module's docstring or the version and exit with 0."""
    words = set(sys.argv[1:])
    if words & {"-h", "--help"}:
        print((doc or "").strip())
    elif "--version" in words:
        print(f"burstlens {__version__}")
    else:
        return
    sys.exit()
