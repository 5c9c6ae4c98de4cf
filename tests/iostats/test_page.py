"""The page about I/O and its plots; what the shell offers for a log."""

from __future__ import annotations

import html.parser
import os
from pathlib import Path

from burstlens.clients.cli.explaining import complete_path
from burstlens.clients.pages.iostats.page import write_page
from burstlens.clients.pages.iostats.plots import plots
from burstlens.workflows.iostats.logs import read_log
from burstlens.workflows.iostats.summary import Flow, Summary, Traffic

DATA = Path(__file__).parents[1] / "data" / "io"
WRF = DATA / "mpiio_stats_wrf.txt"
HINTS = DATA / "romio_print_hints.txt"


def test_paths_are_completed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.darshan", "b.darshan", ".hidden"):
        (tmp_path / name).touch()
    (tmp_path / "about").mkdir()
    (tmp_path / "about" / "c.darshan").touch()
    assert complete_path("a") == ["a.darshan", "about/"]
    assert complete_path("about/") == ["about/c.darshan"]
    assert complete_path(f"{tmp_path}/b") == [f"{tmp_path}/b.darshan"]
    assert complete_path("") == ["a.darshan", "about/", "b.darshan"]
    assert complete_path("none/x") == []


class _Reader(html.parser.HTMLParser):
    """Collects tags, addresses and text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value or "" for key, value in attrs if key in {"src", "href"}]

    def handle_data(self, data):
        self.text += data


def test_the_page_loads_nothing_and_escapes_names(tmp_path):
    evil = "<script>alert(1)</script>\x1b[2J"
    flow = Flow(bytes=2**30, seconds=9.0, phases={"data send": 0.8, evil: 0.1})
    file = Traffic(evil, write=flow, seconds=9.0, aggregators=4)
    log = Summary(f"/x/{evil}", "test", program=evil, ranks=64, files=(file,), total=file,
                  hints={evil: {"cb_nodes": evil}}, notes=(evil,))  # fmt: skip
    write_page([log, log], tmp_path / "io.html")
    text = (tmp_path / "io.html").read_text()
    reader = _Reader()
    reader.feed(text)
    assert "script" not in reader.tags
    assert "\x1b" not in text
    assert evil.partition("\x1b")[0] in reader.text
    assert all(link.startswith("data:image/png;base64,") for link in reader.links)
    assert oct(os.stat(tmp_path / "io.html").st_mode & 0o777 & ~0o022) == oct(0o644)


def test_plots_are_made_of_what_a_log_has():
    assert [plot.title for plot in plots([read_log(WRF)])] == ["Time by phase", "Per file"]
    assert plots([read_log(HINTS)]) == []
    both = plots([read_log(WRF), read_log(HINTS)])
    assert [plot.title for plot in both] == ["Time by phase", "Per file"]
