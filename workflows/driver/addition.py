"""Products that are added to a running run: the request to its driver, and its check."""

from __future__ import annotations

import getpass
import time
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from burstlens.core.durable import read_dropped, write_json
from burstlens.core.errors import RecipeError
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import facts_of
from burstlens.core.run.history import History
from burstlens.workflows.recipe.layers import Layer, Source
from burstlens.workflows.recipe.load import check
from burstlens.workflows.recipe.recipe import MadeProduct

PATTERN = "add-*.json"

Added = list[tuple[MadeProduct, Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Addition:
    """``[[product]]`` tables to add, as they stand in a recipe.

    ``all_frames``: make them of every frame that is still on the buffer, not only of later ones.
    ``file`` is the file that they were written in, which messages name.
    """

    products: tuple[Mapping[str, Any], ...]
    all_frames: bool = False
    user: str = ""
    file: str = ""

    def request(self, run: RunDir) -> Path:
        """Hand it to the run's driver, present or next; returns the file. Raises OSError."""
        run.control.mkdir(exist_ok=True)
        # Names sort in the order of the requests, so that two at once are taken in turn.
        path = run.control / f"add-{time.time_ns()}-{uuid.uuid4().hex}.json"
        write_json(path, asdict(self) | {"user": getpass.getuser()})
        return path


def read_addition(path: Path) -> Addition:
    """The request in a file that any user may have written. Raises RecipeError."""
    value = read_dropped(path) or {}
    products, all_frames = value.get("products"), value.get("all_frames")
    if not isinstance(products, list) or not isinstance(all_frames, bool):
        raise RecipeError(f"{path.name} is not a file that `burstlens add` writes")
    said = {key: str(value.get(key, "")) for key in ("user", "file")}
    return Addition(tuple(products), all_frames, **said)


def table_of(run: RunDir, history: History) -> dict[str, Any]:
    """The run's recipe with the products that were added to it. Raises RunError."""
    table: Any = facts_of(run, "table").table
    return {**table, "product": [*table.get("product", []), *_added(table, history)]}


def _added(table: Mapping[str, Any], history: History) -> list[Mapping[str, Any]]:
    first = {entry["name"] for entry in table.get("product", [])}
    return [entry for name, entry in history.added.items() if name not in first]


def check_addition(
    run: RunDir,
    history: History,
    addition: Addition,
    source: Path,
    layers: tuple[Layer, ...] = (),
) -> Added:
    """The products that are new, each with its table, checked as those of a recipe are.

    A product that the run makes already, key for key, is not a fault: it is new only if it is to
    be made of frames that were passed over so far. Raises RecipeError with all faults at once,
    ``source`` being the file to correct and ``layers`` its text, for the lines; RunError.
    """
    table = table_of(run, history)
    standing = table["product"]
    fresh = [entry for entry in addition.products if entry not in standing]
    merged = table | {"product": [*standing, *fresh]}
    recipe, _ = check(Source(run.id, source, merged, layers))
    made = {product.name: product for product in recipe.products}
    known = [
        entry
        for entry in addition.products
        if entry in standing and addition.all_frames and history.passed_over.get(entry["name"])
    ]
    return [(made[entry["name"]], entry) for entry in (*fresh, *known)]
