"""Pictures in a terminal: what is sent, when, and how keys are kept."""

from __future__ import annotations

import base64
import fcntl
import io
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import termios
import time

import numpy as np
import pytest
from matplotlib import colormaps
from PIL import Image
from rich.color import ColorSystem
from rich.console import Console
from values_case import ValuesRun

from burstlens.clients.api.run import open_run
from burstlens.clients.opened.spot import Spot
from burstlens.clients.preview import encoding, watching
from burstlens.clients.preview.ability import Ability, ability, quiet_keys
from burstlens.clients.preview.canvas import Canvas
from burstlens.workflows.placement.supervisor import start_ticks

KITTY = b"\x1b_Gi=31;OK\x1b\\\x1b[6;16;8t\x1b[?62;c"
SIXEL = b"\x1b[6;16;8t\x1b[?62;4;22c"
PLAIN = b"\x1b[?62;22c"


@pytest.fixture
def chart():
    """A picture with a white edge, red above and blue below."""
    picture = Image.new("RGB", (60, 40), "white")
    picture.paste((200, 0, 0), (10, 10, 50, 20))
    picture.paste((0, 0, 200), (10, 20, 50, 30))
    return picture


def near(picture, at, colour):
    return max(abs(a - b) for a, b in zip(picture.getpixel(at), colour, strict=True)) <= 8


def decode_sixels(data):
    """The picture that a terminal would show for sixels."""
    header, _, body = data.decode("ascii").removesuffix("\x1b\\").partition('"')
    assert header == "\x1bP0;1;0q"
    width, height = map(int, re.match(r"1;1;(\d+);(\d+)", body).groups())
    pixels, palette = np.zeros((height + 6, width, 3), dtype=np.uint8), {}
    x = y = now = 0
    for token in re.findall(r"#[\d;]+|![\d]+.|[$\-?-~]", body[body.index("#") :]):
        if token.startswith("#"):
            number, *rest = map(int, token[1:].split(";"))
            if rest:
                palette[number] = [part * 255 // 100 for part in rest[1:]]
            now = number
        elif token in "$-":
            x, y = 0, y + 6 * (token == "-")
        else:
            count, sign = (int(token[1:-1]), token[-1]) if token[0] == "!" else (1, token)
            for bit in range(6):
                if (ord(sign) - 63) >> bit & 1:
                    pixels[y + bit, x : x + count] = palette[now]
            x += count
    return Image.fromarray(pixels[:height])


def decode_cells(rows):
    """The same for half-blocks in 24-bit colours."""
    pixels = []
    for row in rows:
        above, below, front, back = [], [], None, None
        for codes, sign in re.findall(r"\x1b\[([\d;]*)m|([▀ ])", row):
            if sign:
                above.append(front if sign == "▀" else back)
                below.append(back)
            for kind, *colour in re.findall(r"(38|48);2;(\d+);(\d+);(\d+)", codes):
                if kind == "38":
                    front = tuple(map(int, colour))
                else:
                    back = tuple(map(int, colour))
        pixels += [above, below]
    return Image.fromarray(np.array(pixels, dtype=np.uint8))


def test_sixels_show_the_picture(chart):
    shown = decode_sixels(encoding.sixels(chart))
    assert shown.size == chart.size
    for at in ((2, 2), (30, 12), (30, 25), (30, 39)):
        assert near(shown, at, chart.getpixel(at))


def test_kitty_gets_a_png_in_chunks_that_takes_the_place_of_the_one_before():
    noise = np.random.default_rng(1).integers(0, 255, (90, 90, 3), dtype=np.uint8)
    sent = encoding.kitty(Image.fromarray(noise), 20, 10)
    parts = re.findall(rb"\x1b_G([^;\x1b]*);?([^\x1b]*)\x1b\\", sent)
    assert parts[0][0].startswith(b"a=d,d=I,i=7303")
    assert b"c=20,r=10" in parts[1][0]
    assert [keys[-3:] for keys, _ in parts[1:]] == [b"m=1"] * (len(parts) - 2) + [b"m=0"]
    assert max(len(data) for _, data in parts) <= 4096
    with Image.open(io.BytesIO(base64.b64decode(b"".join(it for _, it in parts)))) as shown:
        assert shown.size == (90, 90)


def test_half_blocks_show_two_pixels_a_cell(chart):
    shown = decode_cells(encoding.half_blocks(chart, ColorSystem.TRUECOLOR))
    assert shown.size == chart.size
    for at in ((2, 2), (30, 12), (30, 25), (30, 39)):
        assert near(shown, at, chart.getpixel(at))


def test_256_colours_keep_greys_grey():
    grey = Image.new("RGB", (1, 2), (244, 242, 238))
    [row] = encoding.half_blocks(grey, ColorSystem.EIGHT_BIT)
    assert re.search(r"48;5;(25[0-5]|231)m", row)


def test_the_ends_of_a_diverging_colour_map_keep_their_colours():
    lookup = (colormaps["RdBu"](np.linspace(0, 1, 400))[:, :3] * 255).astype(np.uint8)
    pixels = np.full((400, 400, 3), 240, dtype=np.uint8)  # mostly nothing, a thin colour bar
    pixels[:, :6] = lookup[:, None]
    shown = decode_sixels(encoding.sixels(Image.fromarray(pixels)))
    for row in (2, 40, 360, 397):
        got, wanted = shown.getpixel((3, row)), lookup[row]
        assert max(abs(int(a) - int(b)) for a, b in zip(got, wanted, strict=True)) < 40


@pytest.fixture
def terminal():
    """A pseudo-terminal: the terminal's end, the program's end."""
    upper, lower = pty.openpty()
    yield upper, lower
    os.close(upper)
    os.close(lower)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("answer", "way", "cell"),
    [(KITTY, "kitty", (8, 16)), (SIXEL, "sixel", (8, 16)), (PLAIN, "cells", (8, 16))],
)
def test_a_terminal_is_asked_what_it_can(terminal, answer, way, cell):
    upper, lower = terminal
    with quiet_keys(lower):
        if os.fork() == 0:
            asked = b""
            while b"\x1b[c" not in asked:
                asked += os.read(upper, 100)
            os.write(upper, answer)
            os._exit(0)
        assert ability(lower, lower) == Ability(way, cell)
    os.wait()


