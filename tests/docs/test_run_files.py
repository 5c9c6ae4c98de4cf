"""What the documentation says of a run's files holds: every field is named, every file fits."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from burstlens.clients.cli import app
from burstlens.core.run.events import EVENTS
from burstlens.core.run.schema import NAMES, file_schema

ROOT = Path(__file__).parents[2]
RUNS = sorted(path for path in (ROOT / "tests" / "data" / "runs").iterdir() if path.is_dir())
PAGE = (ROOT / "docs" / "journal.md").read_text()
OF_EVERY_LINE = {"t", "driver"}


def rows() -> dict[str, str]:
    """The text on the fields of each event, from the table of docs/journal.md."""
    found: dict[str, str] = {}
    events = PAGE.partition("## The index")[0]
    for names, text in re.findall(
        r"^\| ([a-z.]+(?:, [a-z.]+)*) \| (.*?) ?\|$", events, re.MULTILINE
    ):
        for name in names.split(", "):
            found[name] = text
    del found["event"]  # the head of the table
    return found


def test_the_page_has_every_event_and_no_other():
    assert set(rows()) == set(EVENTS)


@pytest.mark.parametrize("name", EVENTS)
def test_the_page_names_every_field_of_an_event(name):
    text = rows()[name]
    fields = set(EVENTS[name].__struct_fields__) - OF_EVERY_LINE
    assert {field for field in fields if not re.search(rf"\b{field}\b", text)} == set()


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_valid_and_printed(name):
    jsonschema.Draft202012Validator.check_schema(file_schema(name))
    said = CliRunner().invoke(app, ["schema", name])
    assert json.loads(said.output) == file_schema(name)


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_files_that_were_written_fit_their_schemas(run):
    for name, file in (("status", "status.json"), ("run", "run.json")):
        jsonschema.validate(json.loads((run / file).read_text()), file_schema(name))
    line = jsonschema.Draft202012Validator(file_schema("journal"))
    for text in (run / "journal.jsonl").read_text().splitlines():
        line.validate(json.loads(text))
