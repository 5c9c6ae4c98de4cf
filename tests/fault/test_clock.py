"""A clock that is set while a run is under way, by an hour forward and back again."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def set_clock(case: Any, tmp_path: Path) -> Any:
    """Sets the clock of all processes of the case, in seconds from the true one."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    library, offset = tmp_path / "clock.so", case.folder / "offset"
    source = Path(__file__).with_name("clock.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
    case.environment |= {"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(offset)}

    def set_(seconds: int) -> None:
        part = offset.with_suffix(".part")
        part.write_text(f"{seconds:+d}\n")
        part.rename(offset)

    set_(0)
    return set_


@pytest.mark.fault
@pytest.mark.parametrize("first", [3600, -3600], ids=["forward", "back"])
def test_a_clock_that_jumps_an_hour_changes_nothing(case: Any, set_clock: Any, first: int) -> None:
    driver = case.launch()
    case.await_event("frame.ready")
    set_clock(first)
    case.await_event("product.published", 2)
    set_clock(0)
    assert case.wait(driver).code == 0, case.said()
    assert "lost" not in case.said()
    assert not case.faults(), case.said()
    latency = json.loads((case.run / "status.json").read_text())["latency_s"]
    assert latency is None or all(0 <= value < 1800 for value in latency.values()), latency
