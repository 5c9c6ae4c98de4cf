"""A run of a stand-in for WRF that goes wrong as planned: :class:`run_case.Case` with its model."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recipe_texts import wrf_recipe
from run_case import Case, Life

TESTS = Path(__file__).parent
SUPERCELL = TESTS / "data" / "wrf" / "wrfout_d01_0001-01-01_00_08_00"
LOGS = TESTS / "data" / "logs"
RECIPE = wrf_recipe("A storm with guards", level=12, limit=20)


@dataclass
class Storm(Case):
    """A run of a stand-in for WRF, by default with one frame per second."""

    recipe: str = RECIPE
    guards: str = ""
    life: Life | None = None

    def __post_init__(self) -> None:
        self.recipe += self.guards
        super().__post_init__()
        shutil.copy(TESTS / "guards" / "storm_model.py", self.inputs)
        shutil.copy(SUPERCELL, self.inputs / "template.nc")
        shutil.copy(LOGS / "blowup.rsl.error.0001", self.inputs / "said.txt")
        settings = (self.inputs / "namelist.input").read_text()
        settings, count = re.subn(r"(?m)^( *run_minutes *= *).*$", r"\g<1>30,", settings)
        assert count == 1
        (self.inputs / "namelist.input").write_text(settings)
        model = self.model.replace("HERE", str(self.folder))
        program = f"#!/bin/sh\nexec {self.python} storm_model.py template.nc {model}\n"
        (self.inputs / "wrf.exe").write_text(program)

    def closed(self) -> dict[int, float]:
        """When the model closed each frame, by its number."""
        found = list(self.buffer.rglob("closed"))
        lines = found[0].read_text().splitlines() if found else []
        return {int(number): float(t) for number, t in (line.split() for line in lines)}

    def events(self, kind: str) -> list[dict[str, Any]]:
        """The journal's events of that kind."""
        return [event for event in self.journal() if event["event"] == kind]
