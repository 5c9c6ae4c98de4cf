"""Movies of real runs' pictures."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time

import pytest
from PIL import Image

from burstlens.clients.api.run import open_run
from burstlens.clients.movies import make_movies
from burstlens.clients.pages import movie as movies
from burstlens.clients.pages.movie import make_movie
from burstlens.core.errors import RunError
from burstlens.core.extras import install_command
from burstlens.core.run.index import published

pytestmark = pytest.mark.integration

imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")


def decoded(path):
    """An MP4's description and its pictures."""
    reader = imageio_ffmpeg.read_frames(str(path), pix_fmt="rgb24")
    about = next(reader)
    return about, [Image.frombytes("RGB", about["size"], data) for data in reader]


@pytest.fixture
def series(tmp_path):
    """Makes index entries with pictures of these sizes, each of its own colour."""

    def make(*sizes, holes=()):
        made = []
        (tmp_path / "t2").mkdir()
        for number, size in enumerate(sizes):
            name = f"t2/{number}.png"
            Image.new("RGB", size, (40 * number, 120, 200)).save(tmp_path / name)
            facts = {"placeholder": True, "reason": "cut"} if number in holes else {}
            line = {"product": "t2", "stream": "d01", "time": f"t{number:08d}.000", "name": name}
            made.append(published(line | {"facts": facts}))
        return made

    return make


def test_each_picture_of_a_run_is_a_frame_in_order_with_its_own_colours(standing, tmp_path):
    standing.done()
    out = tmp_path / "w.mp4"
    done = standing.call("movie", "done", "w", "-o", str(out), "--fps", "4", "--json")
    [made] = json.loads(done.stdout)
    assert (made["product"], made["frames"], made["holes"], made["fps"]) == ("w", 3, 0, 4.0)
    assert (made["bytes"], made["missing"]) == (out.stat().st_size, [])
    about, frames = decoded(out)
    assert (about["codec"], about["fps"], about["size"]) == ("h264", 4.0, tuple(made["size"]))
    assert about["pix_fmt"].startswith("yuv420p")
    assert "bt709" in about["pix_fmt"]
    view = open_run(standing.runs / "done").products["w"]
    for entry, frame in zip(view.entries, frames, strict=True):
        with Image.open(view.path(entry.time)) as picture:
            original = picture.convert("RGB").resize((16, 9), Image.Resampling.BOX)
        shown = frame.resize((16, 9), Image.Resampling.BOX)
        pairs = zip(original.tobytes(), shown.tobytes(), strict=True)
        assert max(abs(a - b) for a, b in pairs) <= 6


def test_the_index_stands_before_the_pictures_so_that_a_browser_can_begin(series, tmp_path):
    made = make_movie(tmp_path, series((64, 48), (64, 48)), tmp_path / "a.mp4")
    content = made.path.read_bytes()
    assert -1 < content.find(b"moov") < content.find(b"mdat")


def test_odd_and_other_sizes_fit_into_the_even_size_of_most(series, tmp_path):
    entries = series((63, 47), (63, 47), (200, 100), (20, 10))
    made = make_movie(tmp_path, entries, tmp_path / "a.mp4")
    assert (made.size, made.frames) == ((64, 48), 4)
    _, frames = decoded(made.path)
    large, small = frames[2:]
    assert large.getpixel((32, 24))[0] == pytest.approx(80, abs=8)  # scaled down
    assert large.getpixel((32, 2)) > (240, 240, 240)
    assert small.getpixel((32, 24))[0] == pytest.approx(120, abs=8)  # not scaled up
    assert small.getpixel((5, 24)) > (240, 240, 240)


@pytest.mark.parametrize("name", ["a.mp4", "a.png"])
def test_unreadable_pictures_are_left_out_and_listed_and_holes_are_counted(series, tmp_path, name):
    entries = series((64, 48), (64, 48), (64, 48), (64, 48), holes=(1,))
    (tmp_path / entries[2].name).write_bytes(b"\x89PNG half")
    (tmp_path / entries[3].name).unlink()
    made = make_movie(tmp_path, entries, tmp_path / name)
    assert (made.frames, made.holes) == (2, 1)
    assert made.missing == ("t2/2.png", "t2/3.png")


