"""What the frames of a run lack for products that somebody wants to add to it."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any

from burstlens.core.errors import BurstlensError
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import facts_of
from burstlens.core.run.history import History
from burstlens.workflows.attach.refitting import refitted
from burstlens.workflows.driver.addition import Added, table_of
from burstlens.workflows.driver.look import look_of
from burstlens.workflows.recipe.findings import ERROR
from burstlens.workflows.recipe.layers import Source
from burstlens.workflows.recipe.load import check
from burstlens.workflows.recipe.misfits import misfits


def lacks_of(run: RunDir, history: History, added: Added) -> list[str]:
    """A sentence for each of the products that cannot be made of the run's frames.

    Of a folder that is looked at its newest frames are held against them, else what the model's
    inputs say of frames. Nothing where neither can be seen from here. Raises BurstlensError.
    """
    names = {product.name for product, _ in added}
    table = table_of(run, history)
    standing = [one for one in table["product"] if one["name"] not in names]
    table |= {"product": [*standing, *(dict(one) for _, one in added)]}
    attached = facts_of(run).attached
    if attached:
        return _of_newest(look_of(attached).path, run, history, table, names)
    recipe, _ = check(Source(run.id, run.files / "recipe.toml", table))
    if not recipe.inputs.is_dir():
        return []
    found = misfits(recipe, recipe.model.facts(recipe.inputs).streams)
    # A path is "product.NAME", or a key of that table.
    return [
        one.text for one in found
        if one.level == ERROR and one.path.split(".")[:1] == ["product"]
        and one.path.split(".")[1] in names
    ]  # fmt: skip


def _of_newest(
    path: str, run: RunDir, history: History, table: dict[str, Any], names: Collection[str]
) -> list[str]:
    files: dict[str, str] = {}
    for (stream, _), (_, file, _, _) in sorted(history.fingerprints.items(), reverse=True):
        if stream not in files and os.path.isfile(os.path.join(path, file)):
            files[stream] = file  # the newest one that is there
    if not files:
        return []
    try:
        fitted = refitted(path, str(run.files), table, files)
    except BurstlensError:  # a file that cannot be read now lacks nothing
        return []
    gone = set(names) - {one["name"] for one in fitted.products}
    return [text for text in fitted.left_out if text.partition(":")[0] in gone]
