"""The names in a folder, by one listing of it: nothing is opened and only links may be followed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from burstlens.core.errors import AttachError
from burstlens.core.printable import printable

MOST_FOLDERS = 64
"""At most so many folders of the first level are listed."""


@dataclass(frozen=True, slots=True)
class Listing:
    """``names`` of files, in any order. ``odd`` are those with control characters, which are left
    out. ``folders`` are the real folders, sorted; ``links`` may lead to files or folders and are
    among the names too."""

    names: tuple[str, ...]
    folders: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    odd: tuple[str, ...] = ()


def listed(folder: Path) -> Listing:
    """The names in a folder. Raises :class:`AttachError` if it cannot be listed."""
    names, folders, links, odd = list[str](), list[str](), list[str](), list[str]()
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if not name.isprintable():  # neither are lone surrogates
                    odd.append(printable(name))
                elif entry.is_symlink():
                    names.append(name)
                    links.append(name)
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(name)
                elif entry.is_file(follow_symlinks=False):
                    names.append(name)
    except NotADirectoryError:
        raise AttachError(f"{folder} is a file: name the folder that the model writes to") from None
    except FileNotFoundError:
        raise AttachError(f"there is no folder {folder}") from None
    except OSError as error:
        raise AttachError(f"{folder} cannot be listed: {error.strerror}") from error
    return Listing(tuple(names), tuple(sorted(folders)), tuple(sorted(links)), tuple(odd))


def below(folder: Path, top: Listing, wanted: Sequence[str] = ()) -> Iterator[tuple[str, Listing]]:
    """The folders of the first level that can be listed, with their names, hidden ones apart.

    ``wanted``: only these. Links are followed; a folder that is reached twice, and one that holds
    ``folder`` itself, counts once.
    """
    links = [name for name in top.links if "." not in name][:MOST_FOLDERS]
    names = [name for name in (*top.folders, *links) if not name.startswith(".")]
    names = [name for name in names if name in wanted] if wanted else names
    own = os.path.realpath(folder)
    seen = {own}
    for name in names[:MOST_FOLDERS]:
        real = os.path.realpath(folder / name)
        if real in seen or own.startswith(real.rstrip("/") + "/") or not os.path.isdir(real):
            continue
        seen.add(real)
        try:
            yield name, listed(folder / name)
        except AttachError:
            continue  # unreadable: somebody else's
