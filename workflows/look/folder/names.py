"""Streams by the names of files: dates and running numbers become ``*``, the rest is the stream.

Names that differ in digits only are looked at together, so that what runs from file to file is
distinguished from what belongs to the stream's name (``h0`` of CESM, ``d01`` of WRF, ``z500``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

NETCDF = re.compile(r"\.(?:nc\d?|cdf|netcdf)(?:\.\d{4,})?$", re.IGNORECASE)
"""Names that say that a file is netCDF; FMS adds the rank to those of its pieces."""

_DIGITS = str.maketrans("123456789", "000000000")
_COLON = "(?:%3[Aa]|[:._-])?"
"""What stands for the colon of a clock; a browser that saves a file writes %3A."""
_CLOCK = rf"\d\d(?:{_COLON}\d\d)?(?:{_COLON}\d\d)?Z?"
_DATE = rf"\d{{4}}-\d\d(?:-\d\d)?(?:-\d{{5}}|[T_ .-]{_CLOCK})?(?!\d)|\d{{8}}[T_]{_CLOCK}(?!\d)"
_TOKEN = re.compile(
    rf"(?P<date>(?<![A-Za-z0-9])(?:{_DATE})|(?<!\d)\d{{8,14}}Z?(?!\d))|(?P<number>\d+)"
)
_OWN = re.compile(r"(?:^|[._-])(?:d|mem|member|ens|ensemble|[a-z])$", re.IGNORECASE)
"""What stands before a number that belongs to the stream: a domain, a member."""
_MOST_MEMBERS = 32
_FEWEST = 3

_RESTART = re.compile(
    r"(?:^|[._-])(?:rst|restart|restarts|chkpt|checkpoint|ckpt|pickup)(?=[._-]|\d|$)"
    r"|\.(?:r|rs|rh\d[a-z]?|res)\.|^wrfrst_|^cm1rst_",
    re.IGNORECASE,
)
_INPUT = re.compile(
    r"^(?:geo_em|met_em|wrfinput|wrfbdy|wrffdda|wrflowinp|wrfchemi|gfdda|auxinput)[._\d]"
    r"|(?:^|[._-])(?:ini|init|initial|bry|bdy|boundary|frc|forcing|nudg|nudging|grd|ic|lbc"
    r"|mesh_mask|domain_cfg|tides)(?=[._-]|\d|$)|\.i\.",
    re.IGNORECASE,
)
_CLIMATE = re.compile(r"(?:^|[._-])(?:clim|clm|climatology|ltm)(?=[._-]|\d|$)", re.IGNORECASE)
_MAIN = re.compile(
    r"(?:^|[._-])(?:his|hist|history|h0|h0a|out|output|diag|sfc|surface)(?=[._-]|\d|$)"
)
_MEANS = re.compile(r"(?:^|[._-])(?:avg|mean|dia|sta|flt|budget)(?=[._-]|\d|$)")


@dataclass(frozen=True, slots=True)
class Group:
    """Files whose names differ in dates and running numbers only.

    ``pattern`` is their glob, ``newest`` the name that comes last and ``before`` the one in front
    of it; ``folder`` is relative, "" for the folder itself; ``stem`` the pattern's words.
    ``pieces``: the names say that several files make one frame.
    """

    pattern: str
    count: int
    newest: str
    before: str | None
    stem: str
    folder: str = ""
    pieces: bool = False

    @property
    def path(self) -> str:
        """The glob with its folder."""
        return f"{self.folder}/{self.pattern}" if self.folder else self.pattern

    def within(self, name: str) -> str:
        """A name of the group, relative to the folder."""
        return f"{self.folder}/{name}" if self.folder else name

    @property
    def said(self) -> str:
        """In a remark: its only file, or its glob with the number of files."""
        if self.count == 1:
            return self.within(self.newest)
        return f"{self.count} files {self.path}"

    @property
    def role(self) -> str:
        """What the name says about files that are not frames; "" for all others."""
        if _RESTART.search(self.stem) or _RESTART.search(self.newest):
            return "restart"
        if _INPUT.search(self.newest):
            return "input"
        return "climatology" if _CLIMATE.search(self.newest) else ""


def grouped(names: Iterable[str], folder: str = "") -> list[Group]:
    """The groups of names, the largest first."""
    alike: dict[str, list[str]] = defaultdict(list)
    for name in names:
        alike[name.translate(_DIGITS)].append(name)
    merged: dict[str, Group] = {}
    for several in alike.values():
        for group in _groups(several, folder):
            there = merged.get(group.pattern)
            merged[group.pattern] = _joined(there, group) if there else group
    found = sorted(merged.values(), key=lambda group: (-group.count, group.pattern))
    return [_narrowed(group, found) if len(found) <= 256 else group for group in found]


def unique(stem: str, taken: Iterable[str]) -> str:
    """A stream's name from a stem: letters, digits, ``_`` and ``-``, not among ``taken``.

    >>> unique("ocean his", ["ocean-his"])
    'ocean-his-2'
    """
    clean = re.sub(r"-{2,}", "-", re.sub(r"[^A-Za-z0-9_-]+", "-", stem)).strip("-_")[-48:]
    return not_taken(clean.strip("-_") or "output", taken)


def not_taken(name: str, taken: Iterable[str]) -> str:
    """The name, with the first number from 2 on that makes it none of ``taken``."""
    known, one, number = set(taken), name, 2
    while one in known:
        one, number = f"{name}-{number}", number + 1
    return one


def main_first(groups: Sequence[Group]) -> list[Group]:
    """The groups in the order of streams: what names itself history first, means last."""

    def rank(group: Group) -> int:
        return 0 if _MAIN.search(group.stem) else 2 if _MEANS.search(group.stem) else 1

    return sorted(groups, key=lambda group: (rank(group), -group.count, group.path))


def _groups(names: Sequence[str], folder: str) -> list[Group]:
    """Of names that are equal but for their digits: one group, or one for each stream."""
    first = names[0]
    tokens = [(match.start(), match.end(), match.lastgroup) for match in _TOKEN.finditer(first)]
    varying = {(s, e) for s, e, _ in tokens if len(names) > 1 and _values(names, s, e) > 1}
    pieces = {(s, e) for s, e, _ in tokens if _is_piece(first, s, e)}
    runs = [(s, e) for s, e, kind in tokens if _runs(first, s, e, kind == "date")]
    chosen = pieces | {
        (s, e) for s, e in runs
        if (s, e) in varying or first[s - 1 : s] == "f" or (s, e, "date") in tokens
    }  # fmt: skip
    if not chosen:
        # A counter that touches a word (hist7.nc). Of one file: the last number of its name is
        # what the next one would count up.
        counters = {
            (s, e) for s, e in varying
            if not _OWN.search(first[:s]) and _values(names, s, e) >= _FEWEST
        }  # fmt: skip
        chosen = counters or set([] if varying else runs[-1:])
    own = [(s, e) for s, e in varying - chosen if _values(names, s, e) <= _MOST_MEMBERS]
    chosen |= varying - set(own)
    several: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in names if own else ():
        several[tuple(name[s:e] for s, e in own)].append(name)
    return [
        _group(members, sorted(chosen), folder, bool(pieces))
        for members in (several.values() if own else [names])
    ]


def _group(
    names: Sequence[str], runs: Sequence[tuple[int, int]], folder: str, pieces: bool
) -> Group:
    # Only digits differ, in the same places, so the order of texts is that of numbers.
    newest = max(names)
    before = max((name for name in names if name != newest), default=None)
    starts, ends = [0, *(end for _, end in runs)], [*(start for start, _ in runs), None]
    parts = [newest[start:end] for start, end in zip(starts, ends, strict=True)]
    pattern = "*".join(map(_escaped, parts))
    parts[-1] = NETCDF.sub("", parts[-1])
    return Group(pattern, len(names), newest, before, _words(parts), folder, pieces)


def _runs(name: str, start: int, end: int, is_date: bool) -> bool:
    """Whether a number may run from file to file: a date, or one that no letter touches, or a
    forecast hour as in ``atmf003``."""
    before, after = name[start - 1 : start], name[end : end + 1]
    free = not before.isalnum() or (before == "f" and end - start >= 2)
    return is_date or (free and not after.isalpha())


def _is_piece(name: str, start: int, end: int) -> bool:
    before, number = name[:start], name[start:end]
    if before.endswith(".nc."):
        return len(number) >= 4
    if re.search(r"(?:^|[._-])tile$", before, re.IGNORECASE):
        return True
    return before.endswith(".t") and len(number) == 3 and name[end:] == ".nc"


def _values(names: Sequence[str], start: int, end: int) -> int:
    return len({name[start:end] for name in names})


def _words(parts: Sequence[str]) -> str:
    return "-".join(part.strip("._-") for part in parts if part.strip("._-"))


def _escaped(text: str) -> str:
    return re.sub(r"([*?[])", r"[\1]", text)


def _joined(one: Group, other: Group) -> Group:
    """Groups of one pattern whose numbers have different widths."""
    names = (one.newest, one.before, other.newest, other.before)
    last = sorted(filter(None, names), key=natural)
    return replace(one, count=one.count + other.count, newest=last[-1], before=last[-2])


def natural(name: str) -> list[tuple[int, str]]:
    """A key that sorts numbers in names by their value."""
    return [
        (int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"([0-9]+)", name)
    ]


def _narrowed(group: Group, others: Sequence[Group]) -> Group:
    """The same with a digit required at each ``*``, where the glob also matches other groups."""
    if "*" in group.pattern and any(
        other is not group and fnmatchcase(other.newest, group.pattern) for other in others
    ):
        return replace(group, pattern=re.sub(r"(?<!\[)\*", "[0-9]*", group.pattern))
    return group
