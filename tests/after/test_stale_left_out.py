"""Stale products are left out of what is kept of a run."""

from __future__ import annotations

import csv
import json

import pytest
from forked_case import SEGMENTS, ForkedRun, at
from typer.testing import CliRunner

from burstlens.clients.cli import app
from burstlens.clients.pages.cinema import write_database
from burstlens.clients.pages.report.gallery import gallery
from burstlens.clients.pages.report.page import write_report
from burstlens.core.run import events as ev
from burstlens.core.run.history_file import history_of
from burstlens.core.run.journal import Journal


@pytest.fixture
def forked(tmp_path):
    return ForkedRun(tmp_path / "runs")


def run(*words):
    return CliRunner().invoke(app, list(map(str, words)))


def test_a_movie_leaves_stale_pictures_out_and_says_how_many(forked, tmp_path):
    out = tmp_path / "t2.apng"
    [made] = json.loads(run("movie", forked.run.path, "t2", "-o", out, "--json").stdout)
    assert (made["frames"], made["stale"], made["missing"]) == (5, 1, [])
    assert "1 stale picture left out" in run("movie", forked.run.path, "t2", "-o", out).stdout
    forked.publish(5, 2)
    [made] = json.loads(run("movie", forked.run.path, "t2", "-o", out, "--json").stdout)
    assert (made["frames"], made["stale"]) == (6, 0)
    forked.update_status(segments=[{"attempt": 3}])
    assert run("movie", forked.run.path, "t2", "-o", out).exit_code == 1


def test_a_cinema_database_leaves_stale_products_out(forked, tmp_path):
    made = write_database(forked.view, tmp_path / "it.cdb")
    assert (made.rows, made.files) == (5, 5)
    with (tmp_path / "it.cdb" / "data.csv").open(newline="") as stream:
        assert list(csv.DictReader(stream))[-1]["valid_time"] == "2005-08-28 04:00:00 UTC"


def words_of(page: str, heading: str) -> list[str]:
    """The cells of the table under a heading, without tags."""
    table = page.partition(f"<h2>{heading}</h2>")[2].partition("</table>")[0]
    cells = (piece.partition("</td>")[0] for piece in table.split("<td")[1:])
    return [cell.partition(">")[2] for cell in cells]


def test_a_report_has_the_segments_and_leaves_stale_products_out(forked, tmp_path):
    made = write_report(forked.view, tmp_path / "it.html")
    page = made.path.read_text()
    fork = "2005-08-28 03:00:00 UTC"
    assert words_of(page, "Attempts of the model") == [
        *("1", "4711", "the beginning", fork, "failed", "", ""),
        *("2", "4712", fork, "", "", "", ""),
    ]
    assert made.pictures == 1 + 5  # the newest large, all five small
    assert "2005-08-28 05:00:00 UTC" not in page
    assert words_of(page, "Products")[2:4] == ["5", "0"]
    assert "Without 1 stale product," in page
    assert "attempt 1" not in page  # the table has it, not the facts too


def test_a_report_of_a_run_in_one_piece_has_no_table_of_attempts(forked, tmp_path):
    for segments in ({}, {"segments": SEGMENTS[:1]}):
        forked.update_status(**segments)
        page = write_report(forked.view, tmp_path / "it.html").path.read_text()
        assert "Attempts of the model" not in page


def test_the_newest_picture_of_a_report_is_the_newest_that_counts(forked):
    entries = [entry for entry in forked.view.products["t2"].entries if not entry.stale]
    [series] = gallery(forked.run.products, entries)
    assert series.newest.entry.time == at(4)


def test_the_report_counts_products_that_were_computed_again_to_the_same_bytes(tmp_path):
    made = ForkedRun(tmp_path)
    journal = Journal(made.run.journal, 1)
    frame = {"product": "t2", "stream": "d01", "time": at(4), "attempt": 2, "name": "t2/it.png"}
    journal.append(ev.ProductKept(**frame, uuid="1", incoming="any", bytes=1, crc32=1))
    journal.close()
    assert history_of(made.run.journal).kept["t2"] == 1
    write_report(made.view, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "1 product kept: a later attempt of the model has computed the same bytes again" in text
