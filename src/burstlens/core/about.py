"""``--help`` and ``--version`` of the modules that Burstlens starts as programs of their own."""

from __future__ import annotations

import sys

from burstlens.core.version import __version__


def answer(doc: str | None) -> None:
    """Print a module's docstring or the version, and exit with 0, where either was asked for."""
    words = set(sys.argv[1:])
    if words & {"-h", "--help"}:
        print((doc or "").strip())
    elif "--version" in words:
        print(f"burstlens {__version__}")
    else:
        return
    sys.exit()
