"""``python -m burstlens.stagers.emulator [PREFIX]``: build the emulator, say where it is."""

from __future__ import annotations

import sys
from pathlib import Path

from burstlens.about import answer
from burstlens.errors import SiteError
from burstlens.stagers.emulator import build, cache


def main(words: list[str]) -> int:
    """Build into the prefix given, else into the user's cache; prints the library's path."""
    if len(words) > 1 or any(word.startswith("-") for word in words):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        print(build(Path(words[0]) if words else cache()))
    except SiteError as error:
        print(f"burstlens: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    answer(__doc__)
    sys.exit(main(sys.argv[1:]))
