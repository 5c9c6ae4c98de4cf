"""How the page shows index lines and alarms without some keys that a driver writes."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect


@pytest.fixture
def publish_without(eight, greys):
    """Returns a function that publishes a frame by a line without some key."""

    def publish_without(key, number, product="t2", suffix=".png", **others):
        file = greys[0].rename(greys[0].with_suffix(suffix))
        line = eight.line(number, file, product) | others
        place = eight.run.products / str(line["name"])
        place.parent.mkdir(exist_ok=True)
        place.hardlink_to(file)
        del line[key]
        eight.index.append(line)
        eight.feed.add(line)
        eight.feed.write(force=True)

    return publish_without


def test_the_range_is_drawn_of_frames_that_have_a_largest_value_only(
    made, greys, ways_to, page, await_frame
):
    run = made()
    for number, picture in enumerate(greys):
        run.publish(number, picture, min=None)
    run.feed.write(force=True)
    page.goto(ways_to(run.run.path.parent).file("made"))
    await_frame(page, 7)
    expect(page.get_by_role("img", name="Range")).to_have_attribute(
        "aria-label", "Range: T2 in K: smallest largest"
    )


def test_a_publication_without_its_time_leaves_the_measures_as_they_are(
    publish_without, ways, page, await_frame
):
    publish_without("t", 8)
    page.goto(ways.file("made"))
    await_frame(page, 8, 9)
    expect(page.get_by_role("img", name="Latency")).to_have_attribute(
        "aria-label", "Latency: last 0.25 s, median 0.25 s"
    )
    ticks = page.get_by_role("figure", name="Latency").locator("text")
    assert "NaN" not in " ".join(ticks.all_text_contents())


def test_raw_data_of_no_bytes_are_a_gap_of_the_logarithmic_ledger(
    publish_without, ways, page, await_frame
):
    publish_without("fill", 8, raw_bytes=0)
    page.goto(ways.file("made"))
    await_frame(page, 8, 9)
    paths = page.get_by_role("figure", name="Ledger").locator("path")
    drawn = [one.get_attribute("d") or "" for one in paths.all()]
    assert any(drawn)
    assert "Infinity" not in " ".join(drawn)


def test_the_ledger_counts_the_values_beside_pictures(publish_without, ways, page, await_frame):
    values = {"name": "t2/t.values.js", "bytes": 5 * 2**20, "crc32": 1}
    publish_without("fill", 8, values=values, bytes=3 * 2**20)
    page.goto(ways.file("made"))
    await_frame(page, 8, 9)
    expect(page.get_by_role("figure", name="Ledger")).to_contain_text("brought out 8.0")


def test_a_file_of_unknown_size_is_offered_without_a_size(publish_without, ways, page, await_frame):
    publish_without("bytes", 7, product="volume", suffix=".vti")
    page.goto(ways.file("made"))
    await_frame(page, 7)
    name = "volume_d01_t00000007.000.vti"
    row = page.get_by_role("link", name=name).locator("..")
    assert row.text_content() == name


def test_an_alarm_without_a_time_says_that_it_is_unknown(eight, ways, page, await_frame):
    eight.update_status(alarms=[{"text": "hot"}])
    page.goto(ways.file("made"))
    await_frame(page, 7)
    expect(page.locator(".alarms li")).to_contain_text("Alarm, time unknown")