def test_an_apng_keeps_every_pixel(series, tmp_path):
    make_movie(tmp_path, series((64, 48), (64, 48), (64, 48)), tmp_path / "a.png", fps=4)
    with Image.open(tmp_path / "a.png") as image:
        assert image.n_frames == 3
        for number in range(3):
            image.seek(number)
            assert image.info["duration"] == 250
            assert image.convert("RGB").getpixel((9, 9)) == (40 * number, 120, 200)


def test_without_imageio_ffmpeg_a_movie_is_an_apng_and_mp4_says_what_to_install(
    series, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    assert movies.suffix() == ".png"
    with pytest.raises(RunError, match=re.escape(install_command("movie"))):
        make_movie(tmp_path, series((64, 48)), tmp_path / "a.mp4")


def test_an_apng_for_want_of_the_extra_says_so_and_how_to_have_mp4(standing, tmp_path, monkeypatch):
    standing.done()
    monkeypatch.setenv("BURSTLENS_RUNS", str(standing.runs))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    (made,) = make_movies("done", "w", None, None)
    assert made.text().startswith("done-w.png: 3 frames")
    assert made.text().endswith("an animated PNG, as MP4 needs imageio-ffmpeg: "
                                + install_command("movie"))  # fmt: skip
    (asked,) = make_movies("done", "w", "mine.png", None)
    assert "imageio-ffmpeg" not in asked.text()


def test_a_failure_leaves_the_movie_that_stood_there(series, tmp_path):
    def interrupt(_):
        raise KeyboardInterrupt

    out = tmp_path / "a.mp4"
    out.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        make_movie(tmp_path, series((64, 48), (64, 48)), out, progress=interrupt)
    assert out.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir() if path.name != "t2"] == ["a.mp4"]


def test_ctrl_c_ends_it_with_one_sentence_and_no_file(series, tmp_path):
    series((1200, 900))
    run = tmp_path / "held"
    run.mkdir()
    (run / "run.json").write_text('{"table": {"product": [{"name": "t2", "kind": "map"}]}}')
    (tmp_path / "t2").rename(run / "t2")
    (run / "products").mkdir()
    (run / "t2").rename(run / "products" / "t2")
    with (run / "products" / "index.jsonl").open("w") as index:
        for number in range(3000):  # enough for minutes
            line = {"product": "t2", "stream": "d01", "time": f"t{number:08d}.000"}
            index.write(json.dumps(line | {"name": "t2/0.png"}) + "\n")
    words = [sys.executable, "-m", "burstlens", "movie", str(run), "-o", str(tmp_path / "w.mp4")]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as making:
        end = time.monotonic() + 60
        while not any(path.stat().st_size for path in tmp_path.glob(".w.mp4.*.part")):
            assert time.monotonic() < end
            time.sleep(0.05)
        making.send_signal(signal.SIGINT)
        _, said = making.communicate(timeout=120)
    assert (making.returncode, said) == (130, "interrupted; no unfinished movie is left\n")
    assert [path.name for path in tmp_path.iterdir()] == ["held"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("done", "core"), "core of done has no pictures"),
        (("done", "ww"), 'no product "ww"; did you mean w?'),
        (("done", "w", "--stream", "d07"), "w of done, stream d07, has no pictures"),
        (("done", "w", "-o", "w.avi"), "w.avi: a movie is .mp4, or .png or .apng"),
        (
            ("done", "w", "-o", "nowhere/w.mp4"),
            "cannot write nowhere/w.mp4: No such file or directory; --out names another place",
        ),
    ],
)
def test_what_cannot_be_made_is_refused_in_a_sentence(standing, words, message):
    standing.done()
    refused = standing.call("movie", *words)
    assert (refused.returncode, message in refused.stderr) == (1, True), refused.stderr
