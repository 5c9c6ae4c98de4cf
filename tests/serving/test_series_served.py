"""``GET <run>/series``: the series of a product at a place, over real sockets."""

from __future__ import annotations

import contextlib
import itertools
import os
import selectors
import shutil
import socket
import struct
import threading
import time
from pathlib import Path

import pytest
from values_case import ValuesRun, degrees_grid, objects, plane_grid, ramp

FRAMES = 6
SLOW = 200
PLACE = "product=t2&lat=27&lon=-92"


@pytest.fixture
def made(shelf):
    """A run on the shelf, the test's own."""
    names = [path.name for path in shelf.iterdir()]
    run = ValuesRun(shelf, f"pins-{len(names)}")
    for hour in range(FRAMES):
        run.publish(hour)
    return run


def ask(server, made, query=PLACE, **how):
    return server.ask(f"/{made.run.id}/series?{query}", **how)


def test_the_first_line_says_what_it_is_and_the_others_are_the_values_newest_first(server, made):
    answer = ask(server, made)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/x-ndjson")
    assert answer.headers["cache-control"] == "no-store"
    head, *rows = objects(answer.body)
    assert {name: head[name] for name in ("units", "printed", "variable", "frames", "stream")} == {
        "units": "K", "printed": "K", "variable": "T2", "frames": FRAMES, "stream": "d01",
    }  # fmt: skip
    assert 0 < head["step"] < 0.01
    assert head["index"] == {"south_north": 49, "west_east": 30}
    assert head["at"] == {"lat": 27.0, "lon": -92.0}
    assert [row[0] for row in rows] == [f"20050828T0{hour}0000" for hour in range(FRAMES)][::-1]
    assert [row[1] for row in rows] == pytest.approx(
        [1000 * hour + 30.03 for hour in range(FRAMES)][::-1], abs=0.01
    )


def test_only_new_frames_or_named_ones_can_be_asked_for(server, made):
    hours = [f"20050828T0{hour}0000" for hour in range(FRAMES)]
    head, *rows = objects(ask(server, made, f"{PLACE}&since={hours[3]}").body)
    assert ([row[0] for row in rows], head["frames"]) == ([hours[5], hours[4]], 2)
    _, *rows = objects(ask(server, made, f"{PLACE}&times={hours[1]},{hours[4]},none").body)
    assert [row[0] for row in rows] == [hours[4], hours[1]]
    (head,) = objects(ask(server, made, f"{PLACE}&since={hours[5]}").body)
    assert head["frames"] == 0
    made.publish(FRAMES)
    _, *rows = objects(ask(server, made, f"{PLACE}&since={hours[5]}").body)
    assert len(rows) == 1


def test_a_place_on_a_plane_of_another_kind_is_outside(server, made):
    made.publish(0, (ramp(), plane_grid()), product="flat")
    for plane, last in (("", []), ("x;m;y;m", []), ("distance;km;height;km", ["outside"])):
        query = f"product=flat&x=4500&y=900&plane={plane.replace(';', '%3B')}"
        _, row = objects(ask(server, made, query).body)
        assert row[2:] == last


def test_gaps_are_null_with_the_reason_behind_it(server, made):
    made.publish(6, values=False)
    made.publish(7).write_bytes(b"torn")
    made.publish(8, (ramp(), degrees_grid(west=0.0)))
    made.publish(9, picture=1)
    _, *rows = objects(ask(server, made).body)
    assert [row[1:] for row in rows[:4]] == [
        [None, "another picture"], [None, "outside"], [None, "unreadable"], [None, "no values"],
    ]  # fmt: skip
    assert len(rows[4]) == 2


