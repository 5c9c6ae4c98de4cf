"""Put together the folder of Markdown that the documentation site is built from.

    python tools/docs_site.py

``build/docs`` gets ``docs/``, the files of ``PUBLISHED`` below ``repository/``, and in the place of
each ``<!-- generated: NAME -->`` what ``docs_reference.py`` makes. Links keep their meaning: they
are written for the repository, where a code host follows them, and are rewritten for that folder.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from docs_reference import GENERATED

ROOT = Path(__file__).parents[1]
OUT = ROOT / "build" / "docs"
PUBLISHED = (
    "ARCHITECTURE.md", "CHANGELOG.md", "bench/RESULTS.md", "notebooks/README.md",
    "notebooks/*.ipynb", "workflows/recipes/wrf-live.toml",
)  # fmt: skip
"""Globs of files outside of docs/ that pages may link to."""
_LINK = re.compile(r"(?<=\]\()([^)\s:#]+)((?:#[^)\s]*)?)(?=\))")
_MARK = re.compile(r"<!-- generated: (.+?) -->\n")


def places() -> dict[Path, Path]:
    """Each file of the site: where it stands in the repository, and where in ``OUT``."""
    docs = ROOT / "docs"
    found = {
        path: OUT / path.relative_to(docs)
        for path in sorted(docs.rglob("*"))
        if path.is_file() and path.suffix in {".md", ".png", ".css", ".svg"}
    }
    for pattern in PUBLISHED:
        for path in sorted(ROOT.glob(pattern)):
            found[path] = OUT / "repository" / path.relative_to(ROOT)
    return found


def moved(text: str, page: Path, site: Mapping[Path, Path]) -> str:
    """A page with its links as they are from its place in the site; a folder's is its README.

    Raises ValueError for a link to no file, and for one to a file that the site does not have.
    """

    def link(match: re.Match[str]) -> str:
        target = Path(os.path.normpath(page.parent / match[1]))
        if target.is_dir():
            target /= "README.md"
        if target not in site:
            why = (
                "which the site does not have: add it to PUBLISHED in tools/docs_site.py"
                if target.exists()
                else "which does not exist"
            )
            raise ValueError(f"{page.relative_to(ROOT)} links to {match[1]}, {why}")
        return os.path.relpath(site[target], site[page].parent) + match[2]

    return _LINK.sub(link, text)


def filled(text: str, generated: Mapping[str, Callable[[], str]] = GENERATED) -> str:
    """A page with its generated parts."""
    return _MARK.sub(lambda mark: generated[mark[1]](), text)


def main() -> None:
    site = places()
    shutil.rmtree(OUT, ignore_errors=True)
    for path, target in site.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            target.write_text(filled(moved(path.read_text(), path, site)))
        else:
            shutil.copyfile(path, target)


if __name__ == "__main__":
    try:
        main()
    except ValueError as error:
        sys.exit(f"docs_site: {error}")
