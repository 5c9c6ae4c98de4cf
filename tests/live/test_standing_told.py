"""What the page shows of a run in a real browser: what it waits for, what failed, what to do."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

HURT = "<img src=x onerror='window.hurt=1'><script>window.hurt=1</script>"
TRIP = {
    "t": 1.7e9 + 3.2,
    "guard": "wind",
    "then": "stop",
    "text": "W above 80 at z 4, x 7 (12.5° N, 70.25° W)",
    "variable": "W",
    "value": 93.5,
    "units": "m s-1",
    "stream": "d01",
    "time": "t00000003.000",
}


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"state": "waiting for the buffer", "waits_for": "Resources"}, "queue: Resources"),
        (
            {
                "state": "starting",
                "waits_for": "Priority",
                "queue": {"by": "Slurm", "partition": HURT, "position": 23, "of": 112}
                | {"start": 2e9},
            },
            f"Priority, 23rd of 112 in {HURT}, expected start 2033-05-18 03:33 by Slurm's estimate",
        ),
        ({"state": "starting", "queue": {"by": "Slurm"}}, "In the scheduler's queue."),
        (
            {"state": "running", "scheduler": {"title": HURT, "silent_s": 45.0}},
            f"{HURT} has not answered for 45 s.",
        ),
        ({"state": "staging in"}, "copies the inputs to the buffer"),
        ({"state": "starting", "progress": {"phase": "compiling"}}, "The model compiles"),
        ({"state": "starting"}, "Waits for the model's first frame"),
        ({"state": "running", "frames": {"ready": 2}, "block": "queued"}, "viewing job is in the"),
        (
            {"state": "draining", "backlog": 2, "block": "queued", "block_waits": HURT},
            f"The model has ended; 2 products to be made; the viewing job is in the queue: {HURT}.",
        ),
        ({"state": "running", "paused": True}, "products are paused"),
        ({"state": "lost"}, "Its driver is gone"),
        ({"state": "failed", "outcome": {"message": "it died", "line": "v_cfl = 2"}}, "It died."),
    ],
)
def test_the_page_shows_what_a_run_waits_for(values, sentence, made, ways_to, page):
    run = made()
    run.update_status(**values)
    page.goto(ways_to(run.run.path.parent).file("made"))
    expect(page.locator(".notice")).to_contain_text(sentence)


LEFT = "buffer b is not given back (no answer): burstlens free made gives it back"
TOLD = "Buffer b is not given back (no answer): burstlens free made gives it back."
TOOK = "It took 1 min 25 s."
MODEL = "Correct the model's settings and start a new run."
LATE = 'guard "whole" tripped after the model\'s end: W is NaN, d01 t = 3 s'


@pytest.mark.parametrize(
    ("state", "outcome", "sentence", "command", "tone"),
    [
        ("done", {"exit_code": 0}, f"Done: 2 frames. {TOOK}", "", "good"),
        (
            "done",
            {"exit_code": 8, "left": LEFT},
            f"Done: 2 frames. {TOOK} {TOLD}",
            "",
            "warn",
        ),
        (
            "failed",
            {"exit_code": 7, "message": LATE},
            f"G{LATE[1:]}. {TOOK} {MODEL}",
            "",
            "bad",
        ),
        (
            "failed",
            {"exit_code": 7, "message": LATE, "left": LEFT},
            f"G{LATE[1:]}. {TOOK} {MODEL} {TOLD}",
            "",
            "bad",
        ),
        (
            "failed",
            {"exit_code": 5, "message": "1 frame is lost", "left": LEFT},
            f"1 frame is lost. {TOOK} Only the model can write them again: start a new run. {TOLD}",
            "",
            "bad",
        ),
        (
            "stopped",
            {"exit_code": 4, "message": "stopped, as asked", "left": LEFT},
            f"Stopped, as asked. {TOOK} {TOLD} Resume it with",
            "burstlens resume made",
            "warn",
        ),
        (
            "failed",
            {"exit_code": 6, "message": HURT},
            f"{HURT}. {TOOK} When there is room again, resume it with",
            "burstlens resume made",
            "bad",
        ),
        (
            "failed",
            {},
            f"Failed. {TOOK} Resume it with",
            "burstlens resume made",
            "bad",
        ),
        (
            "failed",
            {"advice": "use a longer walltime"},
            f"Failed. {TOOK} Use a longer walltime.",
            "",
            "bad",
        ),
    ],
)
def test_each_end_has_its_sentence_and_what_to_do(
    state, outcome, sentence, command, tone, made, ways_to, page
):
    run = made()
    frames = {"ready": 2, "damaged": 0}
    run.update_status(state=state, took_s=85.0, frames=frames, outcome={"state": state, **outcome})
    page.goto(ways_to(run.run.path.parent).file("made"))
    expect(page.locator(".notice p > span").first).to_have_text(f"{sentence} {command}".strip())
    expect(page.locator(".notice code")).to_have_text(command)
    expect(page.locator(".masthead")).to_have_attribute("data-tone", tone)
    for word in ("picture yet", "frame yet"):
        expect(page.locator("body")).not_to_contain_text(word)


def test_a_run_with_checkpoints_is_resumed_from_the_newest_good_one(made, ways_to, page):
    run = made()
    states = ("good", "good", "suspect")
    checkpoints = [
        {"time": f"t0000000{n}.500", "attempt": 1, "state": state, "files": 1, "bytes": 1}
        for n, state in enumerate(states)
    ]
    run.update_status(state="stopped", outcome={"exit_code": 3}, checkpoints=checkpoints)
    page.goto(ways_to(run.run.path.parent).file("made"))
    expect(page.locator(".notice p > span").first).to_contain_text("checkpoint of t = 1.5 s with")
    expect(page.locator(".notice code")).to_have_text("burstlens resume made")


def test_a_run_without_a_driver_waits_for_one(made, ways_to, page):
    run = made()
    page.goto(ways_to(run.run.path.parent).file("made"))
    expect(page.locator(".state")).to_have_text("running")
    run.update_status(driver={"heartbeat": 0})
    expect(page.locator(".notice")).to_contain_text("Waits for its driver to begin")


def test_times_of_day_are_the_viewers_wherever_the_run_is(made, ways_to, new_page):
    run = made()
    run.update_status(
        events=[{"t": 1.7e9, "text": "watching"}], alarms=[{"t": 1.7e9, "text": "late"}]
    )
    page = new_page(timezone_id="Asia/Riyadh").page
    page.goto(ways_to(run.run.path.parent).file("made"))
    expect(page.locator(".last-events li")).to_have_text("01:13:20 watching")
    expect(page.locator(".alarms .kind")).to_have_text("Alarm, 01:13:20")


def test_a_run_without_a_driver_has_no_remaining_time(made, ways_to, page):
    run = made()
    run.update_status(progress={"fraction": 0.25, "eta_s": 316.0})
    page.goto(ways_to(run.run.path.parent).file("made"))
    to_go = page.locator(".masthead dl div").filter(has_text="To go").locator("dd")
    expect(to_go).to_have_text("5 min 16 s")
    run.update_status(state="lost")
    expect(to_go).to_have_text("–")


@pytest.mark.parametrize("way", ["file", "serve"])
def test_nothing_in_the_data_becomes_markup(way, made, ways_to, page, greys):
    run = made(title=HURT)
    run.publish(0, greys[0], variable=HURT, units=HURT, reason=HURT, placeholder=True)
    run.publish(1, greys[0], product="a&b", variable=HURT, units=HURT)
    run.feed.write(force=True)
    run.update_status(
        state="failed",
        alarms=[{"t": 1.7e9, "text": HURT}],
        trips=[TRIP | {"guard": HURT, "text": HURT, "variable": HURT}],
        events=[{"t": 1.7e9, "text": HURT}],
        guards=[{"name": HURT, "text": HURT, "state": HURT}],
        outcome={"state": "failed", "message": HURT, "line": HURT},
    )
    page.goto(getattr(ways_to(run.run.path.parent), way)("made"))
    expect(page.get_by_role("heading", level=1)).to_have_text(HURT)
    expect(page.locator(".log-line")).to_have_text(HURT)
    assert page.locator("img, .live script").count() == 0
    assert page.evaluate("window.hurt") is None


def test_alarms_have_their_place_on_the_time_axis_and_a_click_leads_there(
    eight, ways, page, await_frame
):
    again = {"t": TRIP["t"], "text": f'guard "wind": {TRIP["text"]}, d01 t = 3 s'}
    eight.update_status(alarms=[again, {"t": 1.7e9 + 5.1, "text": "late"}], trips=[TRIP])
    page.goto(ways.file("made"))
    await_frame(page, 7)
    assert page.locator(".timeline .signs path").count() == 2
    page.locator("aside").get_by_role("button", name="W above 80").click()
    await_frame(page, 3)
    expect(page.get_by_text("d01 t = 3 s", exact=True)).to_be_visible()
    page.keyboard.press("]")
    await_frame(page, 5)


def test_a_driver_is_judged_by_its_heartbeat_and_not_by_its_clock(eight, ways, page, await_frame):
    page.clock.install()
    wrong = {"host": "elsewhere", "pid": 1, "heartbeat": 1000.0}
    eight.update_status(driver=wrong)
    page.goto(ways.file("made"))
    expect(page.locator(".state")).to_have_text("running")
    page.clock.run_for(10_000)
    eight.update_status(driver=wrong | {"heartbeat": 1001.0})
    page.clock.run_for(10_000)
    expect(page.locator(".state")).to_have_text("running")
    page.clock.run_for(20_000)
    expect(page.locator(".state")).to_have_text("driver gone")
    expect(page.locator(".notice")).to_contain_text("No sign of its driver since")
    expect(page.locator(".notice code")).to_have_text("burstlens resume made")


def test_a_driver_with_a_changing_heartbeat_lives_whatever_the_servers_clock_says(
    eight, ways, page, await_frame
):
    beats = {"host": "elsewhere", "pid": 1, "heartbeat": 1000.0}
    eight.update_status(driver=beats)
    page.goto(ways.serve("made"))
    expect(page.locator(".state")).to_have_text("driver gone")
    eight.update_status(driver=beats | {"heartbeat": 1001.0})
    expect(page.locator(".state")).to_have_text("running")
    expect(page.locator(".notice code")).to_be_empty()


@pytest.mark.parametrize(
    "foreign",
    [{"alarms": {"text": "x"}, "trips": [None], "guards": [None, 3], "events": {"a": 1}},
     {"title": {}, "alarms": [None], "progress": {"time": 5}}],
    ids=["lists", "values"],
)  # fmt: skip
def test_an_invalid_status_does_not_stop_the_view(foreign, eight, ways, page, greys, await_frame):
    page.goto(ways.file("made"))
    await_frame(page, 7)
    ours = {key: eight.status.get(key) for key in foreign}
    eight.update_status(**foreign)
    if "progress" in foreign:
        expect(page.locator(".notice")).to_contain_text("cannot be shown")
    eight.publish(8, greys[0])
    eight.feed.write(force=True)
    await_frame(page, 8, 9)
    eight.update_status(**ours)
    expect(page.locator(".notice")).not_to_contain_text("cannot be shown")
    expect(page.get_by_role("heading", level=1)).to_have_text("Eight")


def test_pictures_arrive_even_while_the_status_cannot_be_read(
    eight, ways, watched, greys, await_frame
):
    page = watched.page
    page.goto(ways.serve("made"))
    await_frame(page, 7)
    page.route("**/status.json", lambda route: route.fulfill(status=503))
    expect(page.locator(".notice")).to_contain_text("Its status cannot be read since")
    eight.publish(8, greys[0])
    await_frame(page, 8, 9)
    page.unroute("**/status.json")
    expect(page.locator(".notice")).not_to_contain_text("cannot be read")
    assert all("503" in text for text in watched.errors)
    watched.errors.clear()


def test_a_server_that_stops_is_reported_and_found_again(eight, ways, watched, await_frame):
    page = watched.page
    page.goto(ways.plain("made"))
    await_frame(page, 7)
    port = page.url.split(":")[2].partition("/")[0]
    ways.end()
    expect(page.locator(".notice")).to_contain_text("Not reachable since")
    await_frame(page, 7)
    ways.plain("made", port)
    expect(page.locator(".notice")).not_to_contain_text("Not reachable")
    assert all("net::ERR_" in text for text in watched.errors)
    watched.errors.clear()


def test_a_read_only_page_shows_the_commands(eight, ways, page):
    page.goto(ways.file("made"))
    page.get_by_role("button", name="Stop…").click()
    dialog = page.get_by_role("dialog", name="Stop this run?")
    expect(dialog).to_contain_text("burstlens stop made --now")
    expect(dialog.get_by_role("button")).to_have_text(["Keep it running"])
