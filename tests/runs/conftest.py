"""Whole runs: a real ``burstlens run`` in a process of its own, in folders of its own."""

from __future__ import annotations

import pytest
from scene_case import Scene


@pytest.fixture(scope="session")
def scene(tmp_path_factory):
    """Makes scenes: ``scene("name")`` is a fresh folder with ``inputs/`` in it."""

    def make(name: str) -> Scene:
        folder = tmp_path_factory.mktemp(name)
        (folder / "inputs").mkdir()
        return Scene(folder)

    return make
