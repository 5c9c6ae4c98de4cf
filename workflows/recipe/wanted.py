"""What a recipe needs of its model's output, and remarks on what never came."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from fnmatch import fnmatch
from heapq import nlargest
from pathlib import Path
from typing import TYPE_CHECKING

from burstlens.workflows.models.base import SIMULATION_LOG, Model
from burstlens.workflows.models.inputs import matches

if TYPE_CHECKING:
    from burstlens.workflows.recipe.recipe import Recipe

NEAR = 3
"""Number of names shown of files that were there instead."""
MOST_COMPARED = 2000


@dataclass(frozen=True, slots=True)
class Wanted:
    """What should have come. ``streams`` are those without a frame, each with its users
    (``product map, guard wind``); ``""`` stands for any stream. ``keep`` are globs."""

    keep: tuple[str, ...] = ()
    streams: Mapping[str, str] | None = None


def wanted(recipe: Recipe, seen: Collection[str]) -> Wanted:
    """What the recipe needs; of streams only those that are not in ``seen``."""
    main = recipe.model.main_stream(recipe.inputs) or ""
    found = defaultdict[str, list[str]](list)
    for product in recipe.products:
        found[product.common.stream or main].append(f"product {product.name}")
        for stream in product.kind.wants(product.options).beside:
            found[stream].append(f"product {product.name}")
    for guard in recipe.guards:
        if guard.of_streams:
            found[guard.stream or main].append(f"guard {guard.called}")
    absent = {
        stream: ", ".join(dict.fromkeys(who))
        for stream, who in found.items()
        if not (stream in seen if stream else seen)
    }
    return Wanted(recipe.stage_out.keep, absent)


def remarks(what: Wanted, base: Path, model: Model, output: Path) -> list[str]:
    """One sentence on each stream or file that never came: where it was looked for, and what was
    there. ``base`` is the model's folder, ``output`` where kept files are."""
    model = model.configured(base)
    there = _files(base)
    mine = [name for name in there if not matches(name, (*model.keep_patterns, SIMULATION_LOG))]
    folders = model.facts(base).folders
    places = " and ".join(str(base / folder) for folder in folders)
    home = _files(output)
    said = []
    for stream, who in (what.streams or {}).items():
        which = f"of stream {stream} " if stream else ""
        said.append(
            f"no frame {which}came ({who}); it was looked for in {places}: {_near(stream, mine)}"
        )
    for pattern in what.keep:
        if not any(fnmatch(name, pattern) for name in (*there, *home)):
            near = _near(pattern, mine)
            said.append(f"stage_out.keep: no file matches {pattern!r} in {base}: {near}")
    return said


def with_remarks(message: str, said: Sequence[str]) -> str:
    """A run's message with such sentences. One that repeats what the message ends with only adds
    where it was looked for."""
    texts = list(filter(None, [message, *said]))
    if len(said) == 1 and said[0].startswith("no frame "):
        repeated, _, where = said[0].partition(" (")
        if message.endswith(repeated):
            texts[1] = where.partition("; ")[2]
    return "; ".join(texts)


def _near(wish: str, names: Sequence[str]) -> str:
    """What was there, the most similar names first."""
    if not names:
        return "the model left no file there but logs"

    def alike(name: str) -> float:
        return SequenceMatcher(None, wish, name).ratio()

    near = nlargest(NEAR, names[:MOST_COMPARED], key=alike)
    more = f" and {len(names) - len(near)} more" if len(names) > len(near) else ""
    return f"there are {', '.join(near)}{more}"


def _files(folder: Path) -> list[str]:
    """The files below, by relative name, without links, which lead to inputs."""
    return [
        os.path.relpath(full, folder)
        for path, _, files in os.walk(folder)
        for full in (os.path.join(path, name) for name in sorted(files))
        if not os.path.islink(full)
    ]
