"""Room on the page: what moves, what comes into sight, what a phone leaves for pictures."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from pointing import FRAME, pin, readout


def place(page):
    box = page.locator("canvas.first").first.bounding_box()
    return {name: round(at, 1) for name, at in box.items()}


@pytest.mark.parametrize("width", [390, 1440])
def test_a_readout_of_any_length_leaves_the_map_where_it_is(eight_maps, opened, width):
    page = opened().page
    page.set_viewport_size({"width": width, "height": 844})
    page.evaluate(FRAME)
    before = place(page)
    page.locator(".readout").first.evaluate("one => one.textContent = 'value '.repeat(90)")
    assert place(page) == before
    page.locator(".readout").first.evaluate("one => one.textContent = ''")
    assert place(page) == before


def test_a_profile_that_is_drawn_comes_into_sight(eight_maps, opened):
    page = opened().page
    page.set_viewport_size({"width": 1440, "height": 500})
    for at in (0.45, 0.55):
        pin(page, at, 0.5)
        expect(page.locator(f".places li:nth-child({1 + (at > 0.5)})")).to_be_visible()
    assert readout(page)
    page.get_by_role("button", name="Profile A–B").click()
    plot = page.locator("[aria-label='Profile'] figure").first
    expect(plot).to_be_in_viewport(ratio=0.9)


@pytest.mark.parametrize("state", ["running", "done"])
def test_alarms_are_counted_beside_the_state_and_one_click_away(eight, ways, page, state):
    alarms = [{"t": 1.7e9 + at, "text": f"alarm {at}"} for at in range(2)]
    events = [{"t": 1.7e9, "text": "an event"}] * 40
    eight.update_status(state=state, alarms=alarms, events=events)
    page.set_viewport_size({"width": 1440, "height": 420})
    page.goto(ways.file("made"))
    count = page.get_by_role("button", name="2 alarms")
    assert count.bounding_box()["x"] < page.get_by_role("heading", level=1).bounding_box()["x"]
    count.click()
    expect(page.locator(".notes .text", has_text="alarm 0")).to_be_in_viewport()


def test_a_run_without_alarms_counts_none(eight, ways, page):
    page.goto(ways.file("made"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Eight")
    expect(page.locator(".alarm-count")).to_be_hidden()


@pytest.mark.parametrize("size", [(390, 844), (412, 915)])
def test_head_and_foot_of_a_phone_take_a_quarter_of_it_at_most(eight, ways, page, size):
    page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    progress = {"fraction": 0.5, "eta_s": 600, "speed": 12.5, "time": "t00000003.000"}
    eight.update_status(progress=progress, alarms=[{"t": 1.7e9, "text": "late"}])
    page.goto(ways.file("made"))
    expect(page.get_by_role("button", name="1 alarm")).to_be_visible()
    head, foot = (page.locator(one).bounding_box() for one in (".masthead", "footer"))
    assert head["height"] + size[1] - foot["y"] <= size[1] / 4
    buttons = page.get_by_role("button").filter(visible=True)
    for button in buttons.all():
        box = button.bounding_box()
        assert 0 <= box["x"] <= size[0] - box["width"]
