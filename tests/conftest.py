"""Fixtures and helpers shared by the tests: an isolated environment, recipes, runs, the program."""

from __future__ import annotations

import gc
import itertools
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from burstlens.core.model import Frame, Receipt, State
from burstlens.core.run.directory import RunDir
from burstlens.stagers.base import checksum
from burstlens.workflows.recipe.load import load
from burstlens.workflows.recipe.recipe import Recipe

sys.path.insert(0, str(Path(__file__).parent))

import program
from browser import chromium, new_page, page, watched  # noqa: F401
from recipe_texts import ANY as RECIPE
from run_case import end_processes
from standing_runs import StandingRuns

pytest.register_assert_rewrite("burstlens.stagers.contract")

# Machines that run tests are busy: how long an example takes says nothing.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

STANDING = "BURSTLENS_TESTS_STANDING"
"""Gives the folder of the standing runs to the workers of a session."""

SEED = int(os.environ.get("TEST_SEED", "20261121"))
"""The seed of randomized tests: where a trace pauses, a file is cut, bytes are damaged."""

# Without it each of a thousand processes compiles every module: a fifth of its start-up time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# jsonschema checks IRIs where this is installed; no test needs that, and its grammar takes 4 s.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

# Five tests at once on two cores: spinning threads of one would slow the others.
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

# Root passes every permission check; without this capability it is an ordinary user there.
ORDINARY = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]


LONGEST = (
    "test_slabs.py", "slurm", "test_live_page.py", "live", "serving", "jupyter", "emulator",
    "fault", "runs", "steering", "test_watch.py", "test_cli.py", "test_status.py",
    "test_plugins.py", "driving", "ordering", "making", "awm", "recipes", "after",
    "test_slab_faults.py", "attached", "tuning",
)  # fmt: skip
"""The slowest folders and files: they start first, or one worker would end much later."""

TOGETHER = ("tests/stagers/emulator/",)
"""Folders whose files share what takes long to build: one worker has all of them."""

APART = ("tests/cases/test_cases.py",)
"""Long files whose tests share nothing: each goes to the worker that is free, and they come last,
so that all workers end together."""

FOREIGN = {"slurm", "jupyter", "live", "serving"}
"""Folders whose tests drive Slurm, JupyterLab or Chromium. On a busy machine these programs fail
once in a thousand times, so such a test may fail once, and the summary names it. Tests of
Burstlens's own processes alone may not, since a race there is a defect of Burstlens."""

SLOW = {"chromium", "slurm", "new_testbed"}
"""Fixtures that start a browser or Slurm: tests that use one are in the slow tier."""

INTEGRATION = {
    "burstlens",
    "injector",
    "standing",
    "own_runs",
    "make_case",
    "steered",
    "storm",
    "lab",
    "kernel",
    "supervise",
    "emulator_library",
    "prober",
    "scene",
    "servers",
}
"""Fixtures that start processes: tests that use one are not in the unit tier."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """The tests, some million objects, stay to the end: no garbage is looked for among them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort each test into its tier, the slowest first."""

    def rank(item: pytest.Item) -> tuple[bool, int]:
        parts = item.path.parts
        longest = next((n for n, name in enumerate(LONGEST) if name in parts), len(LONGEST))
        return item.nodeid.startswith(APART), longest

    items.sort(key=rank)
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if SLOW & fixtures and not item.get_closest_marker("fault"):
            item.add_marker(pytest.mark.slow)
        if INTEGRATION & fixtures or any(map(item.get_closest_marker, ("slow", "fault", "bench"))):
            item.add_marker(pytest.mark.integration)
        if FOREIGN & set(item.path.parts):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """``--dist loadfile``, where TOGETHER and APART say nothing else."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            if nodeid.startswith(APART):
                return nodeid
            together = (folder for folder in TOGETHER if nodeid.startswith(folder))
            return next(together, super()._split_scope(nodeid))

    return Scheduling(config, log) if config.getvalue("dist") == "loadfile" else None


STARTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"}
_alone: pytest.Item | None = None


def _audit(event: str, _: tuple[Any, ...]) -> None:
    if _alone is not None and event in STARTS:
        pytest.fail(f"{_alone.nodeid} starts a process: mark it `integration`")


sys.addaudithook(_audit)
platform.processor()  # h5py asks for it when it is imported; Python keeps what `uname -p` says


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """A test of the unit tier starts no process, nor do its fixtures."""
    global _alone
    _alone = None if item.get_closest_marker("integration") else item
    try:
        return (yield)
    finally:
        _alone = None


HOMES = itertools.count()


