"""The bench runs: one part of it, small, against the real pipeline."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]


def bench(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench", *words], cwd=ROOT, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    ended = bench("--only", "latency", "--quick", "--to", str(folder))
    assert ended.returncode == 0, ended.stderr
    return folder


def test_a_part_gives_figures_with_machine_date_and_command(measured):
    (part,) = json.loads((measured / "results.json").read_text()).items()
    name, result = part
    assert name == "latency"
    assert result["command"] == "python -m bench --only latency --quick"
    assert result["machine"]["cores"].isdigit()
    values = {figure["name"]: figure["value"] for figure in result["figures"]}
    p50, p95 = (value for _, value in sorted(values.items()))
    assert 0 < p50 <= p95 < 60


def test_each_figure_stands_in_the_markdown_with_its_target(measured):
    text = (measured / "RESULTS.md").read_text()
    figures = json.loads((measured / "results.json").read_text())["latency"]["figures"]
    rows = [line for line in text.splitlines() if line.startswith("| 15 MB")]
    assert len(rows) == len(figures)
    assert any("≤ 0.1 s" in row for row in rows)


def test_an_unknown_part_is_refused():
    ended = bench("--only", "latancy")
    assert ended.returncode == 2
    assert "there is no part 'latancy'" in ended.stderr
