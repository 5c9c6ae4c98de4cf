"""A small real run of a replayed model, ways to disturb it, and the checks after it."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import pytest
from recipe_texts import wrf_recipe

from burstlens.cluster_configs.site import SITES
from burstlens.core.errors import ValuesError
from burstlens.core.run.directory import RunDir
from burstlens.core.run.index import grid_path
from burstlens.viz.values.lookup import Grid
from burstlens.viz.values.script import ValuesFile
from burstlens.viz.values.traces import TracesFile

TESTS = Path(__file__).parent
TRACE = TESTS / "data" / "traces" / "netcdf4_one"
TIMES = ("00010101T000000", "00010101T000100", "00010101T000200")
FINAL = {f"{product}_d01_{time}" for product in ("w", "core") for time in TIMES}
LIMIT_S = float(os.environ.get("FAULT_LIFE_S", "150"))
"""For one life of a driver; a run takes 12 s on two idle cores."""
ENDS_S = 40.0
"""For processes to end, beside four other tests on two cores."""
WAITS = "--interval 0.5 --go-on HERE/go-on"
"""A model whose last frame waits for :meth:`Case.go_on`, however slow the machine is."""
BLOCK = ("interchange", "manager", "worker")
"""The roles that processes of the viewing block have in a run."""
PRODUCT = """
[[product]]
name = "core"
kind = "vtk"
variables = ["U", "V", "W"]
[stage_out]
keep = ["wrfout_*"]
"""
RECIPE = wrf_recipe("A run to be disturbed", PRODUCT)


@dataclass(frozen=True)
class Life:
    """One life of a driver: its exit code and output."""

    code: int
    said: str


@dataclass
class Case:
    """One run in a folder of its own: started, disturbed, resumed, examined."""

    folder: Path
    model: str = "--interval 0.5"
    capacity: str = "100 MiB"
    buffer_folder: Path | None = None
    recipe: str = RECIPE
    python: str = sys.executable
    trace: str = TRACE.name
    final: frozenset[str] = frozenset(FINAL)
    """The names of all products, without their endings."""
    made: bool = False
    """Whether another process has made the folder already."""
    block_only: bool = False
    """Whether all tasks wait for the viewing block. Else an early worker runs the first ones, in a
    short run all of them, and no worker of the block is ever needed."""
    environment: dict[str, str] = field(default_factory=dict)
    """Of all processes of the run, beside what they inherit; may change between lives."""
    inherited: Mapping[str, str] | None = None
    """Of all processes of the run; this process's own at each start if none. A run in a thread
    beside tests needs one: each test changes this process's."""

    def __post_init__(self) -> None:
        self.inputs = self.folder / "inputs"
        self.runs = self.folder / "runs"
        self.run = self.runs / "r"
        self.buffer = self.buffer_folder or self.folder / "buffer"
        self.calls = self.folder / "calls"
        if self.made:
            return
        self.inputs.mkdir(parents=True, exist_ok=True)
        self.buffer.mkdir(exist_ok=True)
        self.calls.mkdir()
        shutil.copy(TESTS / "replay.py", self.inputs)
        shutil.copy(TRACE.parent / "namelist.input", self.inputs)
        shutil.copytree(TRACE.parent / self.trace, self.inputs / "trace")
        program = self.inputs / "wrf.exe"
        model = self.model.replace("HERE", str(self.folder))
        program.write_text(f"#!/bin/sh\nexec {self.python} replay.py trace {model}\n")
        program.chmod(0o755)
        if self.block_only:  # lines of the site's shell are for workers of a block alone
            sites = self.folder / "sites"
            sites.mkdir()
            shell = '[viewing]\nworker_init = "true"'
            text = (SITES / "local.toml").read_text().replace("[viewing]", shell)
            (sites / "local.toml").write_text(text)
        (self.folder / "r.toml").write_text(self.recipe.format(capacity=self.capacity))

    def start(
        self, *words: str, kill: dict[str, Any] | None = None, counted: bool = False
    ) -> subprocess.Popen[str]:
        """``burstlens words``, with its output in a file of its own."""
        environment = {"BURSTLENS_RUNS": str(self.runs), "BURSTLENS_BUFFER": str(self.buffer)}
        if self.block_only:
            environment["BURSTLENS_SITES"] = str(self.folder / "sites")
        if counted or kill:
            paths = [str(TESTS / "fault" / "killer"), os.environ.get("PYTHONPATH")]
            environment |= {
                "PYTHONPATH": ":".join(filter(None, paths)),
                "FAULT_FOLDER": str(self.calls),
                "FAULT_ROOTS": f"{self.run}:{self.buffer}",
                "FAULT_KILL": json.dumps(kill),
            }
        command = [self.python, "-m", "burstlens", *words]
        # In a file: a process that outlives the driver would hold a pipe open.
        with (self.folder / "said").open("a") as said:
            return self.popen(command, environment, said)

    def popen(
        self, command: list[str], environment: dict[str, str], said: IO[str]
    ) -> subprocess.Popen[str]:
        """Start a command in the case's folder, with these variables beside the others."""
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env={**(self.inherited or os.environ), **self.environment, **environment},
            text=True,
            stdout=said,
            stderr=said,
        )

    def wait(self, driver: subprocess.Popen[str], limit_s: float = LIMIT_S) -> Life:
        """The driver's end. Fails when it takes longer."""
        try:
            code = driver.wait(limit_s)
        except subprocess.TimeoutExpired:
            driver.kill()
            pytest.fail(f"still running after {limit_s:.0f} s; it said:\n{self.said()}")
        return Life(code, self.said())

    def burstlens(self, *words: str, kill: dict[str, Any] | None = None, **how: Any) -> Life:
        """``burstlens words`` to its end."""
        return self.wait(self.start(*words, kill=kill, **how))

    def said(self) -> str:
        """All output of the drivers so far."""
        return (self.folder / "said").read_text()

    def launch(self, *, notify: str = "", **how: Any) -> subprocess.Popen[str]:
        """Start the run; ``notify`` is a way of its word."""
        words = ["--notify", notify] if notify else []
        return self.start("run", "r.toml", "--name", "r", *words, **how)

    def go_on(self) -> None:
        """Let a model with ``WAITS`` write its last frame."""
        (self.folder / "go-on").touch()

    def finish(self) -> None:
        """Resume until it is done, at most twice."""
        for _ in range(2):
            if self.burstlens("resume", "r").code == 0:
                return
        pytest.fail(f"two resumes did not end the run:\n{self.said()}")

    def await_event(self, event: str, count: int = 1, limit_s: float = 120.0) -> None:
        """Wait until the journal has that event that many times."""
        self.await_that(
            lambda: sum(line["event"] == event for line in self.journal()) >= count, event, limit_s
        )

    def await_that(self, holds: Any, what: str, limit_s: float = 120.0) -> None:
        """Wait until ``holds()``."""
        end = time.monotonic() + limit_s
        while not holds():
            assert time.monotonic() < end, f"no {what} within {limit_s:.0f} s:\n{self.said()}"
            time.sleep(0.05)

    def journal(self) -> list[dict[str, Any]]:
        """The events of all of the journal's files; an incomplete line is left out."""
        try:
            texts = [path.read_text() for path in RunDir(self.run).journal_files]
        except OSError:
            return []
        return [json.loads(line) for text in texts for line in text.split("\n")[:-1]]

    def processes(self) -> dict[int, str]:
        """Live processes that belong to this run, see :func:`processes_of`."""
        return processes_of(self.folder)

    def end(self) -> None:
        """End all remaining processes of this run."""
        end_processes(self.folder)

    def faults(self) -> list[str]:
        """The failed checks of a run that is done: empty when nothing was lost or done twice."""
        return [
            *self._product_faults(),
            *self._leftovers(),
            *self._output_faults(),
            *self._process_faults(),
        ]

    def _product_faults(self) -> Iterator[str]:
        journal = self.journal()
        if not journal or journal[-1]["event"] != "run.ended" or journal[-1]["outcome"] != "done":
            yield f"the journal does not end with a run that is done: {journal[-1:]}"
        published = [line for line in journal if line["event"] == "product.published"]
        for what, count in Counter(map(_key, published)).items():
            if count > 1:
                yield f"published {count} times: {what}"
        ready = [line for line in journal if line["event"] == "frame.ready"]
        for what, count in Counter((f["stream"], f["time"], f["attempt"]) for f in ready).items():
            if count > 1:
                yield f"frame.ready {count} times: {what}"
        last = max((line["attempt"] for line in ready), default=0)
        stands = {Path(line["name"]).stem for line in published if line["attempt"] == last}
        if stands != self.final:
            yield f"published of attempt {last}: {sorted(stands)}"
        index = (self.run / "products" / "index.jsonl").read_text()
        listed = Counter(_key(json.loads(line)) for line in index.splitlines())
        if listed != Counter(set(map(_key, published))):
            yield f"the index lists {sorted(listed.items())}"
        for line in published:
            if line["attempt"] == last:
                yield from self._file_faults(line)
        names = set((self.run / "products").glob("[!.]*/*"))
        names -= set((self.run / "products" / "live").iterdir())
        beside = [part["name"] for line in published for part in line.get("values", ())]
        known = {*beside, *(line["name"] for line in published)}
        foreign = names - {self.run / "products" / name for name in known}
        if foreign:
            yield f"unknown files among the products: {sorted(map(str, foreign))}"
        for line in published:
            if line["attempt"] == last:
                yield from self._values_faults(line)

    def _values_faults(self, line: dict[str, Any]) -> Iterator[str]:
        """The values of a picture stand whole, with the grid that they lie on."""
        products = self.run / "products"
        if not line.get("values"):
            return
        path = products / line["values"][-1]["name"]
        try:
            if "traces" in (line["facts"] or {}):
                if TracesFile.read(path).header["picture"] != line["crc32"]:
                    yield f"{path} belongs to another picture"
                return
            values = ValuesFile(path)
            values.field()
            for field in values.fields:
                Grid.read(grid_path(products, field.grid))
        except ValuesError as error:
            yield str(error)
            return
        if values.header["picture"] != line["crc32"]:
            yield f"{path} belongs to another picture"

    def _file_faults(self, line: dict[str, Any]) -> Iterator[str]:
        path = self.run / "products" / line["name"]
        data = path.read_bytes() if path.exists() else b""
        if len(data) != line["bytes"] or zlib.crc32(data) != line["crc32"]:
            yield f"{line['name']} is not what the journal says"
        elif (line["facts"] or {}).get("placeholder"):
            yield f"{line['name']} is a placeholder: {line['facts']}"
        elif not _opens(path):
            yield f"{line['name']} does not open"

    def _leftovers(self) -> Iterator[str]:
        incoming = list((self.run / "products" / ".incoming").iterdir())
        if incoming:
            yield f"left in .incoming: {[path.name for path in incoming]}"
        for path in self.run.rglob("*"):
            inside = path.relative_to(self.run).parts[0] == "parsl"
            if not inside and (path.name.endswith(".part") or path.name.endswith(".tmp")):
                yield f"temporary file left: {path}"
        yield from self._buffer_faults()
        if list((self.run / "control").iterdir()):
            yield f"left in control: {os.listdir(self.run / 'control')}"

    def _buffer_faults(self) -> Iterator[str]:
        if list(self.buffer.glob("*/*")):
            yield f"left on the buffer: {list(self.buffer.rglob('*'))[:9]}"

    def _output_faults(self) -> Iterator[str]:
        final = trace_results()
        output = self.run / "output"
        found = {path.name: _sha256(path) for path in output.iterdir()} if output.is_dir() else {}
        if found != final:
            yield f"output holds {sorted(found)}, not bit-equal to the model's {sorted(final)}"
        logs = sorted(self.run.glob("logs/attempt-*/rsl.error.0000"), key=str)
        if not logs or "SUCCESS COMPLETE WRF" not in logs[-1].read_text():
            yield f"the model's log is not home: {logs}"

    def _process_faults(self) -> Iterator[str]:
        end = time.monotonic() + ENDS_S
        while left := self.processes():
            if time.monotonic() > end:
                yield f"still alive {ENDS_S:.0f} s after the end: {left}"
                return
            time.sleep(0.1)


