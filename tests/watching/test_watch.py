"""The watcher over every state of the real model's files."""

from __future__ import annotations

import fcntl
import hashlib
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from burstlens.workflows.frames import ready
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.watch import watch

pytestmark = pytest.mark.integration


def without_log(ops):
    return [op for op in ops if op["op"] != "log"]


def test_every_frame_is_ready_at_once_but_never_early(course, name):
    run = course(name)
    last_write = run.last_writes()
    run.walk()
    run.end()
    assert set(run.calls) == run.whole()
    assert not run.damaged
    witness = {}
    for call, op in enumerate(run.trace.ops):
        said = run.model.read_line(op["text"]) if op["op"] == "log" else None
        if said is not None and said.kind == "written":
            witness.setdefault((said.stream, said.time), call)
    # The frame is ready in the first scan after both the last byte and the witness. A netCDF-4
    # file that is closed is its own witness.
    for frame in run.frames:
        key = frame.stream, frame.time
        if frame.signal == "closed":
            assert run.calls[key] == last_write[key]
        else:
            assert frame.signal == "log"
            assert run.calls[key] <= max(last_write[key], witness[key])
    closing = {"nest", "netcdf4_one", "quilting", "ready_flag", "tiles"}
    assert ("closed" in {frame.signal for frame in run.frames}) == (name in closing)


def test_without_a_log_quiet_or_a_later_frame_decides(course, name, dice):
    run = course(name, without_log)
    pauses = set(dice.sample(range(len(run.trace.ops)), 12))
    for call in range(len(run.trace.ops)):
        run.step()
        if call in pauses:
            for _ in range(8):
                run.scan(0.3)
        elif call % 9 == 0:
            run.scan()
    for _ in range(3):
        run.scan(0.3)
    if name.startswith("pnetcdf"):
        assert len(run.calls) == len(run.whole()) - 1
        run.scan(ready.WEAK_QUIET_S)
        assert run.frames[-1].signal == "weak"
    assert set(run.calls) == run.whole()
    signals = {"pnetcdf_growing": {"later", "weak"}, "pnetcdf_one": {"later", "weak"}}
    allowed = signals.get(name, {"later", "quiet", "flag", "closed"})
    assert {frame.signal for frame in run.frames} <= allowed
    run.end()
    assert not run.damaged


def test_a_log_that_comes_late_in_blocks_gives_no_wrong_frames(course, name):
    run = course(name, late_log=4096)
    run.walk(lambda call: call % 7 == 0)
    run.end()
    assert set(run.calls) == run.whole()
    assert not run.damaged


def test_with_several_io_groups_a_frame_is_whole_as_soon_as_its_file_is_closed(course):
    run = course("quilting")
    settings = run.path / "namelist.input"
    one = settings.read_text()
    settings.write_text(f"&namelist_quilt nio_tasks_per_group = 1, nio_groups = 2 /\n{one}")
    assert run.model.configured(run.path).facts(run.path).io_groups == 2
    run.walk()
    assert {frame.signal for frame in run.frames} == {"closed"}
    assert set(run.calls) == run.whole()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["quilting", "tiles", "netcdf4_growing", "pnetcdf_one"])
def test_a_pause_in_the_middle_of_writing_does_not_make_a_frame_ready(course, name, dice):
    run = course(name)
    pauses = set(dice.sample(range(len(run.trace.ops)), 40))
    for call in range(len(run.trace.ops)):
        run.step()
        if call in pauses:
            for elapsed_s in (0.0, 0.2, 0.4, 2.0, 9.0):
                run.scan(elapsed_s)
    run.end()
    assert set(run.calls) == run.whole()


@pytest.mark.parametrize("name", ["classic_one", "netcdf4_one", "netcdf4_growing", "tiles"])
def test_coarse_mtimes_delay_a_frame_at_most_until_its_log_line_or_quiet(course, name):
    run = course(name, coarse=True)
    run.walk(lambda call: call % 6 == 0)
    run.scan(0.3)
    run.scan(0.3)
    assert set(run.calls) == run.whole()


