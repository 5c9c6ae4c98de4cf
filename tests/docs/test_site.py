"""The pages of docs/ as a site: all in the navigation, with valid links and generated parts."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

import burstlens
from burstlens.clients.cli import program
from burstlens.workflows.recipe.schema import recipe_schema

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
MARKUP_OF_A_THEME = re.compile(r"^(!!!|\?\?\?|=== \"|:::|---$)|\{:? ?[.#][\w-]+", re.MULTILINE)


def tool(name: str) -> ModuleType:
    """A module of tools/, which finds the others beside it as its program does."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


site = tool("docs_site")
reference = tool("docs_reference")


def leaves(entry: Any) -> list[str]:
    """The pages of a part of the navigation."""
    if isinstance(entry, str):
        return [entry]
    return [page for part in (entry.values() if isinstance(entry, dict) else entry)
            for page in leaves(part)]  # fmt: skip


def prose(text: str) -> str:
    """A page without its code."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`|^ {4}.*$", "", text, flags=re.MULTILINE)


def test_each_page_stands_once_in_the_navigation_and_nothing_else_does():
    nav = leaves(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])
    places = site.places()
    ours = [str(places[page].relative_to(site.OUT)) for page in PAGES]
    others = [page for page in nav if page.startswith("repository/")]
    assert sorted(nav) == sorted(ours + others)
    assert {site.OUT / page for page in others} <= set(places.values())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_the_links_of_a_page_lead_to_files_of_the_site(page):
    site.moved(page.read_text(), page, site.places())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_a_page_is_plain_markdown_with_one_title(page):
    text = prose(page.read_text())
    assert MARKUP_OF_A_THEME.search(text) is None
    assert len(re.findall(r"^# ", text, re.MULTILINE)) == 1


def test_a_link_is_rewritten_to_where_the_site_has_its_file():
    page = DOCS / "tutorials" / "first-run.md"
    text = (
        "[a](../recipe.md#crop) [b](../../CHANGELOG.md) [c](../decisions) [d](https://e.org/f.md)"
    )
    assert site.moved(text, page, site.places()) == (
        "[a](../recipe.md#crop) [b](../repository/CHANGELOG.md) "
        "[c](../decisions/README.md) [d](https://e.org/f.md)"
    )


@pytest.mark.parametrize(
    ("link", "why"), [("nowhere.md", "does not exist"), ("../pyproject.toml", "PUBLISHED")]
)
def test_a_link_that_the_site_cannot_follow_is_refused_by_name(link, why):
    with pytest.raises(ValueError, match=f"docs/recipe.md links to {link}, .*{why}"):
        site.moved(f"[here]({link})", DOCS / "recipe.md", site.places())


def test_each_generated_part_has_a_page():
    marks = re.findall(r"<!-- generated: (.+?) -->\n", "".join(map(Path.read_text, PAGES)))
    assert sorted(marks) == sorted(reference.GENERATED)


def test_the_key_reference_has_each_key_with_its_description():
    text = reference.recipe_keys()
    schema = recipe_schema()
    tables = {name: one for name, one in schema["$defs"].items() if name.endswith(".whole")}
    assert tables
    for name, table in tables.items():
        for key, one in table["properties"].items():
            if one.get("deprecated") or "const" in one:
                continue
            assert f"| `{key}` |" in text, (name, key)
            assert " ".join(one["description"].split()).replace("|", "\\|") in text, (name, key)
    assert "| `width_px` | integer, pixels | `900` | Width of the picture, in pixels. |" in text
    assert "| `variable` | text | required |" in text


def test_the_command_reference_has_each_command_and_option():
    text = reference.commands()
    for name, command in program().commands.items():
        assert (f"## burstlens {name}\n" in text) is not command.hidden
    assert "| `--set KEY=VALUE` |" in text
    assert "[default: last]" in text


@pytest.mark.parametrize("name", sorted(burstlens._PUBLIC))
def test_the_docstrings_of_a_public_name_are_markdown(name):
    value = getattr(burstlens, name)
    own = vars(value).items() if inspect.isclass(value) else ()
    texts = [value.__doc__, *(part.__doc__ for key, part in own if not key.startswith("_"))]
    assert not [text for text in texts if re.search(r":\w+:`", text or "")]


def test_the_python_reference_has_each_public_name():
    assert re.findall(r"heading: (\w+)", reference.python_names()) == sorted(
        burstlens._PUBLIC, key=str.lower
    )


def test_the_types_that_the_page_has_of_a_status_are_those_of_the_file():
    types = tool("page_types")
    assert types.PAGE.read_text(encoding="utf-8") == types.text(), "run tools/page_types.py"
