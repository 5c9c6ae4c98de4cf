"""Any log that says what I/O took, recognized by its content."""

from __future__ import annotations

from pathlib import Path

from burstlens.core.durable import open_regular
from burstlens.core.errors import IOLogError
from burstlens.workflows.iostats.summary import Summary

_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"(\xb5/\xfd": "zstd"}

_OTHERS = {b"CDF": "netCDF", b"\x89HDF": "HDF5", b"\x7fELF": "a program", b"%PDF": "PDF"}
"""Files that may be large, in which no log is searched."""


def read_log(path: Path) -> Summary:
    """The summary of a log. Raises IOLogError with one line that says what is wrong."""
    try:
        with open_regular(path) as file:
            head = file.read(16)
    except OSError as error:
        raise IOLogError(f"cannot read {path}: {error.strerror}") from None
    if not head:
        raise IOLogError(
            f"{path} is empty. A program that was killed leaves no Darshan log; MPI-IO statistics "
            "are printed when a file is closed"
        )
    for begin, program in _PACKED.items():
        if head.startswith(begin):
            raise IOLogError(
                f"{path} is compressed with {program}: uncompress it first; Darshan logs of "
                "version 2 cannot be read"
            )
    for begin, kind in _OTHERS.items():
        if head.startswith(begin):
            raise IOLogError(f"{path} is {kind}, not a log")
    from burstlens.workflows.iostats.darshan_log import is_darshan, read_darshan
    from burstlens.workflows.iostats.mpiio_log import read_mpiio

    try:
        return read_darshan(path) if is_darshan(head) else read_mpiio(path)
    except OSError as error:
        raise IOLogError(f"cannot read {path}: {error.strerror}") from None