def test_a_kill_leaves_damage_and_never_a_ready_frame(course, name, load, dice, tmp_path):
    trace, _ = load(name)
    first = next(call for call, op in enumerate(trace.ops) if op["op"] == "open")
    seen_damage = False
    for cut in sorted(dice.sample(range(first, len(trace.ops)), 8)):
        shutil.rmtree(tmp_path / "buffer", ignore_errors=True)
        run = course(name)
        for _ in range(cut):
            run.step()
        run.player.close()
        run.settle()
        reported = {frame.paths for frame in run.frames} | {entry.paths for entry in run.damaged}
        files = {path for paths in reported for path in paths}
        there = {f"run/1/{path.name}" for path in run.path.glob("wrfout_*")}
        assert files == there, f"cut at {cut}"
        seen_damage |= bool(run.damaged)
    assert seen_damage


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("name", ["pnetcdf_one", "pnetcdf_growing"])
def test_a_rank_that_is_late_is_waited_for(course, name, rank):
    """Full size and a valid header do not prove a frame while one rank has not written its part."""

    def late(ops):
        moved, held = [], []
        for op in ops:
            if op["op"] == "close" or (op["op"] == "log" and "Timing for Writing" in op["text"]):
                moved += held
                held = []
            is_part = op["op"] == "write" and op["rank"] == rank and op["length"] > 64
            (held if is_part and op["offset"] else moved).append(op)
        return moved

    run = course(name, late)
    final = {path.name: path.read_bytes() for path in run.final.glob("wrfout_*")}
    full_but_wrong = 0
    for call in range(len(run.trace.ops)):
        op = run.step()
        if call % 9 == 0:
            run.scan(2.0)
        if name == "pnetcdf_one" and op["op"] == "write":
            now = (run.path / op["file"]).read_bytes()
            full_but_wrong += len(now) == len(final[op["file"]]) and now != final[op["file"]]
    run.end()
    assert set(run.calls) == run.whole()
    if (name, rank) == ("pnetcdf_one", 0):
        assert full_but_wrong > 20


def test_a_tile_that_never_comes_makes_damage(course):
    lost = "wrfout_d01_0001-01-01_00:01:00_0001"
    run = course("tiles", lambda ops: [op for op in ops if op["file"] != lost])
    run.walk(lambda call: call % 7 == 0)
    run.end()
    assert {time for _, time in run.calls} == {"00010101T000000", "00010101T000200"}
    assert [entry.time for entry in run.damaged] == ["00010101T000100"]
    assert "its tiles do not cover the domain: ranks after 0 missing" in run.damaged[0].reason


