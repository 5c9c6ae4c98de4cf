"""Text from outside: decoded from files of other programs, made safe for a terminal."""

from __future__ import annotations

import sys
import unicodedata

LONGEST = 2000


def printable(text: str) -> str:
    """``text`` on one line, without the control and format characters that move a cursor, set a
    title or reverse the writing direction, and without lone surrogates, which terminals reject; at
    most ``LONGEST`` characters.

    >>> printable("done\\x1b[2J\\tnow")
    'done[2J now'
    """
    kept = (" " if sign.isspace() else sign for sign in text[: 2 * LONGEST])
    clean = "".join(sign for sign in kept if unicodedata.category(sign) not in {"Cc", "Cf", "Cs"})
    return clean if len(clean) <= LONGEST else clean[: LONGEST - 1] + "…"


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


def say(text: str) -> None:
    """Print a command's result on standard output, flushed at once also through a pipe. Raises
    BrokenPipeError, and OSError that names standard output, as of a disk that is full."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, "standard output") from None


def print_stderr(text: str) -> None:
    """Print a note, warning or error on standard error, flushed at once."""
    print(text, file=sys.stderr, flush=True)
