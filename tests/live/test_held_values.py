"""What the page keeps of values, and how often it asks for those that are missing: its own modules
and a run's files, in a browser."""

from __future__ import annotations

import re

import pytest

from burstlens.viz.live.page import module_text

STORE = """([base, bytes]) => {
  const source = new parts.$file_source.FileSource(base);
  globalThis.store = new parts.$field_store.FieldStore(source, () => {}, "", bytes);
  globalThis.loaded = async (...lines) => {
    store.want(lines);
    for (let turn = 0; turn < 2000 && !lines.every((line) => store.whole(line)); turn += 1) {
      await new Promise((done) => setTimeout(done, 5));
    }
    return lines.map((line) => store.whole(line));
  };
}"""


@pytest.fixture
def held(eight_drawn, new_page):
    """Opens a run's folder with a store of so many bytes: the page, and the lines of the run."""
    products, _, lines, _ = eight_drawn

    def open_(bytes_):
        watched = new_page()
        page = watched.page
        page.goto((products / lines[0]["name"]).as_uri())
        text = module_text()
        names = re.findall(r"^const (\$\w+)=\(", text, re.MULTILINE)
        script = f"{text}globalThis.parts={{{','.join(names)}}};"
        page.add_script_tag(type="module", content=script)
        page.wait_for_function("() => globalThis.parts")
        page.evaluate(STORE, [f"{products.as_uri()}/", bytes_])
        opened.append(watched)
        return page, lines

    opened: list = []
    yield open_
    for watched in opened:
        watched.page.close()
        watched.errors.clear()  # the browser logs what is missing


def collect(page):
    page.context.new_cdp_session(page).send("HeapProfiler.collectGarbage")


def test_what_frames_differ_by_keeps_no_frame_before_them(held):
    page, lines = held(1)
    page.evaluate(
        """async (lines) => {
          const weak = [];
          let before = null;
          for (const line of lines) {
            const [fields] = await loaded(line);
            if (before) parts.$difference.differenceOf(fields, before);
            weak.push(new WeakRef(fields));
            before = fields;
          }
          Object.assign(globalThis, { weak, last: before });
        }""",
        lines,
    )
    collect(page)
    alive = page.evaluate("() => weak.map((one) => one.deref() !== undefined)")
    assert alive == [False] * 7 + [True]


def test_a_difference_is_computed_once_for_two_frames(held):
    page, lines = held(2**20)
    assert page.evaluate(
        """async (lines) => {
          const [first, second] = await loaded(...lines);
          const { differenceOf } = parts.$difference;
          const found = differenceOf(first, second);
          return found === differenceOf(first, second) && found !== differenceOf(first, first);
        }""",
        lines[:2],
    )


def test_values_are_held_by_their_bytes_and_those_in_sight_always(held):
    page, lines = held(1)
    found = page.evaluate(
        """async (lines) => {
          await loaded(lines[0], lines[1]);
          const both = lines.map((line) => store.get(line) !== null);
          await loaded(lines[2]);
          return [both, lines.map((line) => store.get(line) !== null)];
        }""",
        lines[:3],
    )
    assert found == [[True, True, False], [False, False, True]]


def test_values_that_fit_are_held(held):
    page, lines = held(2**24)
    script = """async (lines) => {
      for (const line of lines) await loaded(line);
      return lines.every((line) => store.get(line));
    }"""
    assert page.evaluate(script, lines)


def test_painted_pictures_are_held_by_their_bytes_and_those_in_sight_are_painted_once(held):
    page, lines = held(2**24)
    same = page.evaluate(
        """async (lines) => {
          const looks = new parts.$looks.Looks(() => {}, 1);
          const look = { limits: [0, 1], map: null, minus: "", extremes: false };
          const paint = async (line) => {
            const [fields] = await loaded(line);
            const picture = await createImageBitmap(new ImageData(...fields.header.size));
            return looks.paint({ look, picture, fields, other: null });
          };
          globalThis.shown = await paint(lines[0]);
          globalThis.passed = new WeakRef(await paint(lines[1]));
          await paint(lines[2]);
          return shown === (await paint(lines[0]));
        }""",
        lines[:3],
    )
    assert same
    collect(page)
    assert page.evaluate("() => passed.deref() === undefined")


@pytest.mark.parametrize("what", ["values", "picture"])
def test_what_is_missing_is_asked_for_less_and_less_often(held, what):
    page, (line, *_) = held(1)
    lost = line | {"name": "t/lost.png", "values": line["values"] | {"name": "t/lost.values.js"}}
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.clock.install()
    page.evaluate(
        """async ([line, what]) => {
          if (what === "values") return store.want([line]);
          const source = { image: async () => new URL("lost.png", document.baseURI).href };
          globalThis.pictures = new parts.$pictures.Pictures(source, () => {});
          pictures.want([line], []);
        }""",
        [lost, what],
    )
    for _ in range(60):
        page.clock.run_for(10_000)
    count = sum("/lost." in url for url in asked)
    assert 1 < count < 20  # every 2 or 3 s it was 60 and more, in ten minutes
