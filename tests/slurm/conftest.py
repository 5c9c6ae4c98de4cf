"""The cluster that the tests of this folder run on; started at the first that asks for it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "fault"))
sys.path.insert(0, str(HERE))

from batch_case import BatchCase  # noqa: E402
from cluster.installation import UnavailableError  # noqa: E402
from emulated import build_emulator  # noqa: E402
from testbed import Testbed  # noqa: E402

PURGE_S = 60.0


@pytest.fixture(scope="session")
def new_testbed() -> Iterator[Iterator[Testbed]]:
    """Not started testbeds, each on a path that every user can enter.

    Whatever becomes of this process, a guard ends and deletes all of it.
    """
    guards: list[subprocess.Popen[bytes]] = []

    def made() -> Iterator[Testbed]:
        while True:
            # Not below pytest's own folder, which is closed to others; short, for a socket.
            root = Path(tempfile.mkdtemp(prefix="burstlens-slurm-", dir="/tmp"))
            root.chmod(0o755)
            guards.append(
                subprocess.Popen(
                    [sys.executable, HERE / "testbed.py", "guard", root],
                    stdin=subprocess.PIPE,
                    start_new_session=True,
                )
            )
            yield Testbed(root)

    yield made()
    for guard in guards:
        guard.communicate(timeout=PURGE_S)


@pytest.fixture(scope="session")
def slurm(new_testbed: Iterator[Testbed]) -> Testbed:
    """A running cluster, shared by the session: leave no job and no buffer on it.

    Without Slurm the test is left out, saying why; never where CI is set.
    """
    testbed = next(new_testbed)
    try:
        testbed.start()
    except UnavailableError as error:
        if os.environ.get("CI", "").lower() in ("", "0", "false"):
            pytest.skip(f"no Slurm: {error}")
        pytest.fail(f"no Slurm: {error}", pytrace=False)
    return testbed


@pytest.fixture(scope="session")
def library(slurm: Testbed) -> Any:
    return build_emulator(slurm.root / "libdatawarp")


@pytest.fixture
def make_case(slurm: Testbed, library: Any, request: Any) -> Iterator[Callable[..., BatchCase]]:
    made: list[BatchCase] = []

    def make(**how: Any) -> BatchCase:
        name = f"{request.node.originalname[5:30]}-{uuid.uuid4().hex[:6]}"
        made.append(BatchCase(slurm, library, name, **how))
        return made[-1]

    yield make
    for case in made:
        case.end()
    slurm.clear()
