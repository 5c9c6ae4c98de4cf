"""Runs with a kill in them."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from disturbed_run import fill_blocks
from run_case import BLOCK, Case, Life


@dataclass(frozen=True)
class Disturbed:
    """How a run with a kill in it ended: whether that call was reached, and what is wrong now."""

    killed: bool
    faults: list[str]
    said: str


def disturb(
    folder: Path, kill: dict[str, Any], inherited: Mapping[str, str] | None = None
) -> Disturbed:
    """A run in ``folder`` with that kill, resumed where it must be."""
    case = Case(folder, inherited=inherited, block_only=kill["role"] in BLOCK)
    try:
        life = case.burstlens("run", "r.toml", "--name", "r", kill=kill)
        killed = (case.calls / "killed").exists()
        return Disturbed(killed, settled(case, life, kill["role"], killed), case.said())
    except pytest.fail.Exception as failed:
        return Disturbed((case.calls / "killed").exists(), [str(failed)], case.said())
    finally:
        case.end()


def settled(case: Case, life: Life, role: str, killed: bool) -> list[str]:
    """Resume a run that was disturbed in its first life where it must be; returns what is wrong."""
    faults = list(_wrong_end(life, role, killed))
    if life.code != 0:
        if (case.run / "run.json").exists():
            case.finish()
        else:  # killed before there was a run to resume: the user starts it again
            shutil.rmtree(case.run, ignore_errors=True)
            again = case.burstlens("run", "r.toml", "--name", "r")
            faults += [f"run again: exit code {again.code}"] if again.code else []
    if "Traceback" in case.said():
        faults.append("a traceback")
    return faults + case.faults()


def _wrong_end(life: Life, role: str, killed: bool) -> Iterator[str]:
    if role == "driver":
        if killed and life.code != -signal.SIGKILL:
            yield f"the driver was killed and ended with {life.code}"
    elif life.code not in ({0, 1} if role in {"model", "supervisor"} else {0}):
        yield f"the driver did not cope with the loss: exit code {life.code}"
    elif life.code == 1 and not re.search(r"^burstlens: \S", life.said, re.MULTILINE):
        yield "the driver failed without a message"


@pytest.fixture(scope="session")
def disturbed() -> Any:
    """``disturbed(folder, kill, inherited)``, see :func:`disturb`."""
    return disturb


@pytest.fixture
def make_case(tmp_path: Path) -> Iterator[Any]:
    """Makes cases; what is left of their processes is ended with the test."""
    made: list[Case] = []

    def make(name: str = "case", **how: Any) -> Case:
        made.append(Case(tmp_path / name, **how))
        return made[-1]

    yield make
    for case in made:
        case.end()


@pytest.fixture
def case(make_case: Any) -> Case:
    """One case."""
    return make_case()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Mounts a file system of its own: ``small_disk(size, name)``."""
    mounted: list[Path] = []

    def mount(size: str, name: str = "disk") -> Path:
        place = tmp_path / name
        place.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
        mounted.append(place)
        return place

    yield mount
    for place in mounted:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.fixture
def fill() -> Callable[[Path], Path]:
    """Leaves no room in a folder's file system; deleting the file that it returns frees it."""
    return fill_blocks
