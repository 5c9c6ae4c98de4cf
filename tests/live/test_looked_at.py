"""What the page shows of a run that looks at a folder, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

QUIET = "nothing was written for 14 min, the newest file is wrfout_d01_2026-11-02_06:30:00"
FOLDER = {
    "path": "/scratch/storm",
    "model": "wrf",
    "reason": "namelist.input and 4 files wrfout_d01_*",
    "state": "quiet",
    "evidence": QUIET,
    "since": 1.7e9,
    "allow_stop": False,
    "left_out": ["slp: the files have no PSFC"],
    "began": "what is there on arrival",
    "unproven": 1,
}
HURT = "<img src=x onerror='window.hurt=1'>"


@pytest.fixture
def looks(made, greys):
    """A run with four frames that looks at a folder; the last frame is unproven."""
    run = made(title="Storm")
    for number in range(4):
        run.publish(number, greys[number], signal="unproven" if number == 3 else "later")
    run.feed.write(force=True)
    values = {"attempt": 1, "started": 1.7e9 - 10, "frames": {"ready": 4, "damaged": 0}}
    products = {"t2": {"kind": "map", "published": 4, "failed": 0}}
    run.update_status(state="quiet", attached=FOLDER, products=products, **values)
    return run


def rows(page):
    """The labels and texts about the folder."""
    found = page.locator(".folder div").all_inner_texts()
    return dict(text.split("\n", 1) for text in found)


@pytest.mark.parametrize("way", ["file", "serve"])
def test_the_folder_its_model_and_the_evidence_are_shown(way, looks, ways_to, page):
    page.goto(getattr(ways_to(looks.run.path.parent), way)("made"))
    expect(page.locator(".state")).to_have_text("quiet")
    expect(page.locator(".notice")).to_contain_text(
        f"Quiet: {QUIET}. 4 frames, and every product of them is made."
    )
    shown = rows(page)
    assert shown["Looks at"] == "/scratch/storm"
    assert shown["Taken for"] == "wrf: namelist.input and 4 files wrfout_d01_*"
    assert shown["Model"].startswith("quiet since 2023-11-1")
    assert shown["Model"].endswith(QUIET)
    assert shown["Attempt"] == "1: what is there on arrival"
    assert shown["Left out"] == "slp: the files have no PSFC"
    assert shown["Unproven"] == "1 frame, which no witness confirms"


def test_a_launched_run_has_none_of_it(eight, ways_to, page):
    page.goto(ways_to(eight.run.path.parent).file("made"))
    expect(page.locator(".state")).to_have_text("running")
    expect(page.locator(".folder")).to_be_hidden()
    expect(page.locator(".masthead dl")).to_be_visible()
    expect(page.get_by_text("Buffer")).to_be_visible()


def test_there_is_no_buffer_and_no_empty_progress(looks, ways_to, page):
    page.goto(ways_to(looks.run.path.parent).file("made"))
    expect(page.get_by_text("Ledger")).to_be_visible()
    expect(page.get_by_text("Buffer")).to_be_hidden()
    expect(page.locator(".masthead dl")).to_be_hidden()
    looks.update_status(progress={"time": "t00000003.000"})
    expect(page.locator(".masthead dl")).to_be_visible()


def test_frames_that_were_there_before_have_no_latency(looks, ways_to, page):
    looks.update_status(started=1.7e9 + 100)
    page.goto(ways_to(looks.run.path.parent).file("made"))
    expect(page.get_by_text("Ledger")).to_be_visible()
    expect(page.get_by_text("Latency")).to_be_hidden()


@pytest.mark.parametrize(
    ("part", "word", "sentence"),
    [
        ({"state": "running", "evidence": "job 4711 runs"}, "running", "The model runs: job 4711"),
        ({"state": "ended", "evidence": "SUCCESS COMPLETE WRF"}, "model ended", "has ended: SUCC"),
        ({"state": "failed", "evidence": "v_cfl = 2"}, "model failed", "has failed: v_cfl = 2."),
        ({"lost": "Stale file handle"}, "folder away", "/scratch/storm cannot be read: Stale"),
        ({"state": None}, "running", "4 frames, and every product"),
    ],
)
def test_the_state_of_the_model_is_the_runs(part, word, sentence, looks, ways_to, page):
    looks.update_status(state="running", attached=FOLDER | part)
    page.goto(ways_to(looks.run.path.parent).file("made"))
    expect(page.locator(".state")).to_have_text(word)
    expect(page.locator(".notice")).to_contain_text(sentence)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("quiet", f"Quiet, and no longer looked at: 4 frames. N{QUIET[1:]}. Look again with"),
        ("stopped", "Looking has ended, the model is not touched. Look again with"),
        ("done", "Done: 4 frames."),
    ],
)
def test_an_end_says_that_resume_looks_again(state, said, looks, ways_to, page):
    message = {"quiet": QUIET, "done": ""}.get(state, "looking has ended, the model is not touched")
    looks.update_status(state=state, outcome={"state": state, "exit_code": 0, "message": message})
    page.goto(ways_to(looks.run.path.parent).file("made"))
    expect(page.locator(".state")).to_have_text(state)
    expect(page.locator(".notice")).to_contain_text(said)
    assert "(as of 20" in rows(page)["Model"]  # its ages are those of then


def test_without_its_driver_resume_looks_again(looks, ways_to, page):
    looks.update_status(state="lost")
    page.goto(ways_to(looks.run.path.parent).file("made"))
    expect(page.locator(".notice")).to_contain_text("Look again with burstlens resume made")


def test_unproven_and_superseded_pictures_are_marked(looks, ways_to, page, greys):
    page.goto(ways_to(looks.run.path.parent).file("made"))
    picture = page.locator("canvas.first")
    expect(picture).to_have_attribute("aria-label", "t2, t = 3 s, unproven")
    expect(page.locator(".pane .caveat")).to_have_text("unproven")
    again = looks.line(3, greys[7]) | {"attempt": 2}
    (looks.run.products / str(again["name"])).unlink()
    (looks.run.products / str(again["name"])).hardlink_to(greys[7])
    looks.feed.add(again)
    looks.feed.write(force=True)
    expect(page.locator(".pane .caveat")).to_have_text("written anew, attempt 2")
    expect(picture).to_have_attribute("aria-label", "t2, t = 3 s, written anew, attempt 2")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".pane .caveat")).to_have_text("")


def test_stop_is_offered_only_where_the_look_and_the_server_allow_it(looks, ways_to, page):
    ways = ways_to(looks.run.path.parent)
    allowing = ways.serve("made", "--allow-stop")
    page.goto(allowing)
    expect(page.locator(".state")).to_have_text("quiet")
    expect(page.get_by_role("button", name="Stop…")).to_be_hidden()
    looks.update_status(attached=FOLDER | {"allow_stop": True, "job": "4711"})
    page.get_by_role("button", name="Stop…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Stop job 4711?")
    expect(dialog).to_contain_text("The job is cancelled.")
    expect(dialog.get_by_role("button", name="Stop now")).to_be_hidden()
    dialog.get_by_role("button", name="Stop", exact=True).click()
    expect(dialog).to_be_hidden()
    assert looks.run.stop_requested() == "stop"
    page.goto(ways.serve("made"))
    expect(page.locator(".state")).to_have_text("quiet")
    expect(page.get_by_role("button", name="Stop…")).to_be_hidden()


def test_a_process_is_ended_softly_or_at_once(looks, ways_to, page):
    looks.update_status(attached=FOLDER | {"allow_stop": True, "pid": 12})
    page.goto(ways_to(looks.run.path.parent).serve("made", "--allow-stop"))
    page.get_by_role("button", name="Stop…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Stop process 12?")
    expect(dialog.get_by_role("button", name="Stop now")).to_be_visible()


def test_a_folder_that_went_with_its_job_is_not_called_looked_for(looks, ways_to, page):
    lost = "the disk of its node went with job 4711 (TIMEOUT)"
    ended = {"state": "failed", "evidence": "Slurm: job 4711 TIMEOUT"}
    looks.update_status(state="running", attached=FOLDER | ended | {"lost": lost, "gone": True})
    page.goto(ways_to(looks.run.path.parent).file("made"))
    notice = page.locator(".notice")
    expect(notice).to_contain_text(
        "The model has failed: Slurm: job 4711 TIMEOUT. "
        "The disk of its node went with job 4711 (TIMEOUT)."
    )
    expect(notice).not_to_contain_text("looked for again")
    expect(page.locator(".state")).to_have_text("model failed")


def test_names_from_the_folder_become_no_markup(looks, ways_to, page):
    names = ("path", "reason", "evidence", "began")
    looks.update_status(attached=FOLDER | dict.fromkeys(names, HURT) | {"left_out": [HURT]})
    page.goto(ways_to(looks.run.path.parent).file("made"))
    expect(page.locator(".folder dd").first).to_have_text(HURT)
    assert page.locator("img").count() == 0
    assert page.evaluate("window.hurt") is None


@pytest.mark.parametrize("width", [390, 1440])
def test_long_names_do_not_widen_the_page(width, looks, ways_to, new_page):
    looks.update_status(attached=FOLDER | {"path": "/scratch/" + "a" * 300, "evidence": "b" * 300})
    page = new_page(viewport={"width": width, "height": 844}).page
    page.goto(ways_to(looks.run.path.parent).file("made"))
    expect(page.locator(".folder")).to_be_attached()
    wider = "document.querySelector('.burstlens').scrollWidth - innerWidth"
    assert page.evaluate(wider) <= 0
