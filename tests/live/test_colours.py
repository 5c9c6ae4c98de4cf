"""Own colours and differences on the page, in a real browser: frames and runs that lack values,
the picture of a compared run, the controls."""

from __future__ import annotations

import re
import shutil
import time

import pytest
from playwright.sync_api import expect
from pointing import YELLOW, hover, pixels

from burstlens.core.run.index import values_path

LOOK = "colours=t%20%C2%B7%20d01:"


def key(number):
    return f"20010203T{number:02d}0000"


def without_values(run, line):
    """Publish a frame anew, as one that could not be read."""
    hole = {name: value for name, value in line.items() if name != "values"}
    hole |= {"attempt": 2, "facts": {"placeholder": True, "reason": "damaged"}}
    run.index.append(hole)
    run.feed.add(hole)
    run.feed.write(force=True)


@pytest.fixture
def other(made, eight_drawn):
    """Another run, whose pictures are those of three frames later; its frame 4 has no values."""
    products, _, lines, _ = eight_drawn
    run = made("other", title="other")
    for grid in products.glob("live/grid-*.js"):
        shutil.copy(grid, run.run.products / "live")
    shutil.copytree(products / "t", run.run.products / "t")
    for number, line in enumerate(lines[3:]):
        run.index.append(line | {"time": key(number)})
        run.feed.add(line | {"time": key(number)})
    without_values(run, lines[7] | {"time": key(4)})
    return run


@pytest.fixture
def linked(opened):
    """Opens the page of a made run at a link."""

    def open_(fragment):
        watched = opened()
        watched.page.goto(f"{watched.page.url.partition('#')[0]}#{fragment}")
        watched.page.reload()
        return watched

    return open_


def as_drawn(page):
    """The pixels of a picture, as they are seen and without the reader's look."""
    spots = [(u, 0.5) for u in (0.3, 0.4, 0.5)]
    seen = pixels(page, *spots)
    page.get_by_role("button", name="Colours").click()
    page.get_by_role("button", name="As drawn").click()
    page.get_by_role("button", name="Colours").click()
    return seen, pixels(page, *spots)


def press(page, name, times=1):
    page.locator(".timeline").focus()
    for _ in range(times):
        page.keyboard.press(name)


@pytest.mark.parametrize("values", ["none", "lost"])
def test_a_frame_after_one_without_values_has_no_difference(
    eight_maps, eight_drawn, linked, values
):
    run, _ = eight_maps
    if values == "none":
        without_values(run, eight_drawn[2][2])
    else:
        values_path(run.run.products / "t" / f"t_d01_{key(2)}.png").unlink()
    watched = linked(f"time={key(1)}&{LOOK}::before:")
    page, label = watched.page, watched.page.locator(".range").first
    expect(label).to_contain_text("difference: mean")
    press(page, "ArrowRight", 2)
    expect(label).to_have_text(re.compile(r"^[\d.]+ to [\d.]+ K.*; no difference here$"))
    hover(page, 0.45, 0.5)
    expect(page.locator(".readout").first).not_to_contain_text("difference")
    seen, drawn = as_drawn(page)
    assert seen == drawn
    watched.errors.clear()  # the browser logs a script that is missing


def test_until_values_are_loaded_the_former_frame_is_seen_under_its_own_time(eight_maps, opened):
    watched = opened("plain")
    page, held = watched.page, []
    page.route(f"**/*{key(2)}.values.js*", lambda route: held.append(route))
    page.goto(f"{page.url.partition('#')[0]}#time={key(1)}&{LOOK}100;200:viridis::")
    page.reload()
    picture = page.locator("canvas.first").first
    label = "t, 2001-02-03 {:02d}:00"
    expect(picture).to_have_attribute("aria-label", re.compile(label.format(1)))
    while pixels(page, (0.45, 0.5)) != [YELLOW]:  # above the limits
        page.wait_for_timeout(50)
    press(page, "ArrowRight")
    page.wait_for_timeout(400)
    assert held
    expect(picture).to_have_attribute("aria-label", re.compile(label.format(1)))
    expect(page.locator(".when").first).to_contain_text("01:00")
    assert pixels(page, (0.45, 0.5)) == [YELLOW]
    for route in held:
        route.continue_()
    expect(picture).to_have_attribute("aria-label", re.compile(label.format(2)))
    expect(page.locator(".when").first).to_have_text("")


def test_pictures_of_two_runs_and_of_a_difference_are_named_apart(eight_maps, other, linked):
    page = linked(f"time={key(1)}&with=other,side").page
    first, second = page.locator("canvas.first").first, page.locator("canvas.second").first
    expect(first).to_have_attribute("aria-label", re.compile("^made, t, "))
    expect(second).to_have_attribute("aria-label", re.compile("^other, t, "))
    page.get_by_label("How to compare").select_option("difference")
    expect(first).to_have_attribute("aria-label", re.compile("^t, .*, minus "))
    expect(second).to_have_attribute("aria-hidden", "true")


