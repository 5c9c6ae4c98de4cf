"""Text in files of other programs: UTF-8 mostly, Latin-1 where it is not."""

from __future__ import annotations


def file_text(raw: bytes) -> str:
    """The text of bytes that are UTF-8, else Latin-1, in which ``°``, ``µ`` and ``é`` are one byte
    each; null bytes at the end are left out.

    >>> file_text("°C".encode()), file_text(b"\\xb0C\\0")
    ('°C', '°C')
    """
    raw = raw.rstrip(b"\0")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")
