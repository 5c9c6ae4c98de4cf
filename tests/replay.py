#!/usr/bin/env python3
"""Plays a recorded run of WRF: the same calls on the same files, with the same bytes.

As a program it stands in for ``wrf.exe`` in the current folder: it truncates and locks its files
as WRF does, and where a reader holds a lock it loses the frame as WRF does, with exit status 0.
Standard library only, so that any Python can run it. See ``tests/data/traces/README.md``.
"""

from __future__ import annotations

import argparse
import errno
import fcntl
import json
import lzma
import os
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

WRITTEN = "Timing for Writing"
LOST = "open_hist_w : error opening {} for writing. ***\n"


@dataclass(frozen=True)
class Trace:
    """One recorded run: its operations, the bytes they write, size and SHA-256 of each result."""

    ops: list[dict]
    data: bytes
    final: dict[str, tuple[int, str]]

    @classmethod
    def load(cls, folder: Path) -> Trace:
        with lzma.open(folder / "ops.jsonl.xz", "rt") as file:
            lines = [json.loads(line) for line in file]
        final = {o["file"]: (o["size"], o["sha256"]) for o in lines if o["op"] == "final"}
        with lzma.open(folder / "data.xz") as file:
            return cls([op for op in lines if op["op"] != "final"], file.read(), final)

    def outputs(self) -> list[str]:
        """The names of the files of output, in order of their creation."""
        opened = (op["file"] for op in self.ops if op["op"] == "open")
        return list(dict.fromkeys(opened))

    def frame_starts(self) -> list[int]:
        """The calls at which a frame begins: the first on an output after a log line of one."""
        starts, inside = [], False
        for index, op in enumerate(self.ops):
            if op["op"] == "log" and WRITTEN in op["text"]:
                inside = False
            elif op["op"] in ("open", "write") and not inside:
                inside = True
                starts.append(index)
        return starts


@dataclass
class Player:
    """Plays a trace in a folder, one call at a time.

    ``late_log``: each log appears in blocks of that many bytes, the rest at the end.
    ``into``: history goes to that sub-folder, as with ``history_outname``, and the log says so.
    ``careless``: bytes that a full disk refuses are lost without an error, as in WRF.
    ``record``: a file that gets a JSON line for each frame when it is whole and before the log
    says so: the working folder of the model, and the frame's time.
    """

    trace: Trace
    folder: Path
    late_log: int = 0
    into: str = ""
    careless: bool = False
    record: Path | None = None
    at: int = 0
    _open: dict[tuple[str, int], int | None] = field(default_factory=dict)
    _logs: dict[str, str] = field(default_factory=dict)

    def step(self) -> dict:
        """Play the next call, and return it."""
        op = self.trace.ops[self.at]
        self.at += 1
        if self.into:
            op = self._moved(op)
        getattr(self, f"_{op['op']}_")(op)
        return op

    def _moved(self, op: dict) -> dict:
        if op["file"].startswith("wrfout_"):
            return op | {"file": f"{self.into}/{op['file']}"}
        if WRITTEN in op.get("text", ""):  # 30 characters of the name, as WRF prints it
            head, _, rest = op["text"].partition("wrfout_")
            name, _, tail = rest.partition(" ")
            return op | {"text": f"{head}{f'{self.into}/wrfout_{name}':.30} {tail}"}
        return op

    def finish(self) -> None:
        """Flush the logs and close everything, as at the end of a process."""
        for name, text in self._logs.items():
            self._append(name, text)
        self._logs.clear()
        self.close()

    def close(self) -> None:
        """Close everything, as a kill does: unflushed logs are lost."""
        for descriptor in self._open.values():
            if descriptor is not None:
                os.close(descriptor)
        self._open.clear()

    def _open_(self, op: dict) -> None:
        flags = os.O_RDWR
        flags |= os.O_CREAT if op["create"] else 0
        flags |= os.O_TRUNC if op["truncate"] else 0
        self._open[op["file"], op["rank"]] = os.open(self.folder / op["file"], flags, 0o644)

    def _flock_(self, op: dict) -> None:
        descriptor = self._open[op["file"], op["rank"]]
        if descriptor is None:
            return
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            self._open[op["file"], op["rank"]] = None
            self._log_(op | {"file": "rsl.error.0000", "text": LOST.format(op["file"])})

    def _write_(self, op: dict) -> None:
        descriptor = self._open[op["file"], op["rank"]]
        if descriptor is not None:
            data = self.trace.data[op["at"] : op["at"] + op["length"]]
            try:
                os.pwrite(descriptor, data, op["offset"])
            except OSError as error:
                self._full_disk(error)

    def _truncate_(self, op: dict) -> None:
        descriptor = self._open[op["file"], op["rank"]]
        if descriptor is not None:
            os.ftruncate(descriptor, op["length"])

    def _close_(self, op: dict) -> None:
        descriptor = self._open.pop((op["file"], op["rank"]), None)
        if descriptor is not None:
            os.close(descriptor)

    def _flag_(self, op: dict) -> None:
        os.close(os.open(self.folder / op["file"], os.O_WRONLY | os.O_CREAT, 0o644))

    def _log_(self, op: dict) -> None:
        if self.record and WRITTEN in op["text"]:
            time_of_frame = op["text"].partition("wrfout_")[2].split()[0].partition("_")[2]
            line = json.dumps({"folder": os.path.realpath(self.folder), "frame": time_of_frame})
            with self.record.open("a") as file:
                file.write(line + "\n")
        text = self._logs.get(op["file"], "") + op["text"]
        whole = len(text) - len(text) % self.late_log if self.late_log else len(text)
        self._append(op["file"], text[:whole])
        self._logs[op["file"]] = text[whole:]

    def _append(self, name: str, text: str) -> None:
        if text:
            try:
                with open(f"{self.folder}/{name}", "a") as file:
                    file.write(text)
            except OSError as error:
                self._full_disk(error)

    def _full_disk(self, error: OSError) -> None:
        if not self.careless or error.errno != errno.ENOSPC:
            raise error


