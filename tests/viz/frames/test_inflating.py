"""Inflating in several threads: each chunk of the window once, within bounds, after a fork too."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burstlens.core.allowance import CORES_VARIABLE
from burstlens.viz.frames import inflating
from burstlens.viz.frames.chunks import ChunkCache, ChunkFile, Layout, identity_of
from burstlens.viz.frames.inflating import ChunkError, count_met, inflate, met

WHOLE = slice(0, 9, 1), slice(0, 20, 1), slice(0, 30, 1)


@pytest.fixture
def values() -> Any:
    return np.random.default_rng(3).normal(size=(2, 9, 20, 30)).astype("f4")


@pytest.fixture
def opened(deflated_file: Callable[..., Path]):
    path = deflated_file()
    file = ChunkFile(path, identity_of(path.stat()))
    layout = file.layout("W", 0, 1)
    assert layout is not None
    yield file, layout
    file.close()


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """How often each position was read."""
    count, real = Counter[int](), os.preadv

    def counted(descriptor: int, buffers: Any, at: int) -> int:
        count[at] += 1
        return real(descriptor, buffers, at)

    monkeypatch.setattr(os, "preadv", counted)
    return count


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four cores, and work for as many threads."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.setattr(inflating, "BYTES_PER_THREAD", 1)


def record(*window: slice) -> tuple[slice, ...]:
    return slice(1, 2, 1), *window


Opened = tuple[ChunkFile, Layout]


def test_the_chunks_that_a_window_meets(opened: Opened):
    found = met((slice(3, 9, 5), slice(11, 12, 1)), (4, 10))
    assert found == [
        ((0, 10), (slice(3, 4, 5), slice(1, 2, 1)), (slice(0, 1), slice(0, 1))),
        ((8, 10), (slice(0, 1, 5), slice(1, 2, 1)), (slice(1, 2), slice(0, 1))),
    ]
    assert count_met((slice(3, 9, 5), slice(11, 12, 1)), (4, 10)) == 2
    assert count_met((slice(3, 3, 1), slice(11, 12, 1)), (4, 10)) == 0


@pytest.mark.usefixtures("threads")
def test_each_chunk_is_read_once_by_whichever_thread(
    opened: Opened, values: Any, reads: Counter[int]
):
    file, layout = opened
    found = inflate(file, layout, record(*WHOLE), (), ChunkCache())
    assert found is not None
    assert found[0].tobytes() == values[1].tobytes()
    assert reads == {chunk.position: 1 for chunk in layout.chunks.values()}


def test_only_chunks_of_the_window_are_read(opened: Opened, values: Any, reads: Counter[int]):
    file, layout = opened
    window = record(slice(5, 7, 1), slice(0, 20, 3), slice(2, 9, 2))
    found = inflate(file, layout, window, (), ChunkCache())
    assert found is not None
    assert found[0].tobytes() == values[1, 5:7, ::3, 2:9:2].tobytes()
    assert set(reads) == {layout.chunks[1, 4, y, 0].position for y in (0, 10)}


def test_a_chunk_of_which_a_part_was_used_is_not_inflated_again(
    opened: Opened, values: Any, reads: Counter[int]
):
    (file, layout), kept = opened, ChunkCache()
    for level in range(9):
        found = inflate(file, layout, record(slice(level, level + 1, 1), *WHOLE[1:]), (), kept)
        assert found is not None
        assert found[0].tobytes() == values[1, level : level + 1].tobytes()
    # The last level is all that the file has of its chunks.
    assert set(reads.values()) == {1}
    assert kept.get((file.identity, "W", (1, 4, 0, 0))) is not None
    assert kept.get((file.identity, "W", (1, 8, 0, 0))) is None


def test_products_of_one_frame_inflate_a_chunk_once(
    opened: Opened, values: Any, reads: Counter[int]
):
    (file, layout), kept = opened, ChunkCache()
    kept.shared = 1 << 20
    for _ in range(3):
        found = inflate(file, layout, record(*WHOLE), (), kept)
        assert found is not None
        assert found[0].tobytes() == values[1].tobytes()
    assert set(reads.values()) == {1}


@pytest.mark.usefixtures("threads")
def test_one_damaged_chunk_stops_all_threads_and_is_named(
    opened: Opened, damage: Any, tmp_path: Path
):
    file, layout = opened
    position = damage(tmp_path / "frame.nc", "W", (1, 0, 0, 16))
    with pytest.raises(ChunkError, match=rf"chunk \(1, 0, 0, 1\) at byte {position} is damaged"):
        inflate(file, layout, record(*WHOLE), (), ChunkCache())
    found = inflate(file, layout, record(slice(4, 9, 1), *WHOLE[1:]), (), ChunkCache())
    assert found is not None


def test_a_chunk_of_another_size_is_damaged(opened: Opened):
    file, layout = opened
    shorter = Layout("W", layout.shape, (1, 4, 10, 15), layout.kind, True, layout.chunks)
    with pytest.raises(ChunkError, match="is damaged"):
        inflate(file, shorter, record(*(slice(0, 1, 1),) * 3), (), ChunkCache())
    longer = Layout("W", layout.shape, (1, 4, 10, 17), layout.kind, True, layout.chunks)
    with pytest.raises(ChunkError, match="is damaged: 2560 bytes of 2720"):
        inflate(file, longer, record(*(slice(0, 1, 1),) * 3), (), ChunkCache())
    for chunk in layout.chunks.values():
        huge = {chunk.first: replace(chunk, size=1 << 32)}
        damaged = replace(layout, chunks=layout.chunks | huge)
        with pytest.raises(ChunkError, match="is damaged: 4294967296 bytes for 2560"):
            inflate(file, damaged, record(*WHOLE), (), ChunkCache())


def test_threads_are_as_many_as_there_are_cores_and_memory_and_work(
    monkeypatch: pytest.MonkeyPatch,
):
    for cores, chunks, size, wanted in (
        (1, 100, 1 << 20, 1),
        (2, 100, 1 << 20, 2),
        (64, 100, 1 << 20, inflating.MOST_THREADS),
        (64, 3, 8 << 20, 3),
        (64, 100, 1 << 10, 1),  # not worth a second thread
        (64, 100, 64 << 20, 2),
        (64, 100, 1 << 30, 1),
    ):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, n=cores: set(range(n)))
        assert inflating._threads(chunks, size) == wanted


@pytest.mark.usefixtures("threads")
def test_a_site_that_says_how_many_cores_a_worker_has_is_heeded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(CORES_VARIABLE, "2")
    assert inflating._threads(100, 1 << 20) == 2


@pytest.mark.usefixtures("threads")
def test_a_frame_is_read_by_several_threads_at_once(opened: Opened, values: Any):
    file, layout = opened
    found: list[bytes] = []

    def read() -> None:
        for _ in range(20):
            whole = inflate(file, layout, record(*WHOLE), (), ChunkCache())
            found.append(b"" if whole is None else whole[0].tobytes())

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert found == [values[1].tobytes()] * 80


@pytest.mark.usefixtures("threads")
def test_where_no_thread_can_be_started_one_does_all(
    opened: Opened, values: Any, monkeypatch: pytest.MonkeyPatch
):
    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    file, layout = opened
    monkeypatch.setattr(threading.Thread, "start", refused)
    found = inflate(file, layout, record(*WHOLE), (), ChunkCache())
    assert found is not None
    assert found[0].tobytes() == values[1].tobytes()


def _read_in_child(opened: Opened, answers: Any) -> None:
    file, layout = opened
    found = inflate(file, layout, record(*WHOLE), (), ChunkCache())
    answers.put(None if found is None else found[0].tobytes())


@pytest.mark.integration
@pytest.mark.usefixtures("threads")
def test_a_fork_reads_with_threads_too(opened: Opened, values: Any):
    file, layout = opened
    inflate(file, layout, record(*WHOLE), (), ChunkCache())
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_read_in_child, args=(opened, answers))
    child.start()
    try:
        assert answers.get(timeout=60) == values[1].tobytes()
    finally:
        child.join(60)
    assert child.exitcode == 0
