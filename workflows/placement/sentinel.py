"""The sentinel: sends word that a run has no driver, and evaluates the guards that can stop its
model meanwhile.

The supervisor starts ``python -P -m burstlens.workflows.placement.sentinel RUN_DIR JOB_FOLDER
STILL_S HEARTBEAT`` in the simulation's own job when that heartbeat of the driver, as JSON, has
stood still for so long. The sentinel looks at the model's folder as the watcher does, judges by the
same guards, drops the same file into ``control/``, and ends when the heartbeat is another one. It
writes ``sentinel.jsonl`` and, of word, ``notices.jsonl`` of the job's folder, from which the next
driver journals. With a last word ``over``, after the model's end, it sends word of that end alone.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from burstlens.core.durable import read_json
from burstlens.core.errors import BurstlensError, FrameError
from burstlens.core.lines import Lines
from burstlens.core.model import Frame
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import facts_of
from burstlens.core.run.heartbeat import shown_driver
from burstlens.core.run.history_file import history_of
from burstlens.core.run.journal import read_only
from burstlens.core.run.logs import open_log
from burstlens.core.run.requests import requests_of
from burstlens.core.version import answer
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import Report
from burstlens.workflows.frames.watch import watch
from burstlens.workflows.guards.finding import Trip
from burstlens.workflows.guards.judge import RECALLED, Judge, Remark
from burstlens.workflows.guards.reports import Room, patterns_of
from burstlens.workflows.guards.shown_units import units_of_maps
from burstlens.workflows.placement import direct_requests
from burstlens.workflows.placement.absence import Absence, print_if_possible
from burstlens.workflows.placement.buffer import free_bytes
from burstlens.workflows.placement.job_folder import has_ended
from burstlens.workflows.recipe.layers import Source
from burstlens.workflows.recipe.load import check

LOOK_S = 1.0
"""How long one look at the model's folder may wait for something new."""
NICENESS = 10
_log = logging.getLogger("burstlens.workflows.placement.sentinel")


