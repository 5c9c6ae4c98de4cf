"""What ``burstlens io --plan RECIPE`` prints, through an app of the test's own."""

from __future__ import annotations

import json
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from burstlens.clients.cli.buffer_worth import show_worth
from burstlens.core.errors import RecipeError, SiteError
from burstlens.workflows.buffer_worth.comparison import buffer_worth

app = typer.Typer()


@app.command()
def plan(
    recipe: str,
    site: str | None = None,
    settings: Annotated[list[str] | None, typer.Option("--set")] = None,
    as_json: Annotated[bool, typer.Option("--json")] = False,
    frames: int | None = None,
) -> None:
    worth = buffer_worth(
        recipe, site, settings or [], frame_bytes=50 * 2**30, frames=frames, compute_s=3600.0
    )
    show_worth(worth, as_json=as_json)


def run(*words: str):
    return CliRunner().invoke(app, [*words, "--site", "shaheen2"])


def test_the_table_has_both_storages_and_the_sentences_their_numbers():
    done = run("io-btio", "--set", "nodes=32", "--set", "capacity=3 TiB", "--frames", "20")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == "io-btio on shaheen2: 20 frames of 50.0 GiB; 1 h 00 min of computing"
    assert "9 granules = 3,312 GiB on 9 DW nodes" in lines[1]
    starts = [line.split("  ")[0] for line in lines[3:7]]
    assert starts == [
        "storage", "parallel file system", "buffer, default hints", "buffer, tuned",
    ]  # fmt: skip
    assert 'from 7 buffer nodes on (buffer.capacity = "2576 GiB")' in done.stdout


def test_json_is_one_document_alone_on_stdout():
    done = run("io-btio", "--frames", "20", "--json")
    found = json.loads(done.stdout)
    assert found["output"]["frames"] == 20
    assert found["rows"][0]["storage"] == "parallel file system"
    assert found["rows"][2]["frame_s"] < found["rows"][1]["frame_s"]
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (("io-btio",), RecipeError, "--frames"),
        (("io-btoi", "--frames", "20"), RecipeError, "io-btio"),
        (("io-btio", "--frames", "20", "--site", "local"), SiteError, "buffer.node_rate"),
    ],
)
def test_what_is_missing_is_one_message_and_nothing_is_printed(words, error, message):
    done = CliRunner().invoke(app, ["--site", "shaheen2", *words])
    assert isinstance(done.exception, error)
    assert message in str(done.exception)
    assert done.stdout == ""
