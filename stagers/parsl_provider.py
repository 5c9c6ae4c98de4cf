"""Files on a DataWarp buffer for Parsl scripts: ``File("dw://<buffer>/<path>?pfs=<path>")``.

``<buffer>`` is a persistent buffer's name, or ``job`` for the job's own. Where it is mounted
differs by job, so the worker finds out, and the app sees an ordinary path. With ``?pfs=`` the
file has a place on the parallel file system too: as an input it is staged in from there before
the task, as an output staged out to there after it. A file that another task produced is on the
buffer already and is not staged in.
"""

from __future__ import annotations

import errno
import functools
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from parsl.data_provider.files import File
from parsl.data_provider.staging import Staging

from burstlens.core.errors import SiteError, StagingError
from burstlens.core.nearness import did_you_mean
from burstlens.stagers.base import deliver
from burstlens.stagers.registry import stager

SCHEME = "dw"
_QUERY = "pfs="
_PERSISTENT = "DW_PERSISTENT_STRIPED_"


@dataclass(frozen=True)
class DataWarpStaging(Staging):  # type: ignore[misc]  # Parsl has no types
    """Parsl's staging provider for ``dw://`` files: ``storage_access=[DataWarpStaging(), ...]``.

    ``stager`` is the kind that moves them, see :func:`burstlens.stagers.registry.stager`. Staging
    is done on the worker, in the task, which fails with the StagingError or SiteError.
    """

    stager: str = "datawarp"

    def can_stage_in(self, file: File) -> bool:
        """Whether it is a ``dw://`` file. Raises StagingError if its URL is not valid."""
        return file.scheme == SCHEME and Place.of(file.url) is not None

    can_stage_out = can_stage_in

    def stage_in(self, dm: Any, executor: str, file: File, parent_fut: Any) -> None:
        """Note that a file from another task is on the buffer already."""
        if parent_fut is not None:
            file.url = file.url.partition("?")[0]

    def replace_task(
        self, dm: Any, executor: str, file: File, func: Callable[..., Any]
    ) -> Callable[..., Any]:
        """The app, with the file staged in before it."""
        return _staging_in(func, Place.of(file.url), self.stager)

    def replace_task_stage_out(
        self, dm: Any, executor: str, file: File, func: Callable[..., Any]
    ) -> Callable[..., Any]:
        """The app, with the file staged out after it."""
        return _staging_out(func, Place.of(file.url), self.stager)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a ``dw://`` file is: the buffer, the path on it, the path on the file system."""

    buffer: str
    path: str
    pfs: Path | None

    @classmethod
    def of(cls, url: str) -> Place:
        """Raises StagingError for a URL with a missing or invalid buffer or path."""
        parts = urlsplit(url)
        path = parts.path.strip("/")
        pfs = parts.query.removeprefix(_QUERY)
        problem = None
        if not parts.netloc or not path:
            problem = "expected dw://<buffer>/<path>"
        elif ".." in PurePosixPath(path).parts:
            problem = "the path leads out of the buffer"
        elif parts.query and not parts.query.startswith(_QUERY):
            problem = "expected ?pfs=<path> or nothing after the path"
        elif pfs and not pfs.startswith("/"):
            problem = "the path after ?pfs= is not absolute"
        if problem:
            raise StagingError(problem, path=url, number=errno.EINVAL)
        return cls(parts.netloc, path, Path(pfs) if pfs else None)

    def local(self) -> Path:
        """The file's path for this process. Raises SiteError if its job lacks that buffer."""
        if self.buffer == "job":
            names = ["DW_JOB_STRIPED"]
        else:  # a variable that a shell sets has no '-'
            names = [_PERSISTENT + self.buffer, _PERSISTENT + self.buffer.replace("-", "_")]
        for name in names:
            if root := os.environ.get(name):
                return Path(root) / self.path
        known = [
            name.removeprefix(_PERSISTENT) for name in os.environ if name.startswith(_PERSISTENT)
        ]
        if "DW_JOB_STRIPED" in os.environ:
            known.append("job")
        raise SiteError(
            f"this worker's job has no buffer {self.buffer!r} ({names[0]} is not set)"
            + did_you_mean(self.buffer, known)
        )


def _staging_in(function: Callable[..., Any], place: Place, kind: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def task(*args: Any, **kwargs: Any) -> Any:
        _bring_in(place, kind)
        _localize(args, kwargs)
        return function(*args, **kwargs)

    return task


def _staging_out(function: Callable[..., Any], place: Place, kind: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def task(*args: Any, **kwargs: Any) -> Any:
        local = place.local()
        _make_folder(local.parent)
        _localize(args, kwargs)
        result = function(*args, **kwargs)
        if place.pfs is not None:
            deliver(stager(kind), local, place.pfs)
        return result

    return task


def _bring_in(place: Place, kind: str) -> None:
    """Stage in, unless the file on the buffer has the size and time of that on the file system.

    Tasks on many workers may bring the same file: each sees it whole, whichever comes last.
    """
    local = place.local()
    if place.pfs is None:
        return
    try:
        there = place.pfs.stat()
        if local.exists():
            here = local.stat()
            if (here.st_size, here.st_mtime_ns) == (there.st_size, there.st_mtime_ns):
                return
        _make_folder(local.parent)
        deliver(stager(kind), place.pfs, local, inward=True)
        os.utime(local, ns=(there.st_atime_ns, there.st_mtime_ns))
    except OSError as error:
        raise StagingError.of(error, "cannot stage in", error.filename) from error


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StagingError.of(error, "cannot make a folder on the buffer", folder) from error


def _localize(args: Iterable[Any], kwargs: dict[str, Any]) -> None:
    """Give each ``dw://`` file among an app's arguments its path on this worker."""
    for value in (*args, *kwargs.values()):
        for file in value if isinstance(value, list | tuple) else (value,):
            if isinstance(file, File) and file.scheme == SCHEME:
                file.local_path = str(Place.of(file.url).local())
