"""Guards on real frames, and whole runs of a model with errors planted by the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from storm_case import Storm

from burstlens.workflows.guards.guard import Guard


@pytest.fixture(scope="session")
def storm_class() -> type[Storm]:
    """The class of the case, for fixtures that live longer than a test."""
    return Storm


@pytest.fixture
def storm(tmp_path: Path) -> Iterator[Callable[..., Storm]]:
    """Makes a case from the model's options and the recipe's guards."""
    made: list[Storm] = []

    def make(model: str, guards: str, **how: Any) -> Storm:
        case = Storm(tmp_path / "storm", model=model, guards=guards, **how)
        made.append(case)
        return case

    yield make
    for case in made:
        case.end()


@pytest.fixture
def guard() -> Callable[..., Guard]:
    """Makes a guard from keys, as a recipe does."""

    def make(**keys: Any) -> Guard:
        return Guard(**keys)

    return make
