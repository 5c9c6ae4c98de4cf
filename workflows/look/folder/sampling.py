"""One file of each group of names, looked into: frames, pieces, files without times, others."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from burstlens.core.errors import FrameError, TimesError, UnreadError
from burstlens.core.printable import printable
from burstlens.core.record_axis import time_variable
from burstlens.workflows.frames.contents import CLASSIC, HDF5, Contents, file_format, read_contents
from burstlens.workflows.frames.hdf5 import Prober
from burstlens.workflows.frames.writers import has_writer
from burstlens.workflows.look.folder.content import BY_NAME, beside, is_climatology, piece
from burstlens.workflows.look.folder.names import NETCDF, Group

MOST_SAMPLED = 32
"""Groups of netCDF files that are looked into, the largest first."""
MOST_SNIFFED = 48
"""Groups with other names of which the first bytes of one file are read."""
_TEXT = (
    ".txt", ".log", ".in", ".nml", ".sh", ".py", ".xml", ".yaml", ".yml", ".json", ".md", ".csv",
    ".png", ".jpg", ".gif", ".pdf", ".html", ".f90", ".o", ".mod", ".toml", ".cfg", ".err",
)  # fmt: skip
_SHORT = 5
"""Digits of a rank; longer numbers are times and steps."""
_SHOWN = 3
_IN_GROUPS = (
    "the variables lie in groups ({names}), and only those of the root are shown; ncks -G : in.nc "
    "out.nc moves those of netCDF-4 there"
)
LIMIT_S = 8.0
"""Looking into files ends after so long; the rest is named."""
_OLD_S = 86400.0
_DEAD_S = 600.0
"""A file without a whole record that is not written for so long was left by a dead model."""
_DRAFT = re.compile(r"^\.|\.(?:part|partial|tmp|temp|incomplete)$|~$", re.IGNORECASE)
"""Names that files have until they are whole; hidden files are not output."""
_known: dict[tuple[int, ...], Contents] = {}
"""The latest contents, by the files' identities: recognition and products ask for the same ones,
and a child process that reads HDF5 takes a third of a second to start."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A group with the contents of its newest file that can be read. ``barren``: that file holds no
    whole record, and nobody has written it for long; so does the one before it, if there is one."""

    group: Group
    name: str
    contents: Contents
    time: str | None
    barren: bool = False


@dataclass(frozen=True, slots=True)
class Sorted:
    """The groups of a folder. ``frames`` have a time, ``timeless`` none; ``others`` are remarks on
    netCDF files that are neither, of which ``pieces`` are of frames; ``foreign`` are groups that
    are not netCDF, ``unreadable`` those of which no file could be read, ``old`` if for long;
    ``in_groups`` are remarks on the foreign ones with variables below their root."""

    frames: tuple[Sample, ...] = ()
    timeless: tuple[Sample, ...] = ()
    others: tuple[str, ...] = ()
    pieces: tuple[str, ...] = ()
    foreign: tuple[Group, ...] = ()
    unreadable: tuple[str, ...] = ()
    old: bool = False
    in_groups: tuple[str, ...] = ()


class Sampler:
    """Reads contents; HDF5 in a child process, which it ends on leaving."""

    def __init__(self, folder: Path, prober: Prober | None = None) -> None:
        self._folder = folder
        self._prober = prober or Prober()

    def __enter__(self) -> Sampler:
        return self

    def __exit__(self, *error: object) -> None:
        self._prober.close()

    def contents(self, name: str) -> Contents:
        """Of a file, by its name relative to the folder. Raises FrameError and OSError."""
        path = os.fspath(self._folder / name)
        stat = os.stat(path)
        identity = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)
        if identity not in _known:
            _known[identity] = read_contents(path, self._prober)
            while len(_known) > MOST_SAMPLED:
                del _known[next(iter(_known))]
        return _known[identity]

    def readable(self, name: str) -> Contents | None:
        """The same, None where it cannot be read."""
        with suppress(FrameError, OSError):
            return self.contents(name)
        return None

    def sample(self, group: Group) -> Sample | FrameError:
        """Of the newest file, else of the one before it, as the newest may be in the making."""
        last: Sample | FrameError = FrameError("it is missing")
        for name in (group.newest, group.before):
            if name is None:
                continue
            relative = group.within(name)
            try:
                contents = self.contents(relative)
            except UnreadError as error:
                return error  # it took the whole time limit of a probe: so would the next one
            except FrameError as error:
                last = last if isinstance(last, Sample) else error
                continue
            except OSError as error:
                if not isinstance(last, Sample):
                    last = FrameError(error.strerror or "it cannot be read")
                continue
            if self._is_begun(relative, contents):
                last = FrameError("its variables are still being defined")
                continue
            found = Sample(group, relative, contents, time_variable(contents.variables))
            if not self._is_barren(found):
                return found
            last = last if isinstance(last, Sample) else replace(found, barren=True)
        return last

    def _is_barren(self, found: Sample) -> bool:
        """Whether a file has no whole record, and will have none."""
        variables = found.contents.variables
        empty = found.time is not None and 0 in variables[found.time].shape
        return (found.contents.short or empty) and self._age_s(found.name) > _DEAD_S

    def _is_begun(self, name: str, contents: Contents) -> bool:
        """Whether an HDF5 file that a program has open for writing has no record yet: a classic one
        has all its variables in its first write."""
        if contents.version or not has_writer(os.fspath(self._folder / name)):
            return False
        variable = time_variable(contents.variables)
        if variable is not None:
            found = contents.variables[variable]
            if 0 not in found.shape and any(
                one.dimensions[:1] == found.dimensions[:1] and len(one.dimensions) > 1
                for one in contents.variables.values()
            ):
                return False
        return time.time() - os.stat(self._folder / name).st_mtime < _OLD_S

    def beside(self, sample: Sample) -> str:
        """Whether a numbered file and the one before it are pieces of one frame; "" if not."""
        group = sample.group
        if group.before is None or not _is_numbered(group.newest, group.before):
            return ""
        other = self.readable(group.within(group.before))
        return "" if other is None else beside(sample.contents, other, sample.time)

    def is_netcdf(self, group: Group) -> bool:
        """Whether the first bytes of a file without a netCDF name say classic netCDF or HDF5."""
        path = self._folder / group.within(group.newest)
        with suppress(OSError):
            return file_format(os.fspath(path)) in (CLASSIC, HDF5)
        return False

    def is_old(self, group: Group) -> bool:
        """Whether the newest file was written long ago, by this machine's clock."""
        return self._age_s(group.within(group.newest)) > _OLD_S

    def _age_s(self, name: str) -> float:
        """Seconds since a file was written; 0 where that cannot be said."""
        with suppress(OSError):
            return time.time() - os.stat(self._folder / name).st_mtime
        return 0.0


