"""The token file: one token for every start of a server, readable only by its owner."""

from __future__ import annotations

import os
import re
import secrets
import stat
from pathlib import Path

from burstlens.core.errors import RunError

TOKEN = re.compile(r"[A-Za-z0-9_-]{32,200}")
_MOST_BYTES = 1024


def kept_token(path: Path) -> str:
    """The token in ``path``; a missing file is made, with mode 0600.

    Raises RunError when it cannot be made or read, is not the user's own regular file, may be read
    or written by others, or holds no token.
    """
    try:
        return _read(path)
    except FileNotFoundError:
        token = secrets.token_urlsafe()
    except OSError as error:
        raise RunError(f"the token file {path} cannot be read: {error.strerror}") from error
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as stream:
            stream.write(f"{token}\n")
    except OSError as error:
        raise RunError(f"the token file {path} cannot be made: {error.strerror}") from error
    return token


def _read(path: Path) -> str:
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as stream:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise RunError(f"the token file {path} is not a regular file")
        if found.st_uid != os.geteuid():
            raise RunError(f"the token file {path} belongs to another user")
        if stat.S_IMODE(found.st_mode) & 0o077:
            raise RunError(f"others may use the token file {path}: chmod 600 {path}")
        text = stream.read(_MOST_BYTES).decode("ascii", "replace").strip()
    if not TOKEN.fullmatch(text):
        raise RunError(
            f"the token file {path} holds no token: remove it, and the next start makes a new one"
        )
    return text
