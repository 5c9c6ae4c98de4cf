"""How many stripes the files of a recipe get, and by which way: folder or hint.

Lustre gives a new file the stripes of its folder; only Cray MPICH takes them by the name of a file.

Source: G. Markomanolis, B. Hadri, "Burst Buffer: From Alpha to Omega" (IXPUG Middle East 2018).
NAS BTIO's file of 50 GB took 155.26, 69.87, 35.27, 18.57, 10.12, 5.93, 5.59 and 6.10 s on 1, 2, 4
... 128 targets: it gains up to 64, about 0.8 GB for each.
"""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field

from burstlens.core.quantity import parse_bytes
from burstlens.workflows.hints.advice import ALIGNED
from burstlens.workflows.hints.delivery import Hints

PER_STRIPE = 50 * 10**9 / 64
"""Bytes of a file for each stripe, where more of them gained nothing."""
Bytes = Annotated[int, BeforeValidator(parse_bytes, json_schema_input_type=str | int)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stripe:
    """The stripes of files on Lustre or DataWarp."""

    __pydantic_config__ = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    count: Annotated[int, Field(ge=-1)] | None = None
    """How many stripes; -1: on all targets. Say this or `file_size`."""
    file_size: Bytes | None = None
    """The size of one file, such as "50 GB": the number of stripes is planned from it and from the
    ranks."""
    size: Bytes | None = None
    """The size of a stripe, a multiple of 64 KiB such as "4 MiB"; by default the file system's."""

    def __post_init__(self) -> None:
        if (self.count is None) == (self.file_size is None):
            raise ValueError("say one of count, file_size")
        if self.count == 0:
            raise ValueError("count: a file has at least one stripe; -1 means all targets")
        if self.size is not None and (self.size <= 0 or self.size % ALIGNED):
            raise ValueError(f"size: {self.size} is not a multiple of 64 KiB")

    def number(self, ranks: int | None) -> int:
        """How many stripes: as given, else planned."""
        return planned(self.file_size or 0, ranks) if self.count is None else self.count


Stripes = Mapping[str, Stripe]
"""By pattern of file names."""


@dataclass(frozen=True, slots=True)
class FolderStripes:
    """``count`` stripes of ``size`` bytes for new files of ``folder``, relative to the model's, for
    the sake of ``patterns``; ``other`` are patterns there that asked for others."""

    folder: str
    count: int
    size: int | None
    patterns: tuple[str, ...]
    other: tuple[str, ...] = ()

    def job(self) -> dict[str, Any]:
        """As the supervisor takes it."""
        return {"folder": self.folder, "count": self.count, "size": self.size}

    def any_of(self, names: Iterable[str]) -> bool:
        """Whether one of these files is meant."""
        return any(fnmatch.fnmatch(name, pattern) for name in names for pattern in self.patterns)


def planned(file_bytes: int, ranks: int | None) -> int:
    """Stripes for a file of that size: a power of two, one for about 0.8 GB, and at most half of
    the ranks, since the number of aggregators follows it."""
    wanted = 1 << round(math.log2(max(1.0, file_bytes / PER_STRIPE)))
    half = max(1, ranks // 2) if ranks is not None else wanted
    return min(wanted, 1 << (half.bit_length() - 1))


def check_patterns(stripes: Stripes) -> None:
    """Raise ValueError for a pattern whose folder is not a plain name: it is made beforehand."""
    for pattern in stripes:
        if re.search(r"[*?\[]", str(PurePosixPath(pattern).parent)):
            raise ValueError(f"stripes of {pattern!r}: only the file's name may be a pattern")


def folder_stripes(stripes: Stripes, ranks: int | None) -> list[FolderStripes]:
    """One entry per folder. Where patterns of a folder differ, the one with most stripes counts."""
    by_folder: dict[str, list[tuple[int, int | None, str]]] = {}
    for pattern, stripe in stripes.items():
        folder = str(PurePosixPath(pattern).parent) if "/" in pattern else ""
        by_folder.setdefault(folder, []).append((stripe.number(ranks), stripe.size, pattern))
    found = []
    for folder, asked in by_folder.items():
        count, size, _ = max(asked, key=lambda one: math.inf if one[0] == -1 else one[0])
        same = tuple(pattern for number, unit, pattern in asked if (number, unit) == (count, size))
        other = tuple(pattern for _, _, pattern in asked if pattern not in same)
        found.append(FolderStripes(folder, count, size, same, other))
    return found


def striped_hints(hints: Hints, stripes: Stripes, ranks: int | None) -> Hints:
    """The hints with the stripes of each pattern; a hint of the recipe's own counts first."""
    found = {pattern: dict(values) for pattern, values in hints.items()}
    for pattern, stripe in stripes.items():
        them = found.setdefault(pattern, {})
        if (number := stripe.number(ranks)) > 0:
            them.setdefault("striping_factor", number)
        if stripe.size is not None:
            them.setdefault("striping_unit", stripe.size)
    return found
