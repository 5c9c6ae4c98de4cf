"""docs/recipe.md names every key that a recipe may hold."""

import re
from pathlib import Path

from burstlens.workflows.recipe.schema import recipe_schema

TEXT = (Path(__file__).parents[2] / "docs" / "recipe.md").read_text()


def keys(node):
    if isinstance(node, dict):
        properties = node.get("properties")
        if isinstance(properties, dict):
            yield from properties
        for value in node.values():
            yield from keys(value)
    elif isinstance(node, list):
        for value in node:
            yield from keys(value)


def test_every_key_of_the_schema_is_explained():
    named = set(re.findall(r"[a-z_]+", TEXT))
    missing = {key for key in keys(recipe_schema()) if key not in named}
    assert missing == set()
