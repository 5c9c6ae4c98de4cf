"""What decides reads no clock and starts nothing. That it asks the system for nothing while it does
so is seen by tests/state_world.py."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

WORKFLOWS = Path(__file__).parents[2] / "workflows"
STARTS = {"asyncio", "concurrent", "multiprocessing", "parsl", "socket", "subprocess", "threading"}
PURE = sorted(
    path
    for room in ("deciding", "ordering", "look/driving", "tuning/driving")
    for path in (WORKFLOWS / room).glob("*.py")
    if path.stem not in {"answering", "attached_kind", "tuning_kind", "results"}
)
"""All but what asks or writes for them, and what wires a run."""


@pytest.mark.parametrize("path", PURE, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_module_that_decides_has_no_clock_and_starts_nothing(path):
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    assert not found & {"time", *STARTS}
