"""The files of checkpoints: their names, and how large they are at least.

Apart from :mod:`.checkpoint`, which loads the solver.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

GLOB = "checkpoint_*.awm"
HEAD_BYTES = 1 << 16
"""Where the fields begin: 16 pages, which is room for the line of some hundred fields."""
_NAME = re.compile(r"checkpoint_(\d{7,})\.awm", re.ASCII)


def name_of(step: int) -> str:
    """The name of the checkpoint after that step."""
    return f"checkpoint_{step:07d}.awm"


def step_of(name: str) -> int | None:
    """The step of the checkpoint in a file of that name; None for other files."""
    match = _NAME.fullmatch(name)
    return int(match[1]) if match else None


def part_of(path: Path) -> Path:
    """The file in which a checkpoint is written until it is whole."""
    return path.with_name(f".{path.name}.part")


def is_part(name: str) -> bool:
    """Whether a file of that name is an unfinished checkpoint."""
    return name[:1] == "." and name.endswith(".part") and step_of(name[1:-5]) is not None


def remove_parts(folder: Path) -> None:
    """Remove what killed runs left of the checkpoints that they were writing."""
    for path in folder.glob(f".{GLOB}.part"):
        with suppress(OSError):  # it does no harm
            path.unlink()
