"""The demo as a person sees it: an earthquake in a browser, stopped from there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.fault
WANTED = 5
LIMIT_S = 240
DRAWN = """() => {
  const view = document.querySelector(".burstlens").shadowRoot;
  return view.querySelector("canvas.first")?.getAttribute("aria-label") ?? "";
}"""


@pytest.fixture
def demo(tmp_path):
    """``burstlens demo``, in progress; it ends with the test."""
    (tmp_path / "buffer").mkdir()
    places = {
        "BURSTLENS_RUNS": str(tmp_path / "runs"),
        "BURSTLENS_BUFFER": str(tmp_path / "buffer"),
    }
    with (tmp_path / "said").open("w") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "burstlens", "demo", "--name", "quake"],
            env=os.environ | places,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        )
    yield process
    if process.poll() is None:
        subprocess.run(
            [sys.executable, "-m", "burstlens", "stop", "quake", "--now"],
            env=os.environ | places,
            check=True,
        )
        process.wait(60)


def test_frames_of_the_demo_arrive_and_stop_in_the_page_ends_it(demo, serve, tmp_path, page):
    run = tmp_path / "runs" / "quake"
    server = serve("--allow-stop", BURSTLENS_RUNS=str(run.parent))
    end = time.monotonic() + LIMIT_S
    while not (run / "run.json").exists():
        assert time.monotonic() < end, (tmp_path / "said").read_text()
        time.sleep(0.1)
    page.goto(f"{server.root}quake/products/index.html?token={server.token}")
    seen: dict[str, float] = {}
    while len(seen) < WANTED:
        assert time.monotonic() < end, (seen, (tmp_path / "said").read_text())
        if (label := page.evaluate(DRAWN)).startswith("ground"):
            seen.setdefault(label, time.time())
        page.wait_for_timeout(20)
    page.get_by_role("button", name="Stop…").click()
    page.get_by_role("dialog", name="Stop this run?").get_by_role(
        "button", name="Stop", exact=True
    ).click()
    assert demo.wait(90) == 4
    status = json.loads((run / "status.json").read_text())
    assert (status["state"], status["outcome"]["exit_code"]) == ("stopped", 4)
    assert 0 < status["progress"]["fraction"] < 1
    lines = [json.loads(line) for line in (run / "products" / "index.jsonl").open()]
    published = sum(line["product"] == "ground" for line in lines)
    assert status["products"]["ground"]["published"] == published >= WANTED
    expect(page.get_by_text(status["outcome"]["message"]).first).to_be_visible()
    said = (tmp_path / "said").read_text()
    assert f"{published} published" in said
    assert "stopped" in said
