"""Output that is full, stopped, closed or gone holds nobody up."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import sys
import termios
import threading
import time

import pytest

from burstlens.clients.posted_output import MOST_BYTES, PostedText, posted_output


@pytest.fixture
def pipe():
    read, write = os.pipe()
    with open(write, "w") as stream:
        yield read, stream
    os.close(read)


def test_what_is_printed_comes_whole_and_in_order(pipe):
    read, stream = pipe
    posted = PostedText(stream)
    for number in range(100):
        print("line", number, "ü", file=posted, flush=True)
    assert posted.finish()
    lines = os.read(read, 1 << 16).decode(stream.encoding).splitlines()
    assert lines == [f"line {number} ü" for number in range(100)]
    assert (posted.isatty(), posted.encoding) == (False, stream.encoding)


def test_a_pipe_that_nobody_reads_takes_no_time_and_no_memory(pipe):
    _, stream = pipe
    posted = PostedText(stream)
    begin = time.monotonic()
    for _ in range(3000):
        posted.write("x" * 1000)
    assert time.monotonic() - begin < 30.0  # no end, else
    assert not posted.finish(0.2)
    assert posted.lost
    assert posted._waiting <= MOST_BYTES
    posted.write("more")


def test_a_slow_reader_gets_all_that_it_was_given_room_for(pipe):
    read, stream = pipe
    posted = PostedText(stream)
    posted.write("a" * MOST_BYTES)
    posted.write("too much")
    taken = 0
    while taken < MOST_BYTES:
        taken += len(os.read(read, 4096))
    assert posted.finish()
    posted.write("b")
    assert os.read(read, 16) == b"b"


def test_a_terminal_that_is_stopped_goes_on_when_it_is_let(pipe):
    master, slave = pty.openpty()
    with open(slave, "w") as terminal:
        termios.tcflow(slave, termios.TCOOFF)
        posted = PostedText(terminal)
        assert posted.isatty()
        posted.write("seen later\n")
        assert posted._waiting
        termios.tcflow(slave, termios.TCOON)
        assert posted.finish()
        assert os.read(master, 64).split() == [b"seen", b"later"]
    os.close(master)


@pytest.mark.parametrize("how", ["full", "gone"])
def test_what_refuses_output_is_given_none_any_more(how):
    place: str | int = "/dev/full"
    if how == "gone":
        away, place = os.pipe()
        os.close(away)
    with open(place, "w") as full:
        posted = PostedText(full)
        posted.write("nowhere\n")
        assert not posted.finish()
        assert posted.lost
        assert posted.write("nowhere\n") == 8


def test_after_the_end_a_lost_output_stays_silent_and_a_good_one_is_as_before(monkeypatch, pipe):
    read, good = pipe
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        monkeypatch.setattr(sys, "stderr", good)
        with posted_output():
            print("nowhere")
            print("here", file=sys.stderr)
        print("nowhere either", flush=True)
        assert sys.stderr is good
    assert os.read(read, 16) == b"here\n"


def test_both_streams_of_one_file_keep_the_order_in_which_they_were_printed(monkeypatch, pipe):
    read, stream = pipe
    lines = [f"line {number}" for number in range(200)]
    with open(os.dup(stream.fileno()), "w") as second:
        monkeypatch.setattr(sys, "stdout", stream)
        monkeypatch.setattr(sys, "stderr", second)
        with posted_output():
            for number, line in enumerate(lines):
                print(line, file=(sys.stdout, sys.stderr)[number % 2])
        assert (sys.stdout, sys.stderr) == (stream, second)
    assert os.read(read, 1 << 16).decode().splitlines() == lines


def test_a_stream_without_a_file_is_left_alone(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    with posted_output():
        print("here")
    assert stream.getvalue() == "here\n"


def outputs() -> tuple[int, int]:
    """Threads that write, and open descriptors."""
    threads = [thread for thread in threading.enumerate() if thread.name == "output"]
    return len(threads), len(os.listdir("/proc/self/fd"))


def ends(before: tuple[int, int]) -> bool:
    """Whether there are no more of them than before, in time."""
    end = time.monotonic() + 120.0
    while outputs() > before and time.monotonic() < end:
        time.sleep(0.01)
    return outputs() <= before


def test_after_an_end_in_vain_no_more_is_written_and_nothing_stays(pipe):
    read, stream = pipe
    os.set_blocking(read, False)
    before = outputs()
    posted = PostedText(stream)
    while posted._waiting < MOST_BYTES:  # the pipe is full as well
        posted.write("x" * 1024)
    assert not posted.finish(0.2)
    assert ends(before)
    with pytest.raises(io.UnsupportedOperation):
        posted.fileno()
    shown = 0
    with contextlib.suppress(BlockingIOError):  # it is empty
        while True:
            shown += len(os.read(read, 1 << 16))
    assert shown <= MOST_BYTES  # what the pipe itself had taken


def test_each_run_of_a_process_leaves_its_output_as_it_was(monkeypatch, pipe):
    _, stream = pipe
    monkeypatch.setattr(sys, "stdout", stream)
    before = outputs()
    for _ in range(3):
        with posted_output():
            print("here")
    assert sys.stdout is stream
    assert ends(before)
