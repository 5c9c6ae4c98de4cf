"""Carries out a scenario: a real run, disturbed, resumed until it is done, then judged."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field, replace
from errno import EDQUOT, ENOSPC
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from recipe_texts import wrf_recipe
from run_case import BLOCK, PRODUCT, Case, Life
from run_checker import Evidence, live_processes, violations
from scenario import FIRST_FRAME, LAST_FRAME, PLACES, ROLES, Scenario

HERE = Path(__file__).parent
LOOK_S = 0.01
PHASE_S = 120.0
"""How long a phase may let itself be awaited."""
RESUMES = 3
CUT = """
[[product]]
name = "cut"
kind = "netcdf"
variables = ["U", "W"]
"""


@dataclass(frozen=True)
class Variation:
    """A recipe, its products, and the recorded model that it runs."""

    recipe: str
    products: dict[str, str]
    trace: str
    model: str
    kept: bool
    frames: int


_RECORDS = " --record HERE/record"
_KEEP = '[stage_out]\nkeep = ["wrfout_*"]\n'
_CROPS = wrf_recipe("Crops", CUT, CUT.replace('"cut"', '"t"').replace('"U", "W"', '"T"'))
_CROPS = (
    _CROPS[: _CROPS.index("[[product]]")] + _CROPS[_CROPS.index('\n[[product]]\nname = "cut"') :]
)
VARIATIONS = {
    "pictures": Variation(
        wrf_recipe("Pictures", PRODUCT), {"w": "map", "core": "vtk"}, "netcdf4_one",
        "--interval 0.5 --pause-at 5391:1.5" + _RECORDS, True, 3,
    ),
    "crops": Variation(
        _CROPS + _KEEP, {"cut": "netcdf", "t": "netcdf"}, "netcdf4_one",
        "--interval 0.5 --pause-at 5391:1.5" + _RECORDS, True, 3,
    ),
    "growing": Variation(
        wrf_recipe("A growing file", CUT), {"w": "map", "cut": "netcdf"}, "netcdf4_growing",
        "--interval 0.5" + _RECORDS, False, 4,
    ),
}  # fmt: skip


class NoticeReceiver:
    """A web server that keeps which events it was told."""

    def __init__(self) -> None:
        events: list[str] = []
        self.events = events

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"] or 0))
                events.append(json.loads(body)["event"])
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """End the server."""
        self.server.shutdown()
        self.server.server_close()


class Equipment:
    """The libraries to preload, which all scenarios share."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.libraries = {name: folder / f"{name}.so" for name in ("injector", "clock")}
        for name, library in self.libraries.items():
            source = HERE / f"{name}.c"
            command = ["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"]
            subprocess.run(command, check=True)


@dataclass
class Verdict:
    """How a scenario ended."""

    scenario: Scenario
    reached: bool = False
    """Whether the process, the call or the phase was there to be disturbed."""
    lives: list[int] = field(default_factory=list)
    """The exit code of each driver, in order."""
    violations: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def outcome(self) -> str:
        """One word for the table."""
        if self.violations:
            return "violation"
        if not self.reached:
            return "not reached"
        return "went on" if len(self.lives) == 1 else "resumed"