class Sentinel:
    """Watches one attempt while no driver does."""

    def __init__(
        self,
        run: RunDir,
        job_folder: Path,
        job: Mapping[str, Any],
        still_s: float,
        beat: object,
        *,
        over: bool,
    ) -> None:
        facts = facts_of(run, "recipe", "source", "table")
        source = Source(str(facts.recipe), Path(str(facts.source)), facts.table or {})
        recipe, _ = check(source)
        self.run, self.recipe, self.job_folder, self.job = run, recipe, job_folder, job
        self.attempt = int(str(job["name"]).removeprefix("attempt-"))
        self.root = Path(os.path.expandvars(str(job["root"])))
        history = history_of(run.journal)
        self.inspected = history.inspected
        self._main = recipe.model.main_stream(recipe.inputs)
        self._shown = units_of_maps(product.options for product in recipe.products)
        self.judge = Judge(recipe.guards, self._main)
        self.judge.recall(read_only(run.journal, *RECALLED))
        self._raw_bytes = 0
        self._trips: list[dict[str, Any]] = []
        """Those that the run directory has not taken yet; the supervisor holds them as well."""
        self._passed = 0
        self._requests = requests_of(run)
        self._requests.send_directly = partial(direct_requests.send, job_folder)
        self._absence = Absence(run, recipe, history, job_folder, still_s, over=over)
        self._parent, self._beat = os.getppid(), beat
        self._over = over

    def work(self) -> None:
        """Send word and watch until the model has ended, a driver lives again, or the supervisor
        is gone; without a guard that stops the model until the word is sent."""
        try:
            if not self._over and any(guard.stops for guard in self.recipe.guards):
                self._keep_watch()
            else:
                self._absence.await_end(self._is_alone)
        finally:
            self._absence.close()

    def _is_alone(self) -> bool:
        beat = self._beat
        with contextlib.suppress(OSError):  # a run directory that is away shows no driver
            beat = heartbeat(self.run)
        return os.getppid() == self._parent and beat == self._beat

    def _keep_watch(self) -> None:
        cursor = Cursor()
        patterns = patterns_of(self.recipe.guards, self.recipe.model)
        baseline = read_json(self.job_folder / "baseline.json")
        while self._is_alone():
            self._absence.look()
            self._write()
            report = watch(
                self.root,
                str(self.job["folder"]),
                self.recipe.model,
                self.run.id,
                self.attempt,
                cursor,
                baseline=baseline,
                ended=self._has_ended,
                timeout_s=LOOK_S,
                interval_s=float(self.job["sentinel"]["poll_s"]),
                patterns=patterns,
                stopping=self._waits_for_frame,
            )
            cursor = report.cursor
            patterns = tuple(one for one in patterns if one.guard not in report.given_up)
            self._take(report)
            if report.ended:
                break
        self._write()

    def _write(self) -> None:
        """Write what the run directory may have refused before."""
        self._requests.write_held(time.monotonic())
        if not self._trips:
            return
        try:
            with contextlib.closing(Lines(self.run.sentinel)) as file:
                while self._trips:
                    file.append(self._trips[0])
                    file.sync()
                    del self._trips[0]
                    self._passed = max(0, self._passed - 1)
        except OSError:
            self._pass_on()

    def _pass_on(self) -> None:
        """Give the supervisor the trips that may still be refused when this process ends."""
        while self._passed < len(self._trips):
            trip = self._trips[self._passed]
            if not direct_requests.send(self.job_folder, "trip", trip):
                return
            self._passed += 1

    def _take(self, report: Report) -> None:
        now, t = time.monotonic(), time.time()
        self._raw_bytes += sum(frame.bytes for frame in report.frames)
        capacity = self.recipe.buffer.capacity
        room = Room.of(capacity, self._raw_bytes, free_bytes(self.root))
        for frame in reversed(report.frames):  # the newest first: it is the present
            if (frame.stream, frame.time, frame.attempt) not in self.inspected:
                self._inspect(frame)
        for remark in self.judge.watched(report, room, self.attempt, now=now, t=t):
            self._act(remark)
        if report.stopping and (report.frames or not report.in_progress):
            self._requests.make_request("frame-done")

    def _inspect(self, frame: Frame) -> None:
        from burstlens.viz.diagnostics.derived import open_frame
        from burstlens.workflows.guards.field import inspect

        guards = [guard for guard in self.recipe.guards if guard.looks_at(frame.stream, self._main)]
        if not guards:
            return
        paths = [self.root / path for path in frame.paths]
        try:
            with open_frame(
                paths, frame.record, stream=frame.stream, time=frame.time,
                time_variable=self.recipe.model.time_variable,
            ) as reader:  # fmt: skip
                about = frame.attempt, self._shown
                readings = inspect(reader, guards, *about, calendar=frame.calendar)
        except FrameError as error:
            _log.warning("frame %s %s cannot be judged: %s", frame.stream, frame.time, error)
            print_if_possible(f"frame {frame.stream} {frame.time}: {error}")
            return
        for reading in readings:
            for remark in self.judge.read(reading, time.time()):
                self._act(remark)

    def _act(self, remark: Remark) -> None:
        _log.warning("%s", remark.sentence)
        print_if_possible(remark.sentence)
        if isinstance(remark, Trip):
            guard = self.judge.guards[remark.guard]
            ended = remark.attempt != self.attempt or self._has_ended()
            status = replace(remark, after_end=guard.stops and ended).status()
            self._trips.append(status)
            if guard.stops and not ended:
                # With the trip: the supervisor passes it on where the disk takes neither.
                self._requests.make_request(guard.then, {**remark.why(), "trip": status})
            self._write()

    def _has_ended(self) -> bool:
        return has_ended(self.job_folder)

    def _waits_for_frame(self) -> bool:
        done = "frame-done" in self._requests.held or self.run.has_request("frame-done")
        return self.run.stop_requested() == "stop" and not done


def heartbeat(run: RunDir) -> object:
    """The driver's latest sign of life: only whether it changes means something."""
    driver = shown_driver(run)
    return driver and driver.heartbeat


def main(
    run_dir: Path,
    job_folder: Path,
    still_s: float = 0.0,
    beat: object = None,
    *,
    over: bool = False,
) -> int:
    """Look after the attempt. ``beat``: the heartbeat that stands still, the present one if none.
    Returns 1, with one line on standard output, when it cannot."""
    os.nice(NICENESS)
    try:
        job = read_json(job_folder / "job.json") or {}
        level, name = str(job.get("log_level", "info")), str(job.get("name", job_folder.name))
        open_log(run_dir, "sentinel", level, name)
        _log.info("begins: the run has no driver")
        run = RunDir(run_dir)
        if beat is None:
            beat = heartbeat(run)
        Sentinel(run, job_folder, job, still_s, beat, over=over).work()
        _log.info("ends: a driver lives again, the model has ended, or all is sent")
    except (BurstlensError, OSError, KeyError) as error:
        _log.exception("ends by an error")
        print_if_possible(f"the sentinel ends: {type(error).__name__}: {error}")
        return 1
    return 0


if __name__ == "__main__":
    answer(__doc__)
    still = float(sys.argv[3]) if len(sys.argv) > 3 else 0.0
    stands = json.loads(sys.argv[4]) if len(sys.argv) > 4 else None
    folders = Path(sys.argv[1]), Path(sys.argv[2])
    sys.exit(main(*folders, still, stands, over="over" in sys.argv[5:]))