def test_a_terminal_that_never_answers_is_not_waited_for(terminal):
    _, lower = terminal
    with quiet_keys(lower):
        begin = time.monotonic()
        assert ability(lower, lower, limit_s=0.2).way == "cells"
    assert 0.2 <= time.monotonic() - begin < 60


def test_what_was_typed_ahead_stays_for_the_shell(terminal):
    upper, lower = terminal
    os.write(upper, b"ls\n")
    with quiet_keys(lower):
        assert ability(lower, lower).way == "cells"
    assert os.read(lower, 10) == b"ls\n"
    assert not select.select([upper], [], [], 0)[0] or b"\x1b" not in os.read(upper, 100)


@pytest.fixture(scope="module")
def going_on(standing, tmp_path_factory):
    """A copy of a real run as it stood before its end; by its status this process drives it."""
    standing.done()
    place = shutil.copytree(standing.runs / "done", tmp_path_factory.mktemp("runs") / "live")
    status = json.loads((place / "status.json").read_text())
    me = {"pid": os.getpid(), "ticks": start_ticks(os.getpid()), "heartbeat": time.time()}
    status |= {"state": "running", "outcome": None, "driver": status["driver"] | me}
    (place / "status.json").write_text(json.dumps(status))
    return place


def watch(run, answer, env=(), limit_s=120, until=b"", size=(40, 100, 800, 640)):
    """What ``burstlens watch RUN --picture`` sends to a terminal that gives this answer."""
    pid, upper = pty.fork()
    if pid == 0:
        os.environ |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
        os.environ.pop("NO_COLOR", None)
        os.environ |= dict(env)
        words = [sys.executable, "-m", "burstlens", "watch", str(run), "--picture"]
        os.execv(sys.executable, words)
    fcntl.ioctl(upper, termios.TIOCSWINSZ, struct.pack("HHHH", *size))
    said, end, asked = b"", time.monotonic() + limit_s, False
    while time.monotonic() < end and until not in said:
        if select.select([upper], [], [], 0.1)[0]:
            try:
                said += os.read(upper, 65536)
            except OSError:  # it has ended
                break
        if b"\x1b[c" in said and not asked:
            asked = True
            os.write(upper, answer)
    ended = False
    while not ended:  # Python drops an interrupt that comes in the middle of an import
        os.kill(pid, signal.SIGINT)
        try:
            while not ended and select.select([upper], [], [], 5.0)[0]:
                part = os.read(upper, 65536)
                said, ended = said + part, not part
        except OSError:
            ended = True
    os.close(upper)
    assert os.waitpid(pid, 0)[1] == 0
    assert b"Traceback" not in said
    return said