def play(
    player: Player,
    *,
    speed: float = 1.0,
    interval_s: float | None = None,
    pauses: dict[int, float] | None = None,
    cut_at: int | None = None,
    go_on: Path | None = None,
    each: bool = False,
    first: int = 0,
) -> None:
    """Play to the end in real time, or kill this process before call ``cut_at``.

    ``first``: the calls before that frame are left out, as by a job that goes on from there.

    ``interval_s`` is the time from the start of one frame to the next; within a frame the calls
    keep their pace. ``pauses`` maps calls to seconds to wait before them. The last frame begins
    when the file ``go_on`` is there; with ``each`` every frame after the first waits for the file,
    and takes it away.
    """
    starts = {call: number for number, call in enumerate(player.trace.frame_starts())}
    last = max(starts, default=None)
    begin = time.monotonic()
    before = 0.0
    begins = player.trace.frame_starts()[first] if first else 0
    for index, op in enumerate(player.trace.ops):
        if index < begins:
            player.at, before = index + 1, op["t"]
            continue
        gap, before = max(0.0, op["t"] - before) / speed, op["t"]
        if interval_s is not None and index in starts:
            gap = begin + starts[index] * interval_s - time.monotonic()
        gap += (pauses or {}).get(index, 0.0)
        if gap > 0:
            time.sleep(gap)
        if go_on is not None and (starts.get(index, 0) > 0 if each else index == last):
            while not go_on.exists():
                time.sleep(0.05)
            if each:
                go_on.unlink()
        if index == cut_at:
            os.kill(os.getpid(), signal.SIGKILL)
        player.step()
    player.finish()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace", type=Path, metavar="TRACE_DIR")
    pace = parser.add_mutually_exclusive_group()
    pace.add_argument("--speed", type=float, default=1.0, help="times the recorded speed")
    pace.add_argument("--interval", type=float, metavar="SECONDS", help="from frame to frame")
    parser.add_argument("--pause-at", action="append", default=[], metavar="CALL:SECONDS")
    parser.add_argument("--cut-at", type=int, metavar="CALL", help="kill -9 before that call")
    parser.add_argument("--go-on", type=Path, metavar="FILE", help="the last frame waits for it")
    parser.add_argument("--each", action="store_true", help="frames wait for it, and take it away")
    parser.add_argument("--late-log", type=int, default=0, metavar="BYTES", help="block size")
    parser.add_argument("--into", default="", metavar="SUBFOLDER", help="of the history")
    parser.add_argument("--careless", action="store_true", help="ignore a full disk, as WRF does")
    parser.add_argument("--record", type=Path, metavar="FILE", help="gets a line for each frame")
    parser.add_argument("--first", type=int, default=0, metavar="FRAME", help="leave out earlier")
    parser.add_argument("--folder", type=Path, default=Path("."))
    given = parser.parse_args()
    pauses = {int(call): float(s) for call, s in (text.split(":") for text in given.pause_at)}
    play(
        Player(
            Trace.load(given.trace),
            given.folder,
            late_log=given.late_log,
            into=given.into,
            careless=given.careless,
            record=given.record,
        ),
        speed=given.speed,
        interval_s=given.interval,
        pauses=pauses,
        cut_at=given.cut_at,
        go_on=given.go_on,
        each=given.each,
        first=given.first,
    )


if __name__ == "__main__":
    main()
