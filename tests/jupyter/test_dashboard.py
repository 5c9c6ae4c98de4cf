"""The widget's side in the kernel."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

import burstlens


@pytest.fixture
def done(standing):
    """The run that is done."""
    standing.done()
    return burstlens.open_run(standing.runs / "done")


def threads() -> list[threading.Thread]:
    return [it for it in threading.enumerate() if it.name == "dashboard done"]


def test_closing_the_dashboard_ends_its_thread(done):
    dashboard = done.dashboard()
    assert len(threads()) == 1
    dashboard.close()
    end = time.monotonic() + 10
    while threads():
        assert time.monotonic() < end
        time.sleep(0.02)
    dashboard.close()


def test_where_widgets_are_not_shown_a_card_stands_in(done):
    dashboard = done.dashboard()
    bundle, _ = dashboard._repr_mimebundle_()
    dashboard.close()
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"]
    assert "Supercell" in bundle["text/html"]
    assert "data:image/png;base64," in bundle["text/html"]
    assert bundle["text/plain"] == "dashboard of done"


def test_without_anywidget_it_says_what_to_install(done):
    code = (
        "import sys; sys.modules['anywidget'] = None\n"
        "import burstlens\n"
        f"run = burstlens.open_run({str(done.directory.path)!r})\n"
        "try:\n    run.dashboard()\nexcept burstlens.RunError as error:\n    print(error)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "the dashboard needs anywidget: pip install 'burstlens[jupyter]'\n"
