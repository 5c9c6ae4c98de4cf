"""The front door: the files that a newcomer reads first agree with the project they describe."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from burstlens import __version__

ROOT = Path(__file__).parents[1]


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def cited(key: str) -> str:
    """The value of a key of CITATION.cff that stands in one line."""
    found = re.search(rf"^{key}: (.*)$", text_of("CITATION.cff"), re.MULTILINE)
    assert found, key
    return found[1].strip('"')


def test_the_package_alone_states_the_version_that_is_built():
    project = tomllib.loads(text_of("pyproject.toml"))
    assert "version" not in project["project"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/burstlens/__init__.py"


def test_the_citation_agrees_with_the_package_and_the_changelog():
    assert cited("version") == __version__
    assert f"## {__version__} - {cited('date-released')}\n" in text_of("CHANGELOG.md")


def test_the_citation_agrees_with_the_metadata_of_the_package():
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    keywords = re.findall(r"^  - (?!name)(.*)$", text_of("CITATION.cff"), re.MULTILINE)
    assert keywords == project["keywords"]
    assert cited("license") == project["license"]


def test_the_changelog_begins_with_what_is_unreleased_and_then_the_newest_release():
    headings = re.findall(r"^## (\S+)", text_of("CHANGELOG.md"), re.MULTILINE)
    assert headings[:2] == ["Unreleased", __version__]
