"""A site: what is particular to one machine, so that recipes need not say it."""

from __future__ import annotations

import os
import socket
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from burstlens.errors import SiteError
from burstlens.nearness import did_you_mean
from burstlens.quantity import parse_bytes
from burstlens.workflows.check_table import Faults, read_table

SITES = Path(__file__).parent / "sites"


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferSite:
    """``[buffer]``: the fast temporary space."""

    kind: Literal["posix"] = "posix"
    """``posix``: a plain directory that the simulation and the viewing block both see."""
    folders: tuple[str, ...] = ()
    """Candidates, the fastest first; ``$NAME`` and ``~`` are expanded. The first one with room
    is taken."""
    limit: Annotated[int, BeforeValidator(parse_bytes)] | None = None
    """The most that one run may take there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewingSite:
    """``[viewing]``: the Parsl block that watches and makes products."""

    placement: Literal["local"] = "local"
    """``local``: on this machine."""
    workers: Annotated[int, Field(ge=1, le=256)] | None = None
    """Workers that make products; one more watches. Half of the cores where it is not said."""
    poll_interval_s: Annotated[float, Field(gt=0, le=60)] = 1.0
    """How often the watcher looks."""
    address: str = "127.0.0.1"
    """The address on which Parsl's workers reach the driver."""
    worker_init: str = ""
    """Shell lines before a worker starts, such as ``module load``: the site's, never a recipe's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A machine. Chosen by ``--site``, else by host name, else ``local``."""

    name: str
    """The site's name, as ``--site`` takes it."""
    description: str = ""
    """One line for ``burstlens sites``."""
    hosts: tuple[str, ...] = ()
    """Patterns of the host names of its login nodes."""
    scheduler: Literal["local"] = "local"
    """``local``: processes of this machine."""
    mpi_launcher: tuple[str, ...] = ("mpiexec", "-n", "{ranks}")
    """What starts an MPI program; ``{ranks}`` and ``{ranks_per_node}`` are filled in."""
    buffer: BufferSite = field(default_factory=BufferSite)
    """The fast temporary space."""
    viewing: ViewingSite = field(default_factory=ViewingSite)
    """The Parsl block that watches and makes products."""

    def workers(self) -> int:
        """Workers that make products."""
        return self.viewing.workers or max(1, (os.cpu_count() or 2) // 2)


def known() -> dict[str, Path]:
    """Site files by name: ``$BURSTLENS_SITES``, the user's, then those that ship."""
    found: dict[str, Path] = {}
    folders = [Path(part) for part in os.environ.get("BURSTLENS_SITES", "").split(":") if part]
    home = Path(os.path.expanduser(os.environ.get("XDG_CONFIG_HOME") or "~/.config"))
    for folder in [*folders, home / "burstlens" / "sites", SITES]:
        for path in sorted(folder.glob("*.toml")):
            found.setdefault(path.stem, path)
    return found


def read(path: Path) -> Site:
    """The site in that file. Raises SiteError with all of its faults."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SiteError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SiteError(f"{path} is not TOML: {error}") from error
    faults = Faults()
    site = read_table(Site, {"name": path.stem, **table}, "", faults)
    if site is None:
        raise SiteError(faults.text(f"site {path}"))
    return site


def choose(name: str | None = None) -> Site:
    """The site of that name (or file), else the one whose host pattern fits, else ``local``.

    Raises SiteError with near names.
    """
    found = known()
    if name is not None:
        if name.endswith(".toml"):
            return read(Path(os.path.expanduser(name)))
        if name not in found:
            raise SiteError(f'there is no site "{name}"{did_you_mean(name, found)}')
        return read(found[name])
    host = socket.gethostname()
    for path in found.values():
        site = read(path)
        if any(fnmatch(host, pattern) for pattern in site.hosts):
            return site
    return read(SITES / "local.toml")