def test_a_frame_that_the_other_run_has_without_values_has_no_difference(eight_maps, other, linked):
    page = linked(f"time={key(3)}&with=other,split&{LOOK}::run:").page
    label = page.locator(".range").first
    expect(label).to_contain_text("difference: mean")
    hover(page, 0.4, 0.5)
    expect(page.locator(".readout").first).to_contain_text("difference")
    press(page, "ArrowRight")
    expect(label).to_have_text(re.compile("; no difference here$"))
    hover(page, 0.41, 0.5)
    expect(page.locator(".readout").first).not_to_contain_text("difference")


def test_a_comparison_s_difference_is_that_of_the_values_in_units(eight_maps, other, linked):
    _, fields = eight_maps
    page = linked(f"time={key(3)}&with=other,difference").page
    label = page.locator(".range").first
    away = fields[3].astype("f8") - fields[6]
    rms = f"RMS {(away**2).mean() ** 0.5:.3g} K"
    expect(label).to_have_text(re.compile(rf"^difference: mean \u2212\d.*, {rms}$"))
    expect(page.locator(".glass")).to_have_attribute("data-mode", "difference")
    expect(page.locator(".mine")).to_have_text("made − other")
    hover(page, 0.45, 0.5)
    expect(page.locator(".readout").first).to_contain_text("difference")
    press(page, "ArrowRight")  # the other run's picture has no values there
    expect(page.locator(".word").first).to_contain_text("both pictures need values")
    expect(page.locator("canvas.first")).to_be_hidden()
    page.get_by_label("How to compare").select_option("split")
    expect(label).to_have_text(re.compile(r"^[\d.]+ to [\d.]+ K"))


def test_two_runs_with_other_limits_are_seen_in_one_scale(eight_maps, other, linked):
    values_path(other.run.products / "t" / f"t_d01_{key(5)}.png").unlink()  # of its frame 2
    watched = linked(f"time={key(3)}&with=other,split")
    page, label = watched.page, watched.page.locator(".range").first
    expect(label).to_contain_text("one scale for both runs")
    drawn = page.locator("canvas.first[data-plane]:not([data-plane=''])")
    box, plane = drawn.bounding_box(), drawn.get_attribute("data-plane").split(",")
    left, top, width, height = map(float, plane)
    across = (left + width + 18) / box["width"]
    bar = [(across, (top + height * at / 12) / box["height"]) for at in range(1, 12)]
    mine, theirs = (pixels(page, *bar, sheet=sheet) for sheet in ("first", "second"))
    assert mine == theirs
    assert len(set(mine)) > 8
    press(page, "ArrowLeft")
    expect(label).to_contain_text("two scales: the colours of other are")
    watched.errors.clear()  # the browser logs a script that is missing


def test_two_pictures_over_each_other_are_both_drawn_by_the_page_or_neither(
    eight_maps, other, linked
):
    page = linked(f"time={key(4)}&with=other,split").page  # the other one has no values there
    first = page.locator("canvas.first")
    expect(page.locator(".theirs")).to_have_text("other")
    expect(first).to_have_attribute("data-plane", "")
    page.get_by_label("How to compare").select_option("side")
    expect(first).to_have_attribute("data-plane", re.compile(r"\d"))


def test_limits_of_a_difference_colour_nothing_else(eight_maps, other, linked):
    page = linked(f"time={key(3)}&with=other,split&{LOOK}-2;2:viridis:run:").page
    label = page.locator(".range").first
    expect(label).to_contain_text("difference: mean")
    page.get_by_role("button", name="End", exact=True).click()
    expect(label).to_have_text(re.compile("; no difference here$"))
    page.get_by_role("button", name="Colours").click()
    expect(page.get_by_label("Highest value of the colours")).to_be_disabled()
    page.get_by_role("button", name="Colours").click()
    seen, drawn = as_drawn(page)
    assert seen == drawn


def test_the_values_in_sight_of_a_difference_are_differences(eight_maps, linked):
    page = linked(f"time={key(3)}&{LOOK}::before:").page
    expect(page.locator(".range").first).to_contain_text("difference: mean")
    page.get_by_role("button", name="Colours").click()
    page.get_by_role("button", name="To the values in sight").click()
    low = page.get_by_label("Lowest value of the colours")
    expect(low).to_have_value(re.compile(r"^-?\d(\.\d+)?$"))


def test_both_runs_are_seen_in_the_colours_that_a_reader_has_chosen(eight_maps, other, linked):
    page = linked(f"time={key(3)}&with=other,side&{LOOK}100;200:viridis::").page
    end = time.monotonic() + 60
    for sheet in ("first", "second"):
        while pixels(page, (0.45, 0.5), sheet=sheet) != [YELLOW]:  # above the limits
            assert time.monotonic() < end, sheet


