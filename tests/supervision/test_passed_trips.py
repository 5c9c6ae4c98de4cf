"""Trips that a full disk has refused: the supervisor writes them, each once, before the end."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from burstlens.core.durable import read_json
from burstlens.core.lines import Lines, read_lines
from burstlens.core.run.directory import RunDir
from burstlens.workflows.placement import direct_requests
from burstlens.workflows.placement.direct_requests import write_trips

FIRST, SECOND = {"guard": "cfl", "t": 1.5, "text": "é"}, {"guard": "cfl", "t": 2.5}


def written(run: RunDir) -> list[dict[str, object]]:
    return list(read_lines(run.sentinel)) if run.sentinel.is_file() else []


def test_a_trip_is_written_when_there_is_room_and_before_the_end_is(
    job: Callable[..., Path], supervise: Any, wait_for: Any, run_dir: RunDir
) -> None:
    run_dir.logs.mkdir(exist_ok=True)
    folder = job("sleep 300", sentinel={"after_s": 3600.0, "guards": False})
    child = supervise(folder)
    wait_for((folder / "started.json").exists)
    run_dir.sentinel.symlink_to("/dev/full")
    assert direct_requests.send(folder, "trip", FIRST)
    assert direct_requests.send(folder, "stop-now")
    wait_for(
        lambda: "has ended" in (run_dir.logs / "burstlens" / "supervisor-attempt-1.log").read_text()
    )
    assert direct_requests.send(folder, "trip", SECOND)  # the last word of its sentinel
    assert not (folder / "ended.json").exists()
    run_dir.sentinel.unlink()
    assert child.wait(120) == 0
    assert read_json(folder / "ended.json")["why"] == {}
    assert written(run_dir) == [FIRST, SECOND]


def test_a_passing_error_at_the_end_costs_no_trip(
    injector: Path,
    job: Callable[..., Path],
    supervise: Any,
    wait_for: Any,
    run_dir: RunDir,
    tmp_path: Path,
) -> None:
    folder = job("sleep 300", sentinel={"after_s": 3600.0, "guards": False})
    child = supervise(
        folder,
        LD_PRELOAD=str(injector),
        INJECT_COMMAND="*supervisor.py*",
        INJECT_CALL="open",
        INJECT_PATH="*/sentinel.jsonl",
        INJECT_TIMES="8",
        INJECT_ERRNO=str(errno.ESTALE),
        INJECT_LOG=str(tmp_path / "injected"),
    )
    wait_for((folder / "started.json").exists)
    assert direct_requests.send(folder, "stop-now")
    assert direct_requests.send(folder, "trip", FIRST)
    assert child.wait(120) == 0
    assert (tmp_path / "injected").exists()
    assert written(run_dir) == [FIRST]


def test_what_can_never_be_written_holds_up_no_end(
    job: Callable[..., Path], supervise: Any, wait_for: Any, run_dir: RunDir
) -> None:
    folder = job("sleep 300", sentinel={"after_s": 3600.0, "guards": False})
    child = supervise(folder)
    wait_for((folder / "started.json").exists)
    run_dir.sentinel.mkdir()
    assert direct_requests.send(folder, "trip", FIRST)
    assert direct_requests.send(folder, "stop-now")
    assert child.wait(120) == 0
    assert read_json(folder / "ended.json")["reason"] == "stop-now"


def test_a_trip_that_the_sentinel_has_written_is_not_written_again(run_dir: RunDir) -> None:
    file = Lines(run_dir.sentinel)
    file.append(FIRST)
    file.close()
    trips = [FIRST, SECOND, SECOND]
    write_trips(run_dir.sentinel, trips)
    assert (written(run_dir), trips) == ([FIRST, SECOND], [])


def test_half_a_line_spoils_no_other_one(run_dir: RunDir) -> None:
    run_dir.sentinel.write_text('{"guard": "cf')
    write_trips(run_dir.sentinel, [FIRST])
    assert written(run_dir) == [FIRST]


def test_what_a_full_disk_refuses_is_kept(run_dir: RunDir) -> None:
    run_dir.sentinel.symlink_to("/dev/full")
    trips = [FIRST]
    with pytest.raises(OSError, match="No space"):
        write_trips(run_dir.sentinel, trips)
    assert trips == [FIRST]