@pytest.mark.parametrize(
    ("answer", "mark"), [(SIXEL, b"\x1bP0;1;0q"), (KITTY, b"m=0;"), (PLAIN, "▀".encode())]
)
def test_watch_shows_the_newest_picture_and_gives_the_screen_back(going_on, answer, mark):
    said = watch(going_on, answer, until=b"w, 0001-01-01 00:02:00")
    assert mark in said
    assert "Supercell · live".encode() in said
    assert said.rfind(b"\x1b[?1049l") > said.rfind(b"\x1b[?1049h") > -1
    assert said.rfind(b"\x1b[?25h") > said.rfind(b"\x1b[?25l")


@pytest.mark.parametrize(
    ("answer", "mark"), [(SIXEL, b"\x1bP0;1;0q"), (KITTY, b"m=0;"), (PLAIN, "▀".encode())]
)
def test_the_last_picture_of_a_run_that_is_over_stays_on_the_screen(standing, answer, mark):
    standing.done()
    said = watch(standing.runs / "done", answer, until=b"its own end")
    stays = said[said.rfind(b"\x1b[?1049l") :]
    assert mark in stays
    assert stays.index(mark) < stays.index(b"w, 0001-01-01 00:02:00") < stays.index(b"  pictures  ")


def test_an_unknown_product_is_an_error_without_pictures_too(standing):
    standing.done()
    done = standing.call("watch", str(standing.runs / "done"), "--product", "nope")
    assert done.returncode == 1
    assert "nope" in done.stderr


def test_no_color_and_dumb_terminals_get_words(going_on):
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        said = watch(
            going_on, PLAIN, env.items(), until=b"no pictures: the output is not a terminal"
        )
        assert b"no pictures: the output is not a terminal" in said
        assert b"\x1b_G" not in said
        assert "▀".encode() not in said


@pytest.fixture
def preview(standing, tmp_path, capfd):
    """A preview of a copy of a real run on a terminal of 60 by 20, with a clock of the test's."""
    standing.done()
    place = shutil.copytree(standing.runs / "done", tmp_path / "done")
    index = place / "products" / "index.jsonl"
    lines = [it for it in index.read_text().splitlines() if json.loads(it)["product"] == "w"]
    lines.sort(key=lambda it: json.loads(it)["time"])
    index.write_text("")
    console = Console(force_terminal=True, width=60, height=20, color_system="truecolor")
    canvas = Canvas(console)
    now = [0.0]
    made = watching.Preview(open_run(place), None, canvas, Ability("cells"), clock=lambda: now[0])

    def look(*, publish=0, seconds=0.0):
        """Look, after ``publish`` more publications and ``seconds``; returns what is sent."""
        with index.open("a") as stream:
            for _ in range(publish):
                stream.write(lines.pop(0) + "\n")
        now[0] += seconds
        capfd.readouterr()
        made.look(made.run.read_status())
        return capfd.readouterr().out

    look.console = console
    return look


def test_a_picture_is_sent_when_it_changes_and_never_faster_than_a_slow_line(preview):
    assert "no picture yet" in preview()
    first = preview(publish=1)
    assert "▀" in first
    assert "▀" not in preview(seconds=100)  # nothing new
    second = preview(publish=1)
    assert "▀" in second
    least_s = len(second.encode()) / watching.BYTES_PER_SECOND
    assert "▀" not in preview(publish=1, seconds=0.5 * least_s)
    assert "▀" in preview(seconds=least_s)


def test_another_size_draws_it_anew_to_fit(preview):
    preview(publish=1)
    preview.console.width = 30
    again = preview(seconds=100)
    assert "\x1b[2J" in again
    rows = re.findall(r"\x1b\[(\d+);1H([^\x1b]*(?:\x1b\[[\d;]*m[^\x1b]*)*)", again)
    widths = [len(re.sub(r"\x1b\[[\d;]*m", "", text)) for _, text in rows]
    assert 20 < max(widths) <= 30
    assert max(int(row) for row, _ in rows) <= 20


def test_the_value_of_the_shown_picture_at_the_place_stands_in_its_label(tmp_path, capfd):
    made = ValuesRun(tmp_path)
    path = made.publish(0)
    Image.new("RGB", (60, 40), "white").save(path.parent / path.name.replace(".values.js", ".png"))
    console = Console(force_terminal=True, width=120, height=20, color_system="truecolor")
    shown = watching.Preview(
        open_run(made.run.path), None, Canvas(console), Ability("cells"), spot=Spot.of(27.0, -92.0)
    )
    shown.look(shown.run.read_status())
    assert "t2, 2005-08-28 00:00:00 UTC · 30.030 K at 27, -92" in capfd.readouterr().out
