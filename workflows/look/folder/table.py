"""The recipe of an attached run, as a table and as a file to start one's own recipe from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from burstlens.core.printable import printable
from burstlens.core.toml.written import lines, written
from burstlens.workflows.look.folder.found import Found
from burstlens.workflows.look.folder.source import simulation
from burstlens.workflows.look.folder.wanted import Shown

_HEAD = """\
# A recipe that launches this model and shows what `burstlens look` shows of {folder}.
# `burstlens check` compares it with its inputs; docs/recipe.md describes every key.
# Taken for {reason}
"""
_COMMAND = """\
# What starts your model, in its folder: the program and its arguments; no shell reads them. Until
# you put it here, a run ends at once with this message.
"""
_JOB = """\
# Its job:
nodes = 1
ranks_per_node = 1
walltime = "01:00:00"
"""
_LOG = """\
# Patterns for what the program prints show progress, complete files and the end:
# progress = 'step \\d+, t = (?P<elapsed>[\\d.]+) s of (?P<total>[\\d.]+) s'
# written = 'wrote (?P<file>\\S+)' # printed after the file is closed
# done = '^finished$' # exit status 0 without it is a failure
"""
_NO_PRODUCT = """\
# [[product]]
# name = "field"
# kind = "map"
# variable = "a 2-D variable of the files"
"""
_KEEP = """\
[stage_out]
keep = [] # globs of raw files to bring home, such as "*.nc"; logs and settings always are
"""


def recipe_table(folder: Path, found: Found, shown: Shown) -> dict[str, Any]:
    """A complete recipe without parameters. Of a model whose program is not known it has a
    placeholder for ``command``."""
    table: dict[str, Any] = {
        "title": f"A look at {printable(folder.absolute().name) or folder.absolute()}",
        "simulation": simulation(folder, found),
    }
    if shown.products:
        table["product"] = [dict(product) for product in shown.products]
    if shown.guards:
        table["guard"] = [dict(guard) for guard in shown.guards]
    return table


def write_recipe(folder: Path, found: Found, shown: Shown) -> str:
    """The same as TOML with comments, for ``look --write``: it passes ``burstlens check`` if the
    folder has what the model needs to start."""
    return "\n".join(_parts(folder, found, shown))


def _parts(folder: Path, found: Found, shown: Shown) -> Iterator[str]:
    table = recipe_table(folder, found, shown)
    where, reason = printable(str(folder.absolute())), printable(found.reason)
    yield _HEAD.format(folder=where, reason=reason) + f"title = {written(table['title'])}\n"
    model = table["simulation"]
    yield "[simulation]"
    yield f"model = {written(model.pop('model'))}"
    yield "# All that the model reads; output of earlier runs that lies there is left behind."
    yield f"inputs = {written(model.pop('inputs'))}"
    if "command" in model:
        yield f"{_COMMAND}command = {written(model.pop('command'))}"
    yield from lines(model)
    yield _JOB + (_LOG if found.model == "command" else "")
    yield _KEEP
    for text in shown.left_out:
        yield f"# Left out: {printable(text)}"
    if shown.left_out:
        yield ""
    if shown.base is not None:
        yield f"# Files that the products name lie in {shown.base}: copy them beside this file.\n"
    if not shown.products:
        yield _NO_PRODUCT
    for key in ("product", "guard"):
        for entry in table.get(key, []):
            yield f"[[{key}]]"
            yield from lines(entry)
            yield ""
