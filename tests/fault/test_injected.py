"""System calls that fail for a while: EIO and EINTR in the driver and in workers."""

from __future__ import annotations

import errno
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DRIVER = "*-m burstlens run *"
WORKER = "*multiprocessing.forkserver*"

# Who, which call, on which path, the first that fails, how many fail, and of what.
FAULTS: dict[str, tuple[str, str, str, int, int, int]] = {
    "driver-journal-write": (DRIVER, "write", "*/r/journal.jsonl", 8, 3, errno.EIO),
    "driver-status-rename": (DRIVER, "rename", "*/r/status.json", 3, 3, errno.EIO),
    "driver-publishes": (DRIVER, "rename", "*/products/w/*", 1, 2, errno.EIO),
    "worker-frame-open": (WORKER, "open", "*/wrfout_*", 3, 3, errno.EIO),
    "worker-frame-read": (WORKER, "*read", "*/wrfout_*", 4, 3, errno.EIO),
    "worker-stage-out-write": (WORKER, "write", "*/.incoming/*", 1, 4, errno.EIO),
    "worker-stage-out-fsync": (WORKER, "fsync", "*/.incoming/*", 1, 2, errno.EIO),
    "worker-product-rename": (WORKER, "rename", "*/out/*", 1, 2, errno.EIO),
    "driver-index-write": (DRIVER, "write", "*/products/index.jsonl", 1, 3, errno.EIO),
    "driver-journal-fsync": (DRIVER, "fsync", "*/r/journal.jsonl", 1, 2, errno.EIO),
    "driver-journal-interrupted": (DRIVER, "write", "*/r/journal.jsonl", 4, 3, errno.EINTR),
    "worker-stage-out-interrupted": (WORKER, "write", "*/.incoming/*", 1, 3, errno.EINTR),
}  # fmt: skip
SHORT = {"driver-journal-write"}


@pytest.fixture(scope="session")
def injector(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of ``injector.c``, for LD_PRELOAD."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    library = tmp_path_factory.mktemp("injector") / "injector.so"
    source = Path(__file__).with_name("injector.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    return library


@pytest.fixture
def inject(injector: Path) -> Callable[..., Path]:
    """Lets calls of a case's processes fail; returns the file that lists them."""

    def set_up(case: Any, fault: tuple[str, str, str, int, int, int]) -> Path:
        names = ("COMMAND", "CALL", "PATH", "FIRST", "TIMES", "ERRNO")
        log = case.folder / "injected"
        case.environment["INJECT_ONCE"] = str(case.folder / "once")
        case.environment |= {"LD_PRELOAD": str(injector), "INJECT_LOG": str(log)}
        case.environment |= {
            f"INJECT_{key}": str(value) for key, value in zip(names, fault, strict=True)
        }
        return log

    return set_up


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in SHORT else pytest.mark.fault)
        for name in FAULTS
    ],
)
def test_calls_that_fail_for_a_while_lose_nothing(name: str, case: Any, inject: Any) -> None:
    log = inject(case, FAULTS[name])
    life = case.burstlens("run", "r.toml", "--name", "r")
    assert log.exists(), f"no such call was made; it said:\n{life.said}"
    case.environment.clear()
    if life.code:
        assert life.code == 1
        assert re.search(r"^burstlens: \S", life.said, re.MULTILINE), life.said
        case.finish()
    assert "Traceback" not in case.said(), case.said()
    assert not case.faults(), case.said()
