"""How a batch script asks for a burst buffer: the lines of Cray DataWarp and of HPE Rabbit.

Sources: Slurm's Burst Buffer Guide; NERSC's and KAUST's user documentation of DataWarp; the
directives of HPE's Data Workflow Services. Slurm stops looking for them at the first line that is
not a comment, and treats ``%`` in them as a symbol of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from burstlens.cluster_configs.site import BufferSite
from burstlens.core.errors import SiteError

_UNITS = {"GiB": 2**30, "GB": 10**9, "MiB": 2**20, "MB": 10**6}
_PLAIN = re.compile(r"[\w/.,:+=@$-]+")


class Directives(Protocol):
    """The lines of one kind of buffer, and the variable that holds its mount path in a job."""

    def create(self, name: str, capacity_bytes: int) -> str:
        """Make a persistent buffer."""

    def destroy(self, name: str) -> str:
        """Give a persistent buffer back, with all that it holds."""

    def use(self, name: str) -> str:
        """Mount a persistent buffer in this job."""

    def own(self, name: str, capacity_bytes: int) -> str:
        """A buffer that lives with this job."""

    def stage_in(self, source: str, destination: str) -> str:
        """Bring a file in before the job starts; ``destination`` begins with the variable."""

    def variable(self, name: str, *, persistent: bool) -> str:
        """The environment variable that holds the mount path in a job."""


@dataclass(frozen=True, slots=True)
class DataWarp:
    """Cray DataWarp as Slurm's plugin reads it."""

    site: BufferSite

    def create(self, name: str, capacity_bytes: int) -> str:
        """``#BB create_persistent``."""
        words = f"name={_plain(name)} capacity={_size(capacity_bytes)}"
        return f"#BB create_persistent {words} access={self.site.access} type={self._type()}"

    def destroy(self, name: str) -> str:
        """``#BB destroy_persistent``."""
        return f"#BB destroy_persistent name={_plain(name)}"

    def use(self, name: str) -> str:
        """``#DW persistentdw``."""
        return f"#DW persistentdw name={_plain(name)}"

    def own(self, name: str, capacity_bytes: int) -> str:
        """``#DW jobdw``."""
        mode = f"access_mode={self.site.access} capacity={_size(capacity_bytes)}"
        return " ".join([f"#DW jobdw type={self._type()} {mode}", *map(_plain, self.site.options)])

    def stage_in(self, source: str, destination: str) -> str:
        """``#DW stage_in`` of one file: releases differ in how they read a list."""
        return f"#DW stage_in type=file source={_plain(source)} destination={_plain(destination)}"

    def variable(self, name: str, *, persistent: bool) -> str:
        """``DW_PERSISTENT_STRIPED_<name>`` or ``DW_JOB_STRIPED``."""
        return f"DW_PERSISTENT_STRIPED_{name}" if persistent else "DW_JOB_STRIPED"

    def _type(self) -> str:
        pool = f" pool={_plain(self.site.pool)}" if self.site.pool else ""
        return f"{self.site.type}{pool}"


@dataclass(frozen=True, slots=True)
class Rabbit:
    """HPE Rabbit. Written from its documentation; never run on the hardware."""

    site: BufferSite

    def create(self, name: str, capacity_bytes: int) -> str:
        """``#DW create_persistent``."""
        return f"#DW create_persistent {self._what(name, capacity_bytes)}"

    def destroy(self, name: str) -> str:
        """``#DW destroy_persistent``."""
        return f"#DW destroy_persistent name={_plain(name)}"

    def use(self, name: str) -> str:
        """``#DW persistentdw``."""
        return f"#DW persistentdw name={_plain(name)}"

    def own(self, name: str, capacity_bytes: int) -> str:
        """``#DW jobdw``."""
        return f"#DW jobdw {self._what(name, capacity_bytes)}"

    def stage_in(self, source: str, destination: str) -> str:
        """``#DW copy_in``."""
        return f"#DW copy_in source={_plain(source)} destination={_plain(destination)}"

    def variable(self, name: str, *, persistent: bool) -> str:
        """``DW_PERSISTENT_<name>`` or ``DW_JOB_<name>``."""
        return f"DW_{'PERSISTENT' if persistent else 'JOB'}_{name.replace('-', '_')}"

    def _what(self, name: str, capacity_bytes: int) -> str:
        return f"type={self.site.type} capacity={_size(capacity_bytes)} name={_plain(name)}"


_KINDS: dict[str, type[DataWarp] | type[Rabbit]] = {"datawarp": DataWarp, "rabbit": Rabbit}


def directives(site: BufferSite) -> Directives:
    """The directives of a site's kind of buffer."""
    return _KINDS[site.kind](site)


def _size(capacity_bytes: int) -> str:
    """Whole units, since Slurm reads no decimal point, and the exact number where a unit allows
    it: 20 GB as 19 GiB would be two granules of 20 GB."""
    for unit, size in _UNITS.items():
        if capacity_bytes % size == 0:
            return f"{capacity_bytes // size}{unit}"
    return f"{-(-capacity_bytes // 2**20)}MiB"


def _plain(word: str) -> str:
    """The word, if it can stand in a directive as it is. Raises SiteError."""
    if not _PLAIN.fullmatch(word):
        raise SiteError(f"{word!r} cannot stand in a burst-buffer directive: no spaces, no '%'")
    return word
