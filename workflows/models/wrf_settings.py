"""The settings of a WRF run: what its ``namelist.input`` says, in the groups that WRF reads."""

from __future__ import annotations

from pathlib import Path

from burstlens.workflows.models import namelist
from burstlens.workflows.models.namelist import Namelist, number

FILE = "namelist.input"
GROUPS = frozenset(
    {"time_control", "domains", "dfi_control", "physics", "fdda", "dynamics", "bdy_control",
     "grib2", "namelist_quilt", "scm", "tc", "fire", "diags", "stoch", "perturbation", "noah_mp",
     "afwa", "chem", "hydro", "ideal", "logging", "lsm", "urban", "derived"}
)  # fmt: skip
"""Of WRF's Registry, and of WRF-Chem. WRF passes over any other, so its settings are none."""
_MOST_DOMAINS = 99
"""WRF's names of files have two digits for them."""


def read_settings(folder: Path) -> Namelist:
    """The settings in the ``namelist.input`` of a folder, none when it is missing or not
    readable."""
    return namelist.read(folder / FILE, GROUPS).settings


def read_faults(folder: Path) -> list[str]:
    """What is broken in it, with the numbers of the lines."""
    return [str(fault) for fault in namelist.read(folder / FILE, GROUPS).faults]


def domains(settings: Namelist) -> range:
    """The numbers of the domains, from 1."""
    last = int(number(settings, "max_dom", default=1))
    return range(1, max(1, min(last, _MOST_DOMAINS)) + 1)
