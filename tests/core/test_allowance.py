"""What a worker may use, of its environment."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest

from burstlens.core.allowance import (
    CORES_VARIABLE,
    DEFAULT_MEMORY,
    MALLOC,
    MEMORY_VARIABLE,
    Allowance,
    allowance,
    memory_of,
    room,
)


def test_memory_and_cores_are_those_of_the_environment():
    given = {MEMORY_VARIABLE: "2000000000", CORES_VARIABLE: " 4\n"}
    assert allowance(given) == Allowance(2_000_000_000, 4)


@pytest.mark.parametrize("text", ["", "0", "-1", "2 GB", "many", "\u0665"])
def test_what_is_not_a_number_above_0_is_the_default(text):
    given = {MEMORY_VARIABLE: text, CORES_VARIABLE: text}
    assert allowance(given) == Allowance(DEFAULT_MEMORY, 1)


def test_a_worker_cannot_have_less_than_it_takes_itself():
    assert memory_of(300_000_000) == 300_000_000
    with pytest.raises(ValueError, match="300 MB or more"):
        memory_of(299_999_999)


def test_products_have_what_a_worker_does_not_take_itself_and_always_something(monkeypatch):
    found = []
    for memory in (1_000_000_000, 300_000_000):
        monkeypatch.setenv(MEMORY_VARIABLE, str(memory))
        found.append(room())
    assert found == [700_000_000, 37_500_000]


@pytest.mark.integration
@pytest.mark.parametrize("way", ["environment", "call"])
def test_freed_memory_is_used_again_without_the_kernel(way):
    program = (
        "import resource\n"
        "from burstlens.core.allowance import keep_freed\n"
        f"{'keep_freed()' if way == 'call' else ''}\n"
        "faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "bytes(bytearray(20 << 20)); before = faults()\n"
        "for _ in range(20): bytes(bytearray(20 << 20))\n"
        "print(faults() - before)"
    )
    given = os.environ | (MALLOC if way == "environment" else {})
    words = [sys.executable, "-c", program]
    said = subprocess.run(words, env=given, capture_output=True, text=True, check=True)
    assert int(said.stdout) < 20 * (20 << 20) / resource.getpagesize() / 10