def sorted_groups(sampler: Sampler, groups: Iterable[Group]) -> Sorted:
    """The groups by what their names and samples say."""
    netcdf, foreign = _candidates(sampler, list(groups))
    frames, timeless = list[Sample](), list[Sample]()
    others, pieces, in_groups = list[str](), list[str](), list[str]()
    unreadable: list[tuple[Group, FrameError]] = []
    wanted = []
    for group in netcdf:
        if group.role:
            others.append(f"{_kind(group)}: {group.said}")
        elif group.pieces:
            pieces.append(f"{group.said}: {BY_NAME}")
        else:
            wanted.append(group)
    if len(wanted) > MOST_SAMPLED:
        left = wanted[MOST_SAMPLED:]
        others.append(
            f"{sum(group.count for group in left)} files with {len(left)} further patterns of "
            f"names (such as {left[0].said}), which were not looked into: name them with --stream"
        )
    began = time.monotonic()
    for group in wanted[:MOST_SAMPLED]:
        if time.monotonic() - began > LIMIT_S:
            others.append(f"{group.said}: not looked into, as files here take long to read")
            continue
        found = sampler.sample(group)
        if isinstance(found, FrameError):
            unreadable.append((group, found))
        elif not found.contents.variables:
            foreign.append(group)
            if (names := found.contents.groups) and NETCDF.search(group.newest):
                listed = printable(", ".join(names[:_SHOWN]) + (", ..." if names[_SHOWN:] else ""))
                in_groups.append(f"{group.said}: {_IN_GROUPS.format(names=listed)}")
        elif how := piece(found.contents) or sampler.beside(found):
            pieces.append(f"{group.said}: {how}")
        elif is_climatology(found.contents, found.time):
            others.append(f"climatology: {group.said}")
        else:
            (frames if found.time else timeless).append(found)
    return Sorted(
        tuple(frames), tuple(timeless), tuple(others), tuple(pieces), tuple(foreign),
        tuple(_unread(group, error) for group, error in unreadable),
        bool(unreadable) and all(sampler.is_old(group) for group, _ in unreadable),
        tuple(in_groups),
    )  # fmt: skip


def _unread(group: Group, error: FrameError) -> str:
    yet = "" if isinstance(error, TimesError) else " (yet)"  # waiting does not help then
    return f"{group.said} cannot be read{yet}: {error}"


def _is_numbered(one: str, other: str) -> bool:
    """Whether names differ in short numbers only, not in dates."""
    parts = [re.split(r"([0-9]+)", name) for name in (one, other)]
    apart = [a for a, b in zip(*parts, strict=False) if a != b]
    return all(part.isdigit() and len(part) <= _SHORT for part in apart)


def _candidates(sampler: Sampler, groups: list[Group]) -> tuple[list[Group], list[Group]]:
    """Those that are netCDF or HDF5, by name or first bytes, and the others."""
    groups = [group for group in groups if not _DRAFT.search(group.newest)]
    netcdf = [group for group in groups if NETCDF.search(group.newest)]
    rest = [group for group in groups if not NETCDF.search(group.newest)]
    asked = [group for group in rest if not group.newest.lower().endswith(_TEXT)][:MOST_SNIFFED]
    named = {group.path for group in asked if sampler.is_netcdf(group)}
    netcdf += [group for group in rest if group.path in named]
    netcdf.sort(key=lambda group: -group.count)
    return netcdf, [group for group in asked if group.path not in named]


def _kind(group: Group) -> str:
    plural = "s" if group.count > 1 else ""
    return f"{group.role} file{plural}" if group.role != "climatology" else group.role
