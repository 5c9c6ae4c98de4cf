"""The ``.pvd`` file: a time series of VTK files, as ParaView opens it, also while it grows.

Format: ParaView's "ParaView Data (PVD)" collection. Importable on a login node.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import quoteattr

from burstlens.core import valid_time

_UNIX_EPOCH = "19700101T000000"


def pvd_entry(time: str, name: str, *, start: str | None = None, calendar: str = "") -> str:
    """One file of a series: the line that :func:`pvd_text` takes.

    ``time`` is a valid-time key and ``name`` the file's name relative to the .pvd's folder.
    ValueError when ``time`` is not a key.
    """
    at = time_value(time, start, calendar)
    return f'<DataSet timestep="{at:.17g}" part="0" file={quoteattr(name)}/>'


def pvd_text(entries: Iterable[str]) -> str:
    """The text of a ``.pvd`` file of these entries, in the order of time."""
    lines = "".join(f"    {entry}\n" for entry in entries)
    return (
        '<?xml version="1.0"?>\n'
        '<VTKFile type="Collection" version="0.1" byte_order="LittleEndian">\n'
        f"  <Collection>\n{lines}  </Collection>\n</VTKFile>\n"
    )


def time_value(time: str, start: str | None = None, calendar: str = "") -> float:
    """A valid-time key as ParaView's time, in seconds of its calendar.

    Elapsed keys as they are; calendar keys after ``start``, or after 1970 when there is none. The
    key of a file without any time is its number, without units. ``calendar`` is one of CF, empty
    where it is Gregorian.

    >>> time_value("20050828T120000", "20050828T000000")
    43200.0
    >>> time_value("t00000012.500")
    12.5
    """
    zero = time_zero(time, start)
    if zero is None:
        return valid_time.position(time)
    return valid_time.seconds(time, calendar) - valid_time.seconds(zero, calendar)


def time_zero(time: str, start: str | None) -> str | None:
    """The calendar key that :func:`time_value` counts from; None where keys are elapsed times."""
    if not valid_time.is_calendar(time):
        return None
    return start if start is not None and valid_time.is_calendar(start) else _UNIX_EPOCH