class DisturbedRun:
    """One scenario in a folder of its own."""

    def __init__(self, folder: Path, scenario: Scenario, equipment: Equipment) -> None:
        self.scenario = scenario
        self.variation = VARIATIONS[scenario.variation]
        self.equipment = equipment
        self.receiver = NoticeReceiver()
        self.verdict = Verdict(scenario)
        folder.mkdir(parents=True)
        self.disk = contextlib.ExitStack()
        buffer = folder / "buffer"
        self.scratch = folder / "tmp"
        for place in ("buffer", "tmp", "disk"):
            (folder / place).mkdir()
        homes = {f"XDG_{name}_HOME": str(folder / "home" / name) for name in ("CONFIG", "STATE")}
        self.case = Case(
            folder,
            model=self.variation.model,
            trace=self.variation.trace,
            recipe=self.variation.recipe,
            products=self.variation.products,
            kept=self.variation.kept,
            buffer_folder=buffer,
            block_only=scenario.role in BLOCK,
            inherited={**os.environ, **homes, "TMPDIR": str(self.scratch)},
        )  # fmt: skip

    def carry_out(self) -> Verdict:
        """Disturb, resume, judge."""
        begin = time.monotonic()
        try:
            life = self._first_life()
            self.case.environment.pop("INJECT_COMMAND", None)
            if self.verdict.reached or life.code:
                self._judge_first(life)
            self._resume(life)
            self.verdict.violations += violations(self._evidence())
            if "done" not in self.receiver.events:
                self.verdict.violations.append(f"no word of the end: {self.receiver.events}")
        except pytest.fail.Exception as failed:
            self.verdict.violations.append(str(failed)[:2000])
        finally:
            self.case.end()
            self.disk.close()
            self.receiver.close()
            self.verdict.seconds = time.monotonic() - begin
        return self.verdict

    def _first_life(self) -> Life:
        prepare = {"call": self._prepare_call, "room": self._prepare_room}
        prepare.get(self.scenario.kind, lambda: None)()
        if self.scenario.kind == "clock":
            self._prepare_clock()
        notify = f"http://127.0.0.1:{self.receiver.port}/"
        driver = self.case.launch(notify=notify)
        if self.scenario.kind == "call":
            life = self.case.wait(driver)
            self.verdict.reached = (self.case.folder / "injected").exists()
            return life
        disturb = {"kill": self._kill, "room": self._fill, "clock": self._set_clock}
        self.verdict.reached = disturb[self.scenario.kind](driver)
        return self.case.wait(driver)

    def _judge_first(self, life: Life) -> None:
        """Whether the first driver may have ended so, and has said why."""
        allowed = {0, 1}
        if self.scenario.kind == "kill" and self.scenario.role == "driver":
            number = self.scenario.number
            stopped = {signal.SIGTERM: {4, 0, -15, 143}, signal.SIGINT: {4, 0, -2, 130}}
            allowed = {signal.SIGKILL: {-9}, signal.SIGSTOP: {0}, **stopped}[signal.Signals(number)]
            if self.scenario.phase.opens is None and number != signal.SIGKILL:
                allowed = allowed | {1}  # it was about to make its run directory
        if self.scenario.kind == "room" or self.scenario.effect[1] in (ENOSPC, EDQUOT):
            allowed = {0, 1, 6}
        if life.code not in allowed:
            self.verdict.violations.append(f"the first driver ended with {life.code}")
        interrupted = life.code == 130  # a shell's word for Ctrl-C, before there was a run
        spoke = re.search(r"^burstlens: \S", life.said, re.MULTILINE)
        if life.code > 0 and not spoke and not interrupted:
            self.verdict.violations.append(f"exit code {life.code} without a message")

    def _resume(self, life: Life) -> None:
        """Resume until it is done; start again what had not begun."""
        self.verdict.lives.append(life.code)
        notify = f"http://127.0.0.1:{self.receiver.port}/"
        while self.verdict.lives[-1] != 0 and len(self.verdict.lives) <= RESUMES:
            if (self.case.run / "run.json").exists():
                life = self.case.burstlens("resume", "r")
            else:
                life = self.case.wait(self.case.launch(notify=notify))
                if life.code and self.case.run.exists():
                    self.verdict.violations.append("half a run directory keeps its name")
                    shutil.rmtree(self.case.run)
            self.verdict.lives.append(life.code)

    def _evidence(self) -> Evidence:
        return replace(
            self.case.evidence(),
            exit_code=self.verdict.lives[-1],
            owned_folders=(self.case.buffer, self.scratch),
        )

    # Moments

    def _seen(self, event: str | None) -> bool:
        events = [line["event"] for line in self.case.journal()]
        if event in (FIRST_FRAME, LAST_FRAME):
            frames = events.count("frame.ready")
            return frames >= (1 if event == FIRST_FRAME else self.variation.frames)
        return event is None or event in events

    def _await_moment(self, driver: subprocess.Popen[str]) -> None:
        """Wait for the moment in the phase, the phase's end at the latest."""
        phase, end = self.scenario.phase, time.monotonic() + PHASE_S
        while not self._seen(phase.opens) and driver.poll() is None and time.monotonic() < end:
            time.sleep(LOOK_S)
        moment = time.monotonic() + self.scenario.after_s
        while time.monotonic() < moment and not self._seen(phase.closes) and driver.poll() is None:
            time.sleep(LOOK_S)

    # Kinds

    def _kill(self, driver: subprocess.Popen[str]) -> bool:
        self._await_moment(driver)
        number = signal.Signals(self.scenario.number)
        end = time.monotonic() + PHASE_S
        while driver.poll() is None and time.monotonic() < end:
            pid = driver.pid if self.scenario.role == "driver" else self._process()
            with contextlib.suppress(ProcessLookupError):
                if pid is not None:
                    os.kill(pid, number)
                    if number == signal.SIGSTOP:
                        time.sleep(self.scenario.lasts_s)
                        os.kill(pid, signal.SIGCONT)
                    return True
            if self._seen(self.scenario.phase.closes):
                return False
            time.sleep(LOOK_S)
        return False

    def _process(self) -> int | None:
        """A process of the role; of several one that the seed picks."""
        found = [
            pid for pid, command in sorted(live_processes(self.case.folder).items())
            if role_of(command) == self.scenario.role
        ]  # fmt: skip
        return found[self.scenario.seed % len(found)] if found else None

    def _prepare_call(self) -> None:
        call = self.scenario.call
        assert call is not None
        effect, number = self.scenario.effect
        folder = self.case.folder
        self.case.environment |= {
            "LD_PRELOAD": str(self.equipment.libraries["injector"]),
            "INJECT_COMMAND": ROLES[call.role],
            "INJECT_CALL": call.call,
            "INJECT_PATH": PLACES[call.place].format(notice_port=self.receiver.port),
            "INJECT_FIRST": str(self.scenario.number),
            "INJECT_EFFECT": effect,
            "INJECT_ERRNO": str(number),
            "INJECT_HANG_S": f"{self.scenario.lasts_s:.0f}",
            "INJECT_ONCE": str(folder / "once"),
            "INJECT_LOG": str(folder / "injected"),
        }

    def _prepare_room(self) -> None:
        """Put the place on a small file system of its own."""
        what, place = self.scenario.place.split(" in ")
        folder = self.case.folder / ("disk" if place == "runs" else place)
        if place == "runs":
            self.case.runs.symlink_to(folder)
        options = "size=48m" if what == "blocks" else "size=200m,nr_inodes=3000"
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        subprocess.run(command, check=True)
        self.disk.callback(subprocess.run, ["umount", "--lazy", str(folder)], check=True)

    def _fill(self, driver: subprocess.Popen[str]) -> bool:
        self._await_moment(driver)
        what, place = self.scenario.place.split(" in ")
        folder = self.case.folder / ("disk" if place == "runs" else place)
        if driver.poll() is not None:
            return False
        ballast = folder / "ballast"
        ballast.mkdir()
        with contextlib.suppress(OSError):
            fill_blocks(ballast) if what == "blocks" else _fill_inodes(ballast)
        time.sleep(self.scenario.lasts_s)
        shutil.rmtree(ballast)
        return True

    def _prepare_clock(self) -> None:
        self._set_offset(0)
        self.case.environment |= {
            "LD_PRELOAD": str(self.equipment.libraries["clock"]),
            "CLOCK_OFFSET": str(self.case.folder / "offset"),
            "CLOCK_COMMAND": ROLES.get(self.scenario.role, "*"),
        }

    def _set_clock(self, driver: subprocess.Popen[str]) -> bool:
        self._await_moment(driver)
        self._set_offset(self.scenario.number)
        if self.scenario.lasts_s:
            time.sleep(self.scenario.lasts_s)
            self._set_offset(0)
        return driver.poll() is None

    def _set_offset(self, seconds: int) -> None:
        part = self.case.folder / "offset.part"
        part.write_text(f"{seconds:+d}\n")
        part.rename(self.case.folder / "offset")


def role_of(command: str) -> str:
    """The role of a process by its command, or by the title that Parsl gives it."""
    for word, name in (
        ("supervisor.py", "supervisor"),
        ("multiprocessing.forkserver", "worker"),
        ("interchange", "interchange"),
        ("-m burstlens.cluster_configs.worker_pool", "manager"),
        ("replay.py", "model"),
        ("frames.hdf5", "prober"),
        ("multiprocessing.spawn", "early"),
    ):
        if word in command:
            return name
    return ""


def fill_blocks(folder: Path) -> Path:
    """Leave no room in the folder's file system; deleting the returned file frees it."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as stream:
        for size in (1 << 20, 4096, 1):
            with contextlib.suppress(OSError):
                while True:
                    stream.write(b"x" * size)
    return ballast


def _fill_inodes(folder: Path) -> None:
    for number in range(10**6):
        (folder / str(number)).touch()


def commit() -> str:
    """The commit of the code that is tested."""
    words = ["git", "-C", str(HERE), "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(words, capture_output=True, text=True).stdout.strip()
