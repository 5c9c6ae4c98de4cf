"""What one worker may use of its node: memory and cores, as its environment says."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

MEMORY_VARIABLE = "BURSTLENS_MEMORY"
CORES_VARIABLE = "BURSTLENS_CORES"
DEFAULT_MEMORY = 10**9
"""Bytes of one worker."""
LEAST_MEMORY = 300 * 10**6
"""Bytes that a worker takes before it has read anything, with the libraries that draw."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """Bytes of memory, and cores."""

    memory: int = DEFAULT_MEMORY
    cores: int = 1


def allowance(environment: Mapping[str, str] | None = None) -> Allowance:
    """That of this process. What is not set, or is not a number above 0, has its default: 1 GB and
    one core."""
    given = os.environ if environment is None else environment
    return Allowance(
        _number(given.get(MEMORY_VARIABLE, "")) or DEFAULT_MEMORY,
        _number(given.get(CORES_VARIABLE, "")) or 1,
    )


def _number(text: str) -> int:
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() else 0
