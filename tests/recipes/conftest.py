"""WRF run directories before a run, with an initial state of the real model."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from burstlens.workflows.recipe.schema import recipe_schema

DATA = Path(__file__).parents[1] / "data"
SUPERCELL = DATA / "wrf" / "wrfout_d01_0001-01-01_00_08_00"
CYCLONE = DATA / "wrf" / "wrfout_d01_2005-08-28_21_00_00"
SIZES = {SUPERCELL: (42, 42, 41), CYCLONE: (49, 49, 15)}


@pytest.fixture(scope="session")
def validator() -> Any:
    """Checks a table against the schema of recipes, as an editor does."""
    import jsonschema  # not as each worker collects the tests: it costs 0.4 s

    return jsonschema.Draft202012Validator(recipe_schema())


@pytest.fixture
def wrf_inputs(tmp_path: Path) -> Callable[..., Path]:
    """Makes a run directory whose initial state is a frame, with these lines in the namelist.

    The executable is not a script, so nothing but it can make what is missing.
    """

    def make(state: Path | None = SUPERCELL, settings: str = "") -> Path:
        folder = tmp_path / "inputs"
        folder.mkdir()
        (folder / "wrf.exe").write_bytes(b"\x7fELF")
        (folder / "wrf.exe").chmod(0o755)
        text = (DATA / "traces" / "namelist.input").read_text()
        sizes = SIZES[state or SUPERCELL]
        for key, size in zip(("e_we", "e_sn", "e_vert"), sizes, strict=True):
            text, count = re.subn(rf"(?m)^ {key} .*$", f" {key} = {size}, {size}", text)
            assert count == 1
        text += f"&scm\n{settings}\n/\n"
        (folder / "namelist.input").write_text(text)
        if state is not None:
            (folder / "wrfinput_d01").symlink_to(state)
        return folder

    return make


@pytest.fixture
def mpi_launcher(tmp_path_factory, monkeypatch):
    """A program ``mpiexec`` on PATH: without one, recipes with several ranks are refused."""
    folder = tmp_path_factory.mktemp("bin")
    program = folder / "mpiexec"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
