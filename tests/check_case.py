"""A recipe to be checked, with the WRF run directory that it is checked against."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from burstlens.workflows.plan.report import Report, check_report
from burstlens.workflows.recipe.survey import survey

DATA = Path(__file__).parent / "data" / "wrf"
CYCLONE = DATA / "wrfout_d01_2005-08-28_21_00_00"
WRF = '[simulation]\nmodel = "wrf"\ninputs = "inputs"\n'
T2 = '[[product]]\nname = "t2"\nkind = "map"\nvariable = "T2"\n'
REAL = '[[step]]\nname = "real"\ncommand = ["./real.exe"]\nbefore = "simulation"\n'


@dataclass(frozen=True)
class Inputs:
    """A WRF run directory: its namelist's settings, the files beside its initial state."""

    settings: str = ""
    files: tuple[str, ...] = ()
    cyclone: bool = False
    bare: bool = False


PLAIN = Inputs()
GULF = Inputs(cyclone=True)
NESTS = "max_dom = 3\n input_from_file = .true., .true., .true."


@dataclass(frozen=True)
class Case:
    """A recipe, what it is given by --set, the recipe that it extends."""

    text: str
    inputs: Inputs = PLAIN
    given: tuple[str, ...] = ()
    parent: str = ""
    site: str | None = None
    beside: tuple[str, ...] = ()
    """The findings without a line in these files."""


def find(case: Case, folder: Path) -> Report:
    """The findings of a case with its inputs in that folder; they are read in this process."""
    (folder / "it.toml").write_text(case.text)
    if case.parent:
        (folder / "parent.toml").write_text(case.parent)
    site = case.site
    if site is not None and "\n" in site:
        (folder / "own.toml").write_text(site)
        site = str(folder / "own.toml")
    return check_report(str(folder / "it.toml"), site, case.given, survey)


def lay(inputs: Inputs, make: Callable[..., Path], folder: Path) -> None:
    """Put the inputs into that folder."""
    if inputs.bare:
        (folder / "inputs").mkdir()
        return
    state = (CYCLONE,) if inputs.cyclone else ()
    made = make(*state, settings=inputs.settings)
    for name in inputs.files:
        (made / name).symlink_to((made / "wrfinput_d01").resolve())
