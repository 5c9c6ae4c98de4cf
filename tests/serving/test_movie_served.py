"""``GET <run>/movie``: a movie made on request, over real sockets."""

from __future__ import annotations

import json
import os
import socket
import struct
import time
from pathlib import Path

import pytest

imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")


def ask(server, run, query, **how):
    return server.ask(f"/{run.name}/movie?{query}", **how)


@pytest.fixture
def stream(run):
    """The stream of the run's product ``w``."""
    lines = map(json.loads, (run / "products" / "index.jsonl").read_text().splitlines())
    return next(line["stream"] for line in lines if line["product"] == "w")


def test_a_movie_has_each_picture_of_the_series(server, run, stream, tmp_path):
    answer = ask(server, run, f"product=w&stream={stream}")
    assert (answer.status, answer.headers["content-type"]) == (200, "video/mp4"), answer.body
    (tmp_path / "w.mp4").write_bytes(answer.body)
    count, _ = imageio_ffmpeg.count_frames_and_secs(str(tmp_path / "w.mp4"))
    assert count == 3
    assert left(server) == []


def left(server) -> list[str]:
    """Folders and processes of movies that are left behind."""
    processes = [
        line for line in Path("/proc").glob("[0-9]*/cmdline") if b"burstlens-movie" in read(line)
    ]
    folders = Path(os.environ.get("TMPDIR", "/tmp")).glob("burstlens-movie-*")
    return [*map(str, processes), *map(str, folders)]


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_it_needs_the_token_and_a_series_with_pictures(server, run, stream):
    query = f"product=w&stream={stream}"
    assert ask(server, run, query, Authorization=None).status == 403
    assert server.ask(f"/nobody/movie?{query}").status == 404
    answer = ask(server, run, "product=none&stream=x")
    assert (answer.status, b"no picture of a product 'none'" in answer.body) == (404, True)
    assert ask(server, run, f"product=w&stream={stream}", method="HEAD").status == 405


def test_more_frames_than_a_server_takes_are_refused_with_the_command(server, run, stream):
    index = run / "products" / "index.jsonl"
    line = next(text for text in index.read_text().splitlines() if '"w"' in text)
    one = json.loads(line)
    with index.open("a") as file:
        for number in range(3001):
            file.write(json.dumps(one | {"time": f"t{number:08d}.000"}) + "\n")
    answer = ask(server, run, f"product=w&stream={stream}")
    assert answer.status == 409
    assert f"burstlens movie {run.name} w --stream {stream}\n".encode() in answer.body


SLOW = """#!/bin/sh
sleep 60 &
echo $! > "$HOLD"
sleep 60
"""


@pytest.fixture
def python(tmp_path):
    """Makes a program ``nice`` that stands before all others on the server's PATH."""

    def make(text):
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        (folder / "nice").write_text(text)
        (folder / "nice").chmod(0o755)
        return f"{folder}:{os.environ['PATH']}"

    return make


def is_alive(pid: int) -> bool:
    return (
        "Z" not in read(Path(f"/proc/{pid}/stat")).decode().rpartition(")")[2][:3]
        and Path(f"/proc/{pid}").exists()
    )


def test_a_second_movie_waits_and_a_client_that_goes_away_ends_its_own(
    serve, shelf, run, stream, python, tmp_path
):
    hold = tmp_path / "pid"
    server = serve(shelf, PATH=python(SLOW), HOLD=str(hold))
    query = f"product=w&stream={stream}"
    with server.connect() as connection:
        connection.sendall(server.head(f"/{run.name}/movie?{query}"))
        await_(hold.is_file)
        answer = ask(server, run, query)
        assert (answer.status, b"try again" in answer.body) == (429, True)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    pid = int(hold.read_text())
    await_(lambda: not is_alive(pid))
    await_(lambda: not left(server))


def await_(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("#!/bin/sh\necho 'burstlens: an MP4 needs imageio-ffmpeg' >&2; exit 1\n",
         b"an MP4 needs imageio-ffmpeg\n"),
        ("#!/bin/sh\necho 'burstlens: ffmpeg wrote 1 of 3 pictures; is the disk full?' >&2; exit 1",
         b"ffmpeg wrote 1 of 3 pictures; is the disk full?\n"),
        ("#!/bin/sh\nexit 0\n", b"no movie came of it\n"),
        ("#!/bin/sh\nkill -9 $$\n", b"it says nothing\n"),
    ],
)  # fmt: skip
def test_what_fails_is_one_sentence(serve, shelf, run, stream, python, text, words):
    server = serve(shelf, PATH=python(text))
    answer = ask(server, run, f"product=w&stream={stream}")
    assert (answer.status, answer.body) == (500, words)
    assert left(server) == []


def test_a_disk_that_is_full_is_one_sentence(serve, shelf, run, stream):
    server = serve(shelf, prefix=("bash", "-c", 'ulimit -f 1; exec "$@"', "-"))
    answer = ask(server, run, f"product=w&stream={stream}")
    assert answer.status == 500
    assert b"is the disk full?" in answer.body
    assert len(answer.body.splitlines()) == 1
    assert left(server) == []