def test_as_many_times_as_the_docs_allow_fit_a_request(server, made):
    keys = [f"2005{number:04d}T000000" for number in range(399)] + ["20050828T000000"]
    answer = ask(server, made, f"{PLACE}&times={','.join(keys)}")
    assert (answer.status, len(objects(answer.body))) == (200, 2)


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("lat=27&lon=-92", 400, b"name a product"),
        ("product=t2", 400, b"a place is lat and lon, or x and y"),
        ("product=t2&lat=27", 400, b"both lat and lon"),
        ("product=t2&lat=x&lon=1", 400, b"lat must be a number"),
        ("product=t2&lat=nan&lon=1", 400, b"lat must be a number"),
        ("product=t2&x=1league&y=1", 400, b"x must be a number"),
        (f"{PLACE}&times={','.join(map(str, range(600)))}", 400, b"may name 400 times"),
        ("product=none&lat=1&lon=1", 404, b"nothing is published of a product 'none'"),
        (f"{PLACE}&stream=d07", 404, b"nothing of a stream 'd07'"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_a_sentence(server, made, query, status, words):
    answer = ask(server, made, query)
    assert answer.status == status
    assert words in answer.body


def test_a_product_without_values_is_said_to_be_one(server, made):
    made.publish(0, product="plain", values=False)
    answer = ask(server, made, "product=plain&lat=1&lon=1")
    assert (answer.status, b"values = false" in answer.body) == (404, True)


def test_it_needs_the_token_as_all_else(server, made):
    assert ask(server, made, Authorization=None).status == 403
    assert server.ask(f"/{made.run.id}/series?{PLACE}", below="").status == 403
    assert server.ask(f"/nobody/series?{PLACE}").status == 404
    assert ask(server, made, method="HEAD").body == b""


def test_an_index_behind_a_link_is_not_read(server, made):
    real = made.run.index.with_suffix(".real")
    made.run.index.rename(real)
    made.run.index.symlink_to(real)
    assert ask(server, made).status in (403, 404, 503)
    assert b"2005" not in ask(server, made).body


def test_values_replaced_while_they_are_read_never_break_the_answer(server, made):
    ended = threading.Event()

    def replace():
        for number in itertools.count():
            if ended.is_set():
                break
            path = made.publish(number % FRAMES, attempt=number + 2)
            if number % 3 == 0:
                path.unlink()

    writer = threading.Thread(target=replace)
    writer.start()
    try:
        answers = [ask(server, made, f"product=t2&lat={lat}&lon=-92") for lat in range(23, 30)]
    finally:
        ended.set()
        writer.join()
    for answer in answers:
        head, *rows = objects(answer.body)
        assert len(rows) == head["frames"] == FRAMES


@pytest.fixture
def long(shelf):
    """A run of many frames, whose files are links to a few."""
    made = ValuesRun(shelf, "long-pins")
    made.publish(0)
    text = made.run.index.read_text()
    key = "20050828T000000"
    keys = (f"t{number:08d}.000" for number in range(1, 3000))
    made.run.index.write_text(
        text + "".join(text.replace(f'"time":"{key}"', f'"time":"{other}"') for other in keys)
    )
    yield made
    shutil.rmtree(made.run.path)


@pytest.mark.slow
def test_two_hundred_slow_readers_of_series_do_not_keep_others_waiting(server, long):
    before = resources(server.process.pid)
    with contextlib.ExitStack() as stack, selectors.DefaultSelector() as selector:
        for _ in range(SLOW):
            connection = stack.enter_context(server.connect(receive_bytes=2048))
            connection.sendall(server.head(f"/{long.run.id}/series?{PLACE}"))
            selector.register(connection, selectors.EVENT_READ)
        times = []
        for _ in range(10):
            begin = time.monotonic()
            assert server.ask("/done/status.json").status == 200
            assert server.ask("/done/journal.jsonl").status == 200
            times.append(time.monotonic() - begin)
        assert sorted(times)[5] < 2.0
        begun: set[int] = set()
        end = time.monotonic() + 60
        while len(begun) < SLOW:  # each one has its turn
            assert time.monotonic() < end, len(begun)
            for key, _ in selector.select(1):
                assert key.fileobj.recv(16)
                begun.add(key.fd)
        # A reader that reads is answered while they do not.
        last = "t00002999.000,t00002998.000"
        head, *rows = objects(ask(server, long, f"{PLACE}&times={last}").body)
        assert (head["frames"], len(rows)) == (2, 2)
        used = resources(server.process.pid)
    assert used["Threads"] <= before["Threads"] + 8
    assert used["VmRSS"] - before["VmRSS"] < SLOW * 1024  # kB: a MiB for each of them


def resources(pid: int) -> dict[str, int]:
    """Threads and resident kB of a process."""
    fields = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    return {name: int(fields[name].split()[0]) for name in ("Threads", "VmRSS")}


def test_a_client_that_goes_away_ends_the_work_for_it(server, long):
    for number in range(30):  # each at a place of its own: nothing is recalled
        with server.connect(receive_bytes=2048) as connection:
            place = f"product=t2&lat={23 + number / 10}&lon=-92"
            connection.sendall(server.head(f"/{long.run.id}/series?{place}"))
            # Reset, as when a laptop is closed and the tunnel ends.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    time.sleep(1.0)
    before = cpu_s(server.process.pid)
    time.sleep(1.5)
    assert cpu_s(server.process.pid) - before < 0.5


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