def processes_of(folder: Path) -> dict[int, str]:
    """Live processes that name a folder in their command, working folder or environment."""
    marker = os.fsencode(folder) + b"/"
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes()
            if not command:  # a zombie: its parent is another one of these, or this process
                continue
            place = os.fsencode(os.readlink(entry / "cwd")) + b"/"
            if marker in command + (entry / "environ").read_bytes() + place:
                found[int(entry.name)] = command.replace(b"\0", b" ").decode()
        except OSError:
            continue
    return found


def end_processes(folder: Path) -> None:
    """End all remaining processes of a folder."""
    for pid in processes_of(folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def trace_results() -> dict[str, str]:
    """SHA-256 of each file that the model leaves, by name."""
    spec = importlib.util.spec_from_file_location("fault_replay", TESTS / "replay.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fault_replay"] = module
    spec.loader.exec_module(module)
    final = module.Trace.load(TRACE).final
    return {name: digest for name, (_, digest) in final.items() if name.startswith("wrfout")}


def _key(line: dict[str, Any]) -> tuple[str, str, str, int]:
    return line["product"], line["stream"], line["time"], line["attempt"]


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _opens(path: Path) -> bool:
    if path.suffix == ".png":
        from PIL import Image

        with Image.open(path) as image:
            image.load()
            return image.size[0] > 100
    from vtkmodules.vtkIOXML import vtkXMLStructuredGridReader

    reader = vtkXMLStructuredGridReader()
    reader.SetFileName(str(path))
    reader.Update()
    grid = reader.GetOutput()
    names = {grid.GetPointData().GetArrayName(i) for i in range(3)}
    names |= {grid.GetCellData().GetArrayName(i) for i in range(3)}
    return bool(grid.GetNumberOfPoints() > 1000 and {"U", "V", "W"} <= names)