@pytest.fixture(autouse=True)
def _own_environment(tmp_path_factory: pytest.TempPathFactory, monkeypatch: Any) -> None:
    """No test sees the configuration, recipes, sites or runs of the user or of another test."""
    home = tmp_path_factory.getbasetemp() / f"no-home-{next(HOMES)}"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("BURSTLENS_RUNS", str(home / "runs"))
    for name in ("BURSTLENS_RECIPES", "BURSTLENS_SITES", "BURSTLENS_BUFFER", "BURSTLENS_LOG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def recipe_file(tmp_path: Path) -> Callable[..., Path]:
    """Writes a recipe that can run (or ``text``), with its inputs; returns its path."""

    def write(text: str = RECIPE, name: str = "any.toml") -> Path:
        inputs = tmp_path / "inputs"
        inputs.mkdir(exist_ok=True)
        program = inputs / "model.sh"
        program.write_text("#!/bin/sh\necho model\n")
        program.chmod(0o755)
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def recipe(recipe_file: Callable[..., Path]) -> Callable[..., Recipe]:
    """A checked recipe, with these fields of its ``[buffer]`` and settings as for ``--set``."""

    def make(*settings: str, text: str = RECIPE, **buffer: Any) -> Recipe:
        loaded, _ = load(str(recipe_file(text)), settings)
        return replace(loaded, buffer=replace(loaded.buffer, **buffer))

    return make


@pytest.fixture
def run_dir(tmp_path: Path) -> RunDir:
    """A run directory as ``create`` leaves it."""
    run = RunDir(tmp_path / "runs" / "storm-1")
    run.create()
    return run


@pytest.fixture
def frame() -> Callable[..., Frame]:
    """A frame that lies alone in its file."""

    def make(time: str = "t00000001.000", stream: str = "output", **fields: Any) -> Frame:
        values: dict[str, Any] = {
            "run": "storm-1",
            "attempt": 1,
            "paths": (f"storm-1/1/out_{time}.nc",),
            "record": 0,
            "bytes": 1000,
            "written": 1.0,
            "detected": 1.1,
            "signal": "header",
        }
        return Frame(stream=stream, time=time, **(values | fields))

    return make


@pytest.fixture
def staged(run_dir: RunDir) -> Callable[..., Receipt]:
    """Puts a product into ``.incoming`` as a worker does; returns its receipt."""
    count = 0

    def make(
        time: str = "t00000001.000",
        content: bytes = b"picture",
        product: str = "t2",
        attempt: int = 1,
        extension: str = "png",
        state: bytes | None = None,
        values: bytes | None = None,
        grid: bytes | None = None,
    ) -> Receipt:
        nonlocal count
        count += 1
        uuid = f"{count:032x}"

        def put(incoming: str, content: bytes) -> tuple[int, int]:
            path = run_dir.products / incoming
            path.write_bytes(content)
            arrival = checksum(path)
            return arrival.bytes, arrival.crc32

        incoming = f".incoming/{product}.output.{time}.{uuid}"
        name = f"{product}/{product}_output_{time}.{extension}"
        about = product, "output", time, attempt, uuid, incoming, name
        receipt = Receipt(*about, *put(incoming, content))
        beside = {
            "grid": (f"{incoming}.grid-0123.js", "live/grid-0123.js", grid),
            "values": (f"{incoming}.values.js", f"{name.removesuffix(extension)}values.js", values),
        }
        parts = [State(at, to, *put(at, data)) for at, to, data in beside.values() if data]
        receipt = replace(receipt, values=tuple(parts))
        if state is None:
            return receipt
        final = f".states/{product}_output_{time}_{attempt}"
        incoming += ".state"
        return replace(receipt, state=State(incoming, final, *put(incoming, state)))

    return make


@pytest.fixture
def dice() -> random.Random:
    """The same random numbers in each session, or those of ``TEST_SEED``."""
    print(f"TEST_SEED={SEED}")  # shown with the output of a failed test
    return random.Random(SEED)


@pytest.fixture
def ordinary() -> list[str]:
    """A command prefix that makes a program obey permissions, also when root runs it."""
    return ORDINARY if os.getuid() == 0 else []


@pytest.fixture
def burstlens(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the program in ``tmp_path``; ``ordinary`` makes it obey permissions, also as root."""

    def call(
        *words: str, ordinary: bool = False, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        prefix = ORDINARY if ordinary and os.getuid() == 0 else []
        wanted = {**os.environ, "BURSTLENS_RUNS": str(tmp_path / "runs"), **(env or {})}
        return program.as_text(program.burstlens(words, tmp_path, wanted, 60, prefix))

    return call


@pytest.fixture(scope="session")
def injector(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that makes calls fail, for LD_PRELOAD."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    library = tmp_path_factory.mktemp("injector") / "injector.so"
    source = Path(__file__).parent / "fault" / "injector.c"
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"]
    subprocess.run(command, check=True)
    return library


@pytest.fixture(scope="session")
def standing() -> StandingRuns:
    """Real runs, shared by all workers of the session: read them, change nothing."""
    return StandingRuns(Path(os.environ[STANDING]))


@pytest.fixture
def own_runs(tmp_path: Path) -> Iterator[StandingRuns]:
    """The same, for one test that changes them."""
    runs = StandingRuns(tmp_path / "own")
    yield runs
    runs.case.end()


def pytest_configure() -> None:
    """Let the programs that tests start receive SIGINT, SIGHUP and SIGQUIT.

    They are ignored, and by every child as well, where the tests run in a shell's background.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


def pytest_report_header() -> str:
    """Print how to replay the randomized tests."""
    return f"TEST_SEED={SEED} (another number draws other damage, cuts and pauses)"


def pytest_sessionstart(session: pytest.Session) -> None:
    """Give the folder of the standing runs to all workers."""
    if not hasattr(session.config, "workerinput"):
        os.environ[STANDING] = tempfile.mkdtemp(prefix="burstlens-standing-")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the standing runs after the last worker."""
    if not hasattr(session.config, "workerinput"):
        folder = Path(os.environ.pop(STANDING))
        end_processes(folder)
        shutil.rmtree(folder, ignore_errors=True)
