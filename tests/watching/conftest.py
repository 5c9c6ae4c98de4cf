"""Traces of the real model, and a course that calls the watcher after each call in them."""

from __future__ import annotations

import importlib.util
import lzma
import os
import pickle
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import netCDF4
import pytest
from watcher_case import MODEL, attached_watcher, launched_watcher

from burstlens.core.model import Damage, Frame
from burstlens.workflows.frames.arrival import Selection
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.hdf5 import Prober
from burstlens.workflows.frames.report import Report
from burstlens.workflows.frames.watcher import Watcher
from burstlens.workflows.models.wrf import Wrf

DATA = Path(__file__).parents[1] / "data"
TRACES = (
    "classic_growing",
    "classic_one",
    "nest",
    "netcdf4_growing",
    "netcdf4_one",
    "pnetcdf_growing",
    "pnetcdf_one",
    "quilting",
    "ready_flag",
    "tiles",
)
IO_FORM = {"pnetcdf_growing": 11, "pnetcdf_one": 11, "tiles": 102}


LONG = (
    "classic_one", "nest", "netcdf4_growing", "pnetcdf_one", "quilting", "ready_flag", "tiles",
)  # fmt: skip
"""Traces that only `make test-slow` runs; `make test` runs the others."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "name" in metafunc.fixturenames:
        chosen = metafunc.definition.get_closest_marker("parametrize")
        if chosen is None:
            traces = [
                pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in TRACES
            ]
            metafunc.parametrize("name", traces)


@pytest.fixture(scope="session")
def replay():
    spec = importlib.util.spec_from_file_location("replay", Path(__file__).parents[1] / "replay.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["replay"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def prober() -> Iterator[Prober]:
    prober = Prober()
    yield prober
    prober.close()


@pytest.fixture(scope="session")
def load(replay, tmp_path_factory):
    """Loads the trace of a name, and the files that the model left at the end."""
    known: dict[str, tuple] = {}

    def loaded(name: str):
        if name not in known:
            folder = tmp_path_factory.mktemp(f"final_{name}")
            trace = replay.Trace.load(DATA / "traces" / name)
            player = replay.Player(trace, folder)
            for _ in trace.ops:
                player.step()
            player.finish()
            known[name] = trace, folder
        return known[name]

    return loaded


@pytest.fixture
def broken(tmp_path) -> Callable[[str, str], Path]:
    """Unpacks a broken file under another name."""

    def unpacked(name: str, to: str) -> Path:
        path = tmp_path / to
        with lzma.open(DATA / "broken" / f"{name}.xz") as file:
            path.write_bytes(file.read())
        return path

    return unpacked


def namelist(name: str) -> str:
    text = (DATA / "traces" / "namelist.input").read_text()
    old = "io_form_history                     = 2"
    assert old in text
    return text.replace(old, f"io_form_history = {IO_FORM.get(name, 2)}")


@dataclass
class Course:
    """Plays a trace and calls the watcher; every ready frame is compared with the final files.

    Each call gets an mtime of its own unless ``coarse``: then the file system's clock decides.
    ``stateless``: each scan is made by a new watcher from a cursor that was pickled.
    ``selection``: the model was started by others.
    """

    trace: object
    final: Path
    player: object
    root: Path
    folder: str
    prober: Prober
    model: object = field(default_factory=Wrf)
    baseline: dict | None = None
    aliases: dict[str, str] = field(default_factory=dict)
    coarse: bool = False
    stateless: bool = False
    selection: Selection | None = None
    clock_ns: int = 1_700_000_000_000_000_000
    frames: list[Frame] = field(default_factory=list)
    damaged: list[Damage] = field(default_factory=list)
    calls: dict[tuple, int] = field(default_factory=dict)
    trouble: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    watcher: Watcher | None = None
    report: Report | None = None

    def __post_init__(self) -> None:
        self._path = str(self.path)  # joined a hundred thousand times

    @property
    def path(self) -> Path:
        return self.root / self.folder

    def step(self) -> dict:
        op = self.player.step()
        self.clock_ns += 1000
        if not self.coarse and op["op"] in ("open", "write", "truncate"):
            os.utime(f"{self._path}/{op['file']}", ns=(self.clock_ns, self.clock_ns))
        return op

    def watch(self, **keywords) -> Watcher:
        """A watcher that goes on from the latest report, as one in another process would; an
        attached one where the course has a selection."""
        cursor = pickle.loads(pickle.dumps(self.report.cursor if self.report else Cursor()))
        place = self.root, self.folder, self.model, "run", 1, cursor
        keywords["prober"] = self.prober
        if self.selection is None:
            return launched_watcher(*place, baseline=self.baseline, **keywords)
        stamp = self.root / "clock"
        return attached_watcher(*place, selection=self.selection, stamp=stamp, **keywords)

    def scan(self, elapsed_s: float = 1e-4, *, ended: bool = False) -> Report:
        if self.watcher is None or self.stateless:
            self.watcher = self.watch()
        self.report = self.watcher.scan(elapsed_s=elapsed_s, now=0.0, ended=ended)
        for frame in self.report.frames:
            self.hold(frame)
            key = (frame.stream, frame.time)
            assert key not in self.calls, f"{key} was declared twice"
            self.calls[key] = self.player.at - 1
        self.frames += self.report.frames
        self.damaged += self.report.damaged
        self.trouble += self.report.trouble
        self.notices += self.report.notices
        return self.report

    def walk(self, ask: Callable[[int], bool] = lambda call: True) -> None:
        """Play to the end, scanning after those calls."""
        for call in range(self.player.at, len(self.trace.ops)):
            self.step()
            if ask(call):
                self.scan()

    def end(self) -> None:
        """End the model: its logs are written out, and frames that are not ready become damage."""
        self.player.finish()
        self.settle()

    def settle(self) -> None:
        for _ in range(6):
            if self.scan(1.0, ended=True).ended:
                return
        raise AssertionError(f"no end: {self.report.cursor.open}")

    def hold(self, frame: Frame) -> None:
        """Assert that the bytes of that frame equal those of the final file."""
        for path in frame.paths:
            mine, last = self.root / path, self.final_of(Path(path).name)
            if len(self.expected(last)) == 1:
                # Byte 11 of an HDF5 file marks it as open, 44-47 are the superblock's checksum.
                now, then = bytearray(mine.read_bytes()), bytearray(last.read_bytes())
                if now[:4] == b"\x89HDF" and frame.signal != "closed":
                    for at in (11, 44, 45, 46, 47):
                        now[at] = then[at]
                assert now == then, f"{frame} is not final"
            else:
                assert record(mine, frame.record) == final_record(last, frame.record), frame

    def final_of(self, name: str) -> Path:
        """The finished file of that name."""
        return self.final / self.aliases.get(name, name)

    @staticmethod
    @cache
    def expected(path: Path) -> list[str]:
        """The times of a finished file."""
        with netCDF4.Dataset(path) as file:
            return [b"".join(row).decode() for row in file["Times"][:]]

    def whole(self) -> set[tuple[str, str]]:
        """The stream and time of each frame that the finished files hold."""
        found = set()
        for name in self.trace.outputs():
            if name.startswith("wrfoutReady"):
                continue
            stream = name.split("_")[1]
            for text in self.expected(self.final_of(name)):
                found.add((stream, text.translate(str.maketrans("", "", "-:")).replace("_", "T")))
        return found

    def last_writes(self) -> dict[tuple[str, str], int]:
        """For each frame, the final call that changes its bytes (growing: before its log line)."""
        found: dict[tuple[str, str], int] = {}
        growing = len(self.expected(self.final_of(self.trace.outputs()[0]))) > 1
        pending = -1
        for call, op in enumerate(self.trace.ops):
            if op["op"] in ("write", "truncate") and "wrfout_" in op["file"]:
                pending = call
                if not growing:
                    output = self.model.identify(op["file"])
                    found[output.stream, output.time] = call
            elif growing and op["op"] == "log":
                said = self.model.read_line(op["text"])
                if said is not None and said.kind == "written":
                    found[said.stream, said.time] = pending
        return found


def record(path: Path, index: int) -> dict[str, bytes]:
    """The raw values of one record, read from a copy so that the file itself is not opened."""
    copy = path.with_suffix(".copy")
    shutil.copyfile(path, copy)
    with netCDF4.Dataset(copy) as file:
        file.set_auto_mask(False)
        values = {name: var[index].tobytes() for name, var in file.variables.items()}
    copy.unlink()
    return values


@cache
def final_record(path: Path, index: int) -> dict[str, bytes]:
    """The same for a file that is no longer written."""
    return record(path, index)


@pytest.fixture
def course(load, replay, prober, tmp_path):
    """Makes a course over the trace of a name; ``edit`` may change its list of calls."""

    def made(name: str, edit=None, *, late_log: int = 0, **kwargs) -> Course:
        trace, final = load(name)
        if edit is not None:
            trace = replace(trace, ops=edit(list(trace.ops)))
        folder = tmp_path / "buffer" / "run" / "1"
        folder.mkdir(parents=True)
        (folder / "namelist.input").write_text(namelist(name))
        player = replay.Player(trace, folder, late_log=late_log)
        return Course(trace, final, player, tmp_path / "buffer", "run/1", prober, **kwargs)

    return made


@pytest.fixture
def logs() -> Callable[[str], list[str]]:
    return lambda name: (DATA / "logs" / name).read_text().splitlines()


@pytest.fixture
def traces_namelist(tmp_path) -> Path:
    """A folder with the namelist of the traces."""
    shutil.copyfile(DATA / "traces" / "namelist.input", tmp_path / "namelist.input")
    return tmp_path


@pytest.fixture
def write(tmp_path):
    """Writes these seconds into an output file with an mtime of its own; returns its path."""
    clock = 1_000_000_000

    def make(name, *seconds):
        nonlocal clock
        clock += 1_000_000_000
        path = tmp_path / name
        with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
            file.createDimension("time", None)
            variable = file.createVariable("time", "f8", ("time",))
            variable.units = "s"
            variable[:] = list(seconds)
        os.utime(path, ns=(clock, clock))
        return path

    return make


@pytest.fixture
def watcher(tmp_path, prober):
    """Makes a watcher of ``tmp_path``, as a call of the driver does."""

    def make(cursor=None, folder=".", model=MODEL, attempt=1, run="run", root=tmp_path, **keywords):
        cursor = cursor or Cursor()
        return launched_watcher(
            root, folder, model, run, attempt, cursor, prober=prober, **keywords
        )

    return make