@pytest.mark.parametrize("rank", ["0000", "0001"])
def test_a_tile_that_is_never_finished_is_named(course, rank):
    cut = f"wrfout_d01_0001-01-01_00:01:00_{rank}"

    def until_half(ops):
        calls = [index for index, op in enumerate(ops) if op["file"] == cut]
        dropped = set(calls[len(calls) // 2 :])
        return [op for index, op in enumerate(ops) if index not in dropped]

    run = course("tiles", until_half)
    run.walk(lambda call: call % 7 == 0)
    run.end()
    assert {time for _, time in run.calls} == {"00010101T000000", "00010101T000200"}
    assert [entry.time for entry in run.damaged] == ["00010101T000100"]
    assert f"the tile {cut}" in run.damaged[0].reason


@pytest.mark.parametrize(
    ("name", "log"),
    [("ready_flag", "appended"), ("pnetcdf_one", "appended"), ("netcdf4_growing", "replaced")],
)
def test_old_output_of_the_same_names_is_not_a_frame_until_it_is_rewritten(course, name, log):
    run = course(name)
    for path in run.final.iterdir():
        shutil.copyfile(path, run.path / path.name)
    run.baseline = {
        path.name: [path.stat().st_size, path.stat().st_mtime_ns] for path in run.path.iterdir()
    }
    for _ in range(10):
        run.scan(1.0)
    assert not run.calls
    assert not run.report.cursor.open
    if log == "replaced":
        for path in run.path.glob("rsl.*"):
            path.unlink()
    run.walk(lambda call: call % 7 == 0)
    run.end()
    assert set(run.calls) == run.whole()
    assert not run.damaged


def test_old_output_that_the_model_never_touches_is_neither_frame_nor_damage(course):
    run = course("classic_one")
    for path in run.final.glob("wrfout_*"):
        shutil.copyfile(path, run.path / path.name)
    run.baseline = {
        path.name: [path.stat().st_size, path.stat().st_mtime_ns] for path in run.path.iterdir()
    }
    run.settle()
    assert not run.frames
    assert not run.damaged


def test_names_without_colons_are_the_same_frames(course):
    def nocolons(ops):
        return [
            op if op["op"] == "log" else op | {"file": op["file"].replace(":", "_")} for op in ops
        ]

    run = course("classic_one", nocolons)
    run.aliases = {name.replace(":", "_"): name for name in run.trace.final}
    run.walk(lambda call: call % 3 == 0)
    run.end()
    assert set(run.calls) == run.whole()
    assert {frame.signal for frame in run.frames} == {"log"}


def test_released_frames_do_not_affect_other_frames(course):
    run = course("netcdf4_one")
    for call in range(len(run.trace.ops)):
        run.step()
        for frame in run.scan().frames if call % 5 == 0 else ():
            os.unlink(run.root / frame.paths[0])
    run.end()
    assert set(run.calls) == run.whole()
    assert not run.damaged


def test_each_call_may_run_in_another_process(course):
    run = course("nest", stateless=True)
    run.walk(lambda call: call % 11 == 0)
    run.end()
    assert set(run.calls) == run.whole()
    assert len(pickle.dumps(run.report.cursor)) < 2000


def test_a_driver_that_resumes_with_an_empty_cursor_sees_everything_again(course, name):
    run = course(name)
    run.walk(lambda call: False)
    run.end()
    assert set(run.calls) == run.whole()
    assert not run.damaged


def test_a_folder_that_vanishes_for_a_while_is_reported_once_and_watched_again(course):
    run = course("classic_one")
    run.walk(lambda call: call % 50 == 0)
    away = run.root / "away"
    run.path.rename(away)
    for _ in range(3):
        run.scan(0.1)
    away.rename(run.path)
    run.scan(0.1)
    assert len(run.notices) == 1
    assert "does not answer" in run.notices[0]
    run.end()
    assert set(run.calls) == run.whole()


def test_a_frame_that_the_model_lost_is_damage_as_soon_as_its_log_says_so(course):
    run = course("netcdf4_one")
    lost = "wrfout_d01_0001-01-01_00:01:00"
    for call, op in enumerate(run.trace.ops):
        if op["op"] == "flock" and op["file"] == lost:
            reader = os.open(run.path / lost, os.O_RDONLY)
            fcntl.flock(reader, fcntl.LOCK_SH)
        run.step()
        if call % 9 == 0:
            run.scan()
    assert [entry.time for entry in run.damaged] == ["00010101T000100"]
    os.close(reader)
    run.end()
    assert [entry.time for entry in run.damaged] == ["00010101T000100"]
    assert set(run.calls) == run.whole() - {("d01", "00010101T000100")}
    assert any("error opening" in line for line in run.trouble)


def test_watch_returns_when_there_is_news_else_at_its_timeout(course):
    run = course("classic_one")
    arguments = (run.root, run.folder, run.model, "run", 1)
    keywords = {"baseline": None, "ended": lambda: False, "interval_s": 0.01}
    quiet = watch(*arguments, Cursor(), timeout_s=0.05, **keywords)
    assert not quiet.frames
    assert not quiet.urgent
    run.walk(lambda call: False)
    found = watch(*arguments, quiet.cursor, timeout_s=60.0, **keywords)
    assert [frame.time[-6:] for frame in found.frames] == ["000000", "000100", "000200"]
    assert found.tail[-1].endswith("SUCCESS COMPLETE WRF")
    over = watch(*arguments, found.cursor, timeout_s=60.0, **keywords | {"ended": lambda: True})
    assert over.ended
    assert not over.frames


@pytest.mark.parametrize(
    ("name", "options", "frames", "damage"),
    [
        ("netcdf4_one", ["--interval", "0.3"], 3, 0),
        ("quilting", ["--pause-at", "2500:1.2", "--late-log", "4096"], 3, 0),
        ("pnetcdf_one", ["--cut-at", "700"], 2, 1),
    ],
)
def test_a_run_in_another_process_is_watched_in_real_time(course, name, options, frames, damage):
    """The replayer as a program, and calls of the watcher, each from a pickled cursor."""
    run = course(name)
    script = Path(__file__).parents[1] / "replay.py"
    trace = script.parent / "data" / "traces" / name
    model = subprocess.Popen([sys.executable, script, trace, *options], cwd=run.path)
    cursor, seen, damaged = Cursor(), [], []
    while True:
        report = watch(
            run.root,
            run.folder,
            run.model,
            "run",
            1,
            pickle.loads(pickle.dumps(cursor)),
            baseline=None,
            ended=lambda: model.poll() is not None,
            timeout_s=5.0,
            interval_s=0.05,
        )
        cursor = report.cursor
        seen += report.frames
        damaged += report.damaged
        if report.ended:
            break
    assert (len(seen), len(damaged)) == (frames, damage)
    for frame in seen:
        run.hold(frame)
    if not damage:
        assert model.returncode == 0
        for file, (size, digest) in run.trace.final.items():
            data = (run.path / file).read_bytes()
            assert (len(data), hashlib.sha256(data).hexdigest()) == (size, digest)


def test_a_record_that_a_full_disk_left_with_a_gap_is_damaged_when_there_is_room_again(course):
    def swallow(ops):
        """Drop what is written of the second record beyond its first half."""
        lines = [n for n, op in enumerate(ops) if op["op"] == "log" and "Writing" in op["text"]]
        span = range(lines[0], lines[1])
        written = [n for n in span if ops[n]["op"] == "write" and ops[n]["offset"] > 4096]
        middle = sum(ops[written[n]]["offset"] for n in (0, -1)) // 2
        return [op for n, op in enumerate(ops) if n not in written or op["offset"] < middle]

    run = course("classic_growing", swallow)
    run.walk()
    run.end()
    times = sorted(time for _, time in run.whole())
    (damage,) = run.damaged
    assert (damage.time, damage.record) == (times[1], 1)
    assert [frame.time for frame in run.frames] == [times[0], *times[2:]]
    assert "gap" in damage.reason
