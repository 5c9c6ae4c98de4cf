"""``burstlens io``: terminal, JSON, page, faults."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "data" / "io"
WRF = DATA / "mpiio_stats_wrf.txt"
HINTS = DATA / "romio_print_hints.txt"

pytestmark = pytest.mark.integration


def test_one_log_is_explained_in_the_terminal(burstlens):
    done = burstlens("io", str(WRF))
    assert (done.returncode, done.stderr) == (0, "")
    assert "1. cb_nodes 8 or 16 (it must divide the number of ranks)" in done.stdout
    assert "because data send is 78 % of the time, with 4 aggregators" in done.stdout
    assert re.search(r"writes of one stripe's size +14\.3 %", done.stdout)
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_two_logs_are_laid_side_by_side(burstlens):
    done = burstlens("io", str(WRF), str(HINTS))
    assert done.returncode == 0
    assert re.search(r"^aggregators +4 +- +-$", done.stdout, re.MULTILINE)
    assert "Try (1: mpiio_stats_wrf.txt):" in done.stdout
    assert "Try (2: romio_print_hints.txt):" in done.stdout


def test_json_is_one_document_alone_on_standard_output(burstlens, tmp_path):
    done = burstlens("io", str(WRF), "--json", "--html", str(tmp_path / "io.html"))
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert found["html"] == str(tmp_path / "io.html")
    assert found["logs"][0]["advice"][0]["hints"] == {"cb_nodes": ["8", "16"]}
    assert (tmp_path / "io.html").stat().st_size > 20_000


@pytest.mark.slow
def test_a_darshan_log_in_each_form(burstlens, tmp_path):
    pytest.importorskip("darshan", reason="pip install 'burstlens[tuning]'")
    logs = [str(DATA / f"btio_{one}.darshan") for one in ("full", "simple")]
    done = burstlens("io", *logs, "--json")
    found = json.loads(done.stdout)
    assert [log["ranks"] for log in found["logs"]] == [4, 4]
    assert "8.2 times as long in the first" in found["comparison"]["verdict"]
    page = burstlens("io", *logs, "--html", str(tmp_path / "io.html"))
    assert "exchange between ranks" in page.stdout
    assert page.stderr == f"{tmp_path / 'io.html'}: written\n"


@pytest.mark.parametrize("content", [b"", b"nothing\n", bytes(range(256)), b"x" * 7])
def test_what_is_no_log_gives_one_line_and_exit_code_1(burstlens, tmp_path, content):
    (tmp_path / "log").write_bytes(content)
    for words in ([], ["--json"], ["--html", str(tmp_path / "io.html")]):
        done = burstlens("io", str(tmp_path / "log"), *words)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("burstlens: ")
        assert done.stderr.count("\n") == 1
    assert not (tmp_path / "io.html").exists()


def test_a_damaged_second_log_leaves_no_page(burstlens, tmp_path):
    (tmp_path / "log").write_text("nothing\n")
    done = burstlens("io", str(WRF), str(tmp_path / "log"), "--html", str(tmp_path / "io.html"))
    assert (done.returncode, done.stdout) == (1, "")
    assert not (tmp_path / "io.html").exists()


def test_a_page_that_cannot_be_written_is_one_line(burstlens, tmp_path):
    done = burstlens("io", str(WRF), "--html", str(tmp_path / "none" / "io.html"))
    assert done.returncode == 1
    assert re.fullmatch(r"burstlens: cannot write .*io\.html: No such file.*\n", done.stderr)


def test_a_page_never_replaces_the_log(burstlens, tmp_path):
    log = tmp_path / "log.txt"
    log.write_text(WRF.read_text())
    done = burstlens("io", str(log), "--html", str(log))
    assert done.returncode == 2
    assert "--html must not name the log itself" in done.stderr
    assert log.read_text() == WRF.read_text()


@pytest.mark.parametrize("logs", [[], [str(WRF)] * 3])
def test_one_or_two_logs_are_wanted(burstlens, logs):
    done = burstlens("io", *logs)
    assert done.returncode == 2
    assert "name one log, or two to compare" in done.stderr


@pytest.mark.parametrize("words", [["--site", "local"], ["--frames", "3"], ["--set", "a=b"]])
def test_options_of_a_plan_without_one_are_wrong_usage(burstlens, words):
    done = burstlens("io", str(WRF), *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "go with --plan" in " ".join(done.stderr.split())


def test_a_plan_goes_without_logs(burstlens):
    done = burstlens("io", str(WRF), "--plan", "io-btio")
    assert (done.returncode, done.stdout) == (2, "")


def test_help_teaches_by_examples(burstlens):
    said = " ".join(burstlens("io", "--help").stdout.split())
    for words in ("burstlens io run.darshan", "--html", "before.darshan after.darshan", "--json"):
        assert words in said
