"""What leaves the page: its title, notifications, the link, pictures and files."""

from __future__ import annotations

import io
import re
import time

import pytest
from PIL import Image
from playwright.sync_api import expect

RECORD = """
const Real = Notification;
window.told = [];
window.Notification = class extends Real {
  constructor(title, how) { super(title, how); window.told.push([title, how.body]); }
};
"""


@pytest.fixture
def volume(eight, tmp_path):
    """The run ``eight`` with a file for ParaView at two of its times."""
    path = tmp_path / "v.vti"
    path.write_bytes(b"volume")
    for number in (6, 7):
        eight.publish(number, path, "core")
    eight.feed.write(force=True)
    return eight


def await_told(page, count):
    end = time.monotonic() + 60
    while len(page.evaluate("told")) < count:  # the page's policy forbids wait_for_function
        assert time.monotonic() < end
        page.wait_for_timeout(50)


def test_the_title_says_how_far_the_run_is_and_how_it_ended(eight, ways, page):
    eight.update_status(progress={"fraction": 0.425})
    page.goto(ways.file("made"))
    expect(page).to_have_title("▶ 42 % Eight")
    eight.update_status(state="failed", outcome={"exit_code": 1, "message": "it blew up"})
    expect(page).to_have_title("✖ failed Eight")


def test_the_end_and_trips_are_reported_after_the_button_was_pressed(eight, ways, new_page):
    page = new_page(permissions=["notifications"]).page
    page.add_init_script(RECORD)
    page.goto(ways.serve("made"))
    bell = page.get_by_role("button", name=re.compile("Notify when"))
    expect(bell).to_have_attribute("aria-pressed", "false")
    eight.update_status(trips=[TRIP])
    expect(page.locator(".alarms li")).to_have_count(1)
    assert page.evaluate("told") == []
    bell.click()
    expect(bell).to_have_attribute("aria-pressed", "true")
    eight.update_status(trips=[TRIP, TRIP | {"time": "t00000004.000", "text": "W is 99"}])
    await_told(page, 1)
    eight.update_status(state="done", trips=[])
    await_told(page, 2)
    (first, text), (second, _) = page.evaluate("told")
    assert (first, second) == ("Eight: a guard tripped", "Eight: done")
    assert "W is 99" in text
    page.wait_for_timeout(1500)
    assert len(page.evaluate("told")) == 2


TRIP = {"guard": "w", "text": "W is 90", "t": 1.7e9, "stream": "d01", "time": "t00000002.000"}


def test_a_run_that_is_over_offers_no_notification(eight, ways, page):
    eight.update_status(state="done")
    page.goto(ways.file("made"))
    expect(page).to_have_title("✔ done Eight")
    expect(page.get_by_role("button", name=re.compile("Notify when"))).to_be_hidden()


def test_where_notifications_are_blocked_the_button_says_so(eight, ways, page):
    page.goto(ways.serve("made"))  # without the permission headless Chromium denies
    bell = page.get_by_role("button", name=re.compile("Notify when"))
    bell.click()
    expect(bell).to_be_disabled()
    expect(bell).to_have_attribute(
        "title", "Notifications are blocked for this page in the browser"
    )


def test_link_and_picture_are_copied_from_a_served_page(volume, ways, new_page):
    page = new_page(permissions=["clipboard-read", "clipboard-write"]).page
    page.goto(ways.serve("made"))
    expect(page.locator("canvas.first").first).to_have_attribute("aria-label", "t2, t = 7 s")
    page.locator(".timeline").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("canvas.first").first).to_have_attribute("aria-label", "t2, t = 6 s")
    page.keyboard.press("c")
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_text("Link copied.")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == page.url.partition("?")[0].partition("#")[0] + "#time=t00000006.000"
    page.get_by_role("button", name="Copy picture of t2").click()
    expect(page.get_by_text("Picture copied.")).to_be_visible()
    data = page.evaluate(READ)
    picture = Image.open(io.BytesIO(bytes(data)))
    assert (picture.format, picture.size) == ("PNG", (240, 180))
    assert picture.convert("L").getpixel((5, 5)) == 20 + 200 * 6 // 7


READ = """async () => {
  const [item] = await navigator.clipboard.read();
  return [...new Uint8Array(await (await item.getType("image/png")).arrayBuffer())];
}"""


@pytest.mark.parametrize("way", ["serve", "plain"])
def test_the_shown_pictures_and_files_are_saved(volume, ways, page, way):
    page.goto(getattr(ways, way)("made"))
    expect(page.locator("canvas.first").first).to_have_attribute("aria-label", "t2, t = 7 s")
    page.get_by_role("button", name="Link, pictures, files (C)").click()
    with page.expect_download() as got:
        page.get_by_role("link", name="Save picture of t2").click()
    assert got.value.suggested_filename == "t2_d01_t00000007.000.png"
    with page.expect_download() as got:
        page.locator(".share li", has_text="core_d01").get_by_role("link").click()
    assert got.value.path().read_bytes() == b"volume"
    expect(page.get_by_text("burstlens movie made t2")).to_be_visible()


def test_a_page_from_a_file_says_what_it_cannot_copy(volume, ways, page):
    page.goto(ways.file("made"))
    expect(page.locator("canvas.first").first).to_have_attribute("aria-label", "t2, t = 7 s")
    page.keyboard.press("c")
    expect(page.get_by_label("Link to this view")).to_have_value(volume.page.as_uri())
    expect(page.get_by_role("button", name="Copy picture of t2")).to_be_hidden()
    link = page.get_by_role("link", name="Open picture of t2")
    expect(link).to_have_attribute("href", re.compile(r"t2_d01_t00000007\.000\.png$"))
    page.keyboard.press("Escape")
    expect(page.get_by_label("Link to this view")).to_be_hidden()
    page.keyboard.press("Home")
    expect(page.locator("canvas.first").first).to_have_attribute("aria-label", "t2, t = 0 s")
    page.keyboard.press("c")
    expect(page.locator(".share li")).to_have_count(1)  # no volume at this time
