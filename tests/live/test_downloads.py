"""What the page saves: values of the picture in sight, in a real browser."""

from __future__ import annotations

import csv
import json
import math
import re
import zlib

import numpy as np
import pytest
from playwright.sync_api import expect
from pointing import hover, index_of, pin, table
from valued_run import GRIDS, moved, publish

from burstlens.core.run.index import values_path
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.values.script import ValuesFile

KEY = "20010203T010000"
FLAT = "20010203T070000"


def saved_values(page, product="t"):
    """The header lines and the rows of the CSV that the page saves."""
    page.get_by_role("button", name=re.compile("Link, pictures")).click()
    with page.expect_download() as got:
        page.get_by_role("button", name=f"Values (CSV) of {product}").click()
    expect(page.locator(".said")).to_contain_text("values saved")
    text = got.value.path().read_text()
    page.keyboard.press("Escape")
    head = [line for line in text.splitlines() if line.startswith("#")]
    # As readers take it that pass over lines with a "#", and know nothing of quotes there.
    names, *values = csv.reader(line for line in text.splitlines() if not line.startswith("#"))
    return head, [dict(zip(names, row, strict=True)) for row in values]


@pytest.mark.parametrize(
    ("grid", "way"), [*((grid, "file") for grid in GRIDS), ("lambert", "serve")]
)
def test_the_values_of_a_picture_are_saved_with_place_index_and_units(
    grid, way, made, opened, tmp_path
):
    case = GRIDS[grid](tmp_path)
    run = made()
    line = publish(run, case.kind, "t", case.path, KEY, **case.options)
    path = run.run.products / line["values"]["name"]
    field, [facts] = ValuesFile(path).fields[0], header_of(path)[0]["fields"]
    page = opened(way).page
    head, rows = saved_values(page)
    assert head[0] == "# run: made"
    assert any("2001-02-03 01:00:00 UTC" in text for text in head)
    assert any("step of quantisation" in text for text in head)
    assert "# all points that are kept" in head
    assert len(rows) == facts["nx"] * facts["ny"]
    name = list(rows[0])[-1]
    half = field.scale.scale / 2
    for row in rows[:: max(1, len(rows) // 50)]:
        at = {key[:-6]: int(at) for key, at in row.items() if key.endswith(" index")}
        true, value = case.values(at), float(row[name])
        allowed = abs(true) * math.expm1(half) if case.relative else half
        assert abs(value - true) <= allowed * 1.0001 + 1e-8, row
    # The same point under the cursor: the place is one of its cell.
    found = hover(page, 0.45, 0.5)
    [near] = [row for row in rows if all(
        row[f"{dim} index"] == at for dim, at in re.findall(r"(\w+) (\d+)", found["index"])
    )]  # fmt: skip
    assert float(near[name]) == pytest.approx(float(found["value"]), rel=1e-8)
    for key in ("lat", "lon"):
        if key in found and key in near:
            assert float(near[key]) == pytest.approx(float(found[key]), abs=0.6)


def test_only_the_part_in_sight_is_saved_and_named_where_the_picture_is_magnified(
    eight_maps, opened
):
    page = opened().page
    _, whole = saved_values(page)
    for _ in range(6):
        page.keyboard.press("+")
    head, part = saved_values(page)
    assert 9 < len(part) < len(whole) / 4
    [said] = [text for text in head if "only the part in sight" in text]
    for name in ("lon", "lat", "x index", "y index"):
        numbers = [float(row[name]) for row in part]
        ends = re.search(rf"{name} (\S+) to ([^\s,]+)", said).groups()
        assert [float(end) for end in ends] == [min(numbers), max(numbers)]
    assert all(row in whole for row in part)
    expect(page.locator(".said")).to_contain_text("the part in sight")


def test_fields_of_nests_follow_each_other_with_their_label(made, opened, tmp_path):
    """Two fields of one picture, as of a nest over its parent."""
    case = GRIDS["lambert"](tmp_path)
    run = made()
    line = publish(run, case.kind, "t", case.path, KEY, **case.options)
    twice(run.run.products / line["values"]["name"], "=nest, d02")
    head, rows = saved_values(opened().page)
    labels = [row["field"] for row in rows]
    assert labels == ["1"] * (len(rows) // 2) + ["'=nest, d02"] * (len(rows) // 2)
    assert any("the last one is drawn" in text for text in head)


def header_of(path):
    """The header of a file of values, and the bytes behind it."""
    import base64

    payload = base64.b64decode(re.search(r'"(.*)"', path.read_text())[1])
    length = int.from_bytes(payload[4:8], "little")
    return json.loads(payload[8 : 8 + length]), payload[8 + length :]


def write(path, header, rest):
    import base64

    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    payload = b"BLV1" + len(text).to_bytes(4, "little") + text + rest
    path.write_text(f'burstlensFeed("{base64.b64encode(payload).decode()}");\n')


def twice(path, label):
    """Give a picture's values a second field, a copy of the first."""
    header, rest = header_of(path)
    [field] = header["fields"]
    blocks = -(-field["nx"] // header["block"]) * -(-field["ny"] // header["block"])
    raw = zlib.decompressobj(-15).decompress(rest[4 * blocks : 4 * blocks + header["bytes"]])
    stream = deflated(raw + raw)
    ends = b"".join(len(stream).to_bytes(4, "little") for _ in range(2 * blocks))
    header["fields"].append(field | {"first": blocks, "label": label})
    write(path, header | {"bytes": len(stream), "overlay": []}, ends + stream)


def deflated(data):
    squeezed = zlib.compressobj(9, zlib.DEFLATED, -15)
    return squeezed.compress(data) + squeezed.flush()


@pytest.mark.parametrize("fault", ["bomb", "sizes", "block"])
def test_values_that_hold_more_than_their_header_says_are_given_up(eight_maps, opened, fault):
    run, _ = eight_maps
    path = values_path(run.run.products / "t" / f"t_d01_{FLAT}.png")
    header, rest = header_of(path)
    if fault == "bomb":
        stream = deflated(bytes(1 << 30))  # 1 MB on disk
        write(path, header | {"bytes": len(stream), "overlay": []}, rest[:4] + stream)
    elif fault == "sizes":
        header["fields"][0] |= {"nx": 1_000_000, "ny": 1_000_000}
        write(path, header | {"block": 1_000_000}, rest)
    else:
        write(path, header | {"block": 0.001}, rest)
    page = opened().page
    assert hover(page, 0.45, 0.5) == {}
    assert page.locator(".readout").first.inner_text() == "This picture has no values"
    page.get_by_role("button", name=re.compile("Link, pictures")).click()
    page.get_by_role("button", name="Values (CSV) of t").click()
    said = page.locator(".said")
    expect(said).to_contain_text("The values cannot be saved: ")
    if fault == "bomb":
        expect(said).to_contain_text("values longer than their header says")


@pytest.mark.parametrize("way", ["file", "serve"])
def test_values_are_decoded_where_no_worker_can_be_had(eight_maps, new_page, ways_to, way):
    run, fields = eight_maps
    page = new_page().page
    page.add_init_script("delete globalThis.Worker")
    page.goto(getattr(ways_to(run.run.path.parent), way)("made"))
    found = hover(page, 0.45, 0.5)
    at = {name: int(at) for name, at in re.findall(r"(\w+) (\d+)", found["index"])}
    assert float(found["value"]) == pytest.approx(fields[-1][at["y"], at["x"]], abs=0.01)
    assert page.evaluate("typeof Worker") == "undefined"


def test_the_copy_of_a_picture_has_the_reader_s_colours(eight_maps, new_page, ways_to):
    run, _ = eight_maps
    watched = new_page(permissions=["clipboard-read", "clipboard-write"])
    page = watched.page
    page.goto(ways_to(run.run.path.parent).serve("made"))
    hover(page, 0.45, 0.5)
    page.get_by_role("button", name="Colours").click()
    page.get_by_label("Colour map").select_option("viridis")
    high = page.get_by_label("Highest value of the colours")
    page.get_by_label("Lowest value of the colours").fill("100")
    high.fill("200")
    high.press("Tab")
    page.wait_for_timeout(500)
    page.get_by_role("button", name=re.compile("Link, pictures")).click()
    page.get_by_role("button", name="Copy picture of t").click()
    expect(page.locator(".said")).to_have_text("Picture copied.")
    colours = page.evaluate(COPIED)
    assert colours == "253,231,37"  # all is above: viridis' last colour


COPIED = """async () => {
  const [item] = await navigator.clipboard.read();
  const image = await createImageBitmap(await item.getType("image/png"));
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(image, 0, 0);
  const at = context.getImageData(image.width * 0.45, image.height * 0.5, 1, 1).data;
  return [...at].slice(0, 3).join();
}"""


def test_a_series_whose_answer_breaks_off_is_asked_for_again(
    eight_maps, new_page, ways_to, tmp_path
):
    run, _ = eight_maps
    for number in range(8, 20):
        publish(run, "map", "t", tmp_path / "3.nc", f"20010203T{number:02d}0000", variable="t")
    page = new_page().page
    asked = []

    def broken(route):
        """Half of the first answer."""
        asked.append(route.request.url)
        if len(asked) > 1:
            return route.continue_()
        body = route.fetch().text().splitlines(keepends=True)
        return route.fulfill(body="".join(body[:6]) + body[6][:4])

    page.route("**/series?*", broken)
    page.goto(ways_to(run.run.path.parent).serve("made"))
    hover(page, 0.45, 0.5)
    page.mouse.down()
    page.mouse.up()
    caption = page.locator("[aria-label='Kept places'] figcaption")
    expect(caption).to_contain_text("5 of 20 frames")
    expect(caption).not_to_contain_text("of 20", timeout=15_000)
    assert len(asked) == 2


@pytest.fixture
def beside(eight_maps, made, tmp_path):
    """Another run beside ``made``, of three frames whose field lies elsewhere; their fields."""
    other, fields = made("other", title="Other"), []
    for number in range(3):
        path = moved(tmp_path / f"other-{number}.nc", tmp_path / "0.nc", "t", number + 11)
        publish(other, "map", "t", path, f"20010203T{number:02d}0000", variable="t")
        with netCDF4.Dataset(path) as data:
            fields.append(np.asarray(data["t"][0], "f8"))
    return fields


@pytest.mark.parametrize("way", ["file", "serve"])
def test_a_kept_place_is_marked_and_followed_in_every_run_beside(
    eight_maps, beside, new_page, ways_to, way
):
    run, mine = eight_maps
    page = new_page().page
    base = getattr(ways_to(run.run.path.parent), way)("made")
    page.goto(base)
    page.goto(page.url.partition("#")[0] + "#beside=other")
    expect(page.locator(".pane")).to_have_count(2)
    pin(page, 0.45, 0.5)
    expect(page.locator(".flag")).to_have_count(2)
    at = index_of(page.locator(".readout").first.get_attribute("data-index"))
    expect(page.get_by_label("Lines of the runs").locator("li")).to_have_text(["made", "other"])
    caption = page.locator("[aria-label='Kept places'] figcaption")
    expect(caption).not_to_contain_text("frames", timeout=15_000)
    lines = page.locator("[aria-label='Kept places'] figure .curve[d^=M]")
    expect(lines).to_have_count(2)
    dashes = lines.evaluate_all("all => all.map(one => one.style.strokeDasharray)")
    assert dashes == ["none", "6, 3"]
    rows = table(page)
    assert list(rows[0]) == ["run", "product", "units", "stream", "station", "time", "A"]
    found = {(row["run"], row["time"]): float(row["A"]) for row in rows}
    assert len(found) == 11
    for name, fields in (("made", mine), ("other", beside)):
        for number, field in enumerate(fields):
            value = found[name, f"20010203T{number:02d}0000"]
            assert value == pytest.approx(field[at["y"], at["x"]], abs=0.01)


def test_a_run_beside_without_values_is_named_as_one(eight_maps, made, greys, opened):
    other = made("other")
    for number in range(2):
        other.publish(number, greys[number], "t", units="K")
    other.feed.write(force=True)
    page = opened().page
    page.goto(page.url.partition("#")[0] + "#beside=other")
    pin(page, 0.45, 0.5)
    lines = page.get_by_label("Lines of the runs").locator("li")
    expect(lines).to_have_text(["made", "other: no values in these units"])


def test_the_server_makes_a_movie_and_a_file_says_the_command(eight_maps, new_page, ways_to):
    run, _ = eight_maps
    ways = ways_to(run.run.path.parent)
    page = new_page().page
    page.goto(ways.serve("made"))
    hover(page, 0.45, 0.5)
    page.get_by_role("button", name=re.compile("Link, pictures")).click()
    with page.expect_download(timeout=60_000) as got:
        page.get_by_role("button", name="Make movie of t").click()
    assert got.value.suggested_filename == "made-t.mp4"
    assert b"ftyp" in got.value.path().read_bytes()[:16]
    expect(page.locator(".said")).to_have_text("Movie saved.")
    other = new_page(permissions=["clipboard-read", "clipboard-write"]).page
    other.goto(ways.file("made"))
    hover(other, 0.45, 0.5)
    other.get_by_role("button", name=re.compile("Link, pictures")).click()
    expect(other.get_by_role("button", name=re.compile("Make movie"))).to_have_count(0)
    other.locator(".movies").get_by_role("button", name="Copy").click()
    expect(other.locator(".movies button")).to_have_text("Copied")
    assert other.evaluate("navigator.clipboard.readText()") == "burstlens movie made t"
