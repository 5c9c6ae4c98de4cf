"""The list of runs in a real browser."""

from __future__ import annotations

import json
import shutil

from playwright.sync_api import expect

LOOK_MS = 15_000


def test_a_picture_that_was_away_for_a_while_is_shown_again(serve, standing, tmp_path, page):
    standing.done()
    run = tmp_path / "runs" / "storm"
    shutil.copytree(standing.runs / "done", run)
    status = run / "status.json"
    status.write_text(json.dumps(json.loads(status.read_text()) | {"state": "running"}))
    page.goto(serve(run.parent).url)
    picture = page.get_by_role("link").locator("img")
    expect(picture).to_be_visible()
    index = run / "products" / "index.jsonl"
    away = index.rename(run / "index.jsonl")
    expect(page.get_by_text("no picture yet")).to_be_visible(timeout=LOOK_MS)
    away.rename(index)
    expect(picture).to_be_visible(timeout=LOOK_MS)