def test_the_open_controls_show_no_values_of_another_frame(eight_maps, eight_drawn, linked):
    without_values(eight_maps[0], eight_drawn[2][6])
    page = linked(f"time={key(5)}").page
    button, controls = page.get_by_role("button", name="Colours"), page.locator(".palette")
    button.click()
    words, bars = controls.locator(".faint"), controls.locator("path.bars")
    expect(words).to_contain_text(" to ")
    press(page, "ArrowRight")
    expect(words).to_have_text("")
    expect(bars).to_have_attribute("d", "")
    button.click()
    expect(controls).to_be_hidden()
    expect(button).to_be_hidden()


def test_escape_closes_the_controls_and_the_keys_go_on_at_their_button(eight_maps, opened):
    page = opened().page
    button, controls = page.get_by_role("button", name="Colours"), page.locator(".palette")
    for inside in (button, page.get_by_label("Lowest value of the colours")):
        button.click()
        inside.press("Escape")
        expect(controls).to_be_hidden()
        expect(button).to_be_focused()
        expect(button).to_have_attribute("aria-expanded", "false")


@pytest.mark.parametrize("width", [390, 1440, 3840])
@pytest.mark.parametrize("beside", ["", "beside=other"])
def test_the_controls_have_room_and_leave_their_button_free(
    eight_maps, other, linked, width, beside
):
    page = linked(beside).page
    page.set_viewport_size({"width": width, "height": 844 if width == 390 else 1000})
    button, controls = page.get_by_role("button", name="Colours").first, page.locator(".palette")
    button.click()
    expect(controls.first.locator(".faint")).to_contain_text(" to ")
    assert controls.first.evaluate("one => one.scrollWidth - one.clientWidth") == 0
    glass, box = page.locator(".glass").first.bounding_box(), controls.first.bounding_box()
    assert glass["x"] <= box["x"] <= box["x"] + box["width"] <= glass["x"] + glass["width"]
    below = page.locator(".readout").first.bounding_box()
    assert glass["y"] <= box["y"] <= box["y"] + box["height"] <= glass["y"] + glass["height"]
    assert below["y"] == pytest.approx(glass["y"] + glass["height"], abs=1)
    button.click()
    expect(controls.first).to_be_hidden()


def luminance(colour):
    """The relative luminance of ``rgb(red, green, blue)`` (WCAG 2.2)."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_letters_of_kept_places_can_be_read_on_their_colours(eight_maps, linked):
    page = linked("pins=45;-96_46;-96_47;-96_45;-97_46;-97_47;-97").page
    for signs in (page.locator(".places .pin"), page.locator(".flag span")):
        expect(signs).to_have_count(6)
        colours = signs.evaluate_all(
            "all => all.map(getComputedStyle).map(one => [one.color, one.backgroundColor])"
        )
        assert len({behind for _, behind in colours}) == 6
        for pair in colours:
            dark, light = sorted(map(luminance, pair))
            assert (light + 0.05) / (dark + 0.05) >= 4.5, pair


def test_the_first_frame_has_none_before_it(eight_maps, linked):
    page = linked(f"time={key(0)}&{LOOK}::before:").page
    expect(page.locator(".range").first).to_have_text(re.compile("; no difference here$"))


def test_extremes_and_the_saved_table_of_a_difference_are_those_of_its_values(eight_maps, linked):
    _, fields = eight_maps
    page = linked(f"time={key(5)}&{LOOK}::before:1").page
    away = fields[5].astype("f8") - fields[4]
    expect(page.locator(".range").first).to_have_text(re.compile("^difference: "))
    for name, value in (("least", away.min()), ("most", away.max())):
        label = page.locator(f".extreme.{name}:not([hidden])").first
        expect(label).to_contain_text("K")
        shown = float(label.inner_text().replace("\u2212", "-").split()[0])
        assert shown == pytest.approx(value, abs=0.02)
    page.get_by_role("button", name="Link, pictures, files (C)").click()
    with page.expect_download() as got:
        page.get_by_role("button", name="Values (CSV)").click()
    lines = got.value.path().read_text().splitlines()
    assert "# difference: minus 2001-02-03 04:00:00 UTC" in lines
    heading, *rows = [line.split(",") for line in lines if not line.startswith("#")]
    assert heading[-1] == "difference of t (K)"
    for row in rows[::97]:
        at = dict(zip(heading, row, strict=True))
        true = away[int(at["y index"]), int(at["x index"])]
        assert float(at[heading[-1]]) == pytest.approx(true, abs=0.02)


def test_a_stretch_of_a_difference_is_symmetric(eight_maps, linked):
    page = linked(f"time={key(5)}&{LOOK}::first:").page
    expect(page.locator(".range").first).to_contain_text("difference")
    page.get_by_role("button", name="Colours").click()
    page.get_by_role("button", name="To the values in sight").click()
    page.wait_for_function("() => /colours=[^&]*:-/.test(decodeURIComponent(location.hash))")
    low, high = (page.get_by_label(f"{end} value of the colours") for end in ("Lowest", "Highest"))
    assert float(low.input_value()) == -float(high.input_value()) < 0
