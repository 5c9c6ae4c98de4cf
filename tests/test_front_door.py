"""The front door: the files that a newcomer reads first agree with the project they describe."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from burstlens import __version__

ROOT = Path(__file__).parents[1]


DOCUMENTS = ("CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "CHANGELOG.md")
LINK = re.compile(r"\]\(([^)\s]+)\)")


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
    assert project["tool"]["hatch"]["version"]["path"] == "src/burstlens/core/version.py"


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


def anchors(text: str) -> set[str]:
    """The anchors that code hosts make from headings."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_to_files_and_headings_of_the_tree(name: str):
    links = [link for link in LINK.findall(text_of(name)) if "://" not in link]
    for link in links:
        path, _, anchor = link.partition("#")
        assert (ROOT / path).exists(), link
        assert not anchor or anchor in anchors(text_of(path)), link


def test_files_and_folders_that_contributing_names_are_there():
    named = re.findall(
        r"`((?:src|workflows|viz|stagers|cluster_configs|tests|docs)/[^`\s<]*)`",
        text_of("CONTRIBUTING.md"),
    )
    missing = [name for name in named if "NNNN" not in name and not list(ROOT.glob(name))]
    assert named
    assert missing == []


def test_hooks_run_only_what_lies_in_the_environment_of_the_project():
    text = text_of(".pre-commit-config.yaml")
    assert re.findall(r"- repo: (.*)", text) == ["local"]
    entries = {entry.split()[0] for entry in re.findall(r"entry: (.*)", text)}
    assert entries == {".venv/bin/ruff", ".venv/bin/mypy", "bash"}


def test_every_make_target_that_contributing_names_is_in_the_makefile():
    text = text_of("CONTRIBUTING.md")
    lines = re.findall(r"(?:`|^    )(?:\w+=\S+ )*make ([a-z][a-z -]*)", text, re.MULTILINE)
    named = {target for line in lines for target in line.split()}
    targets = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE))
    assert {"demo", "test", "release-check"} <= named
    assert named - targets == set()
