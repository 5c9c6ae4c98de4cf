"""Requests to the supervisor of a job that need no run directory, from processes on its node.

A full disk refuses the files in ``control/``. So a supervisor also listens on a socket of its own,
whose name (Linux: in no file system) follows from the job's folder. It heeds its own user alone.

Trips that a sentinel could not write come that way, too: the sentinel ends when a driver returns,
or with the model; the supervisor holds them until the run directory has taken them.
Standard library alone: the supervisor imports it, on any python3.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import logging
import os
import socket
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_log = logging.getLogger("burstlens.workflows.placement.direct_requests")
NAMES = ("stop", "stop-now", "frame-done", "trip")
LONGEST_BYTES = 1 << 16
FULL = (errno.ENOSPC, errno.EDQUOT)
_CREDENTIALS = struct.Struct("3i")  # struct ucred: pid, uid, gid


def send(job_folder: Path, name: str, reason: Mapping[str, Any] | None = None) -> bool:
    """Give a request to the supervisor of that folder; False where none listens on this node.
    ``reason`` is as in :meth:`RunDir.request`; of a ``trip`` it is the trip, to be held until the
    run directory takes it."""
    message = json.dumps({"request": name, "reason": dict(reason or {})}).encode()
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            sender.sendto(message, _address(job_folder))
    except (OSError, AttributeError):
        return False
    return True


class RequestInbox:
    """What a supervisor is asked for directly: ``requests`` has the reason of each one so far."""

    def __init__(self, job_folder: Path) -> None:
        self.requests: dict[str, dict[str, Any]] = {}
        self.trips: list[dict[str, Any]] = []
        """Those to be held, in order, until they are written."""
        self._socket: socket.socket | None = None
        # Another system than Linux lacks the one or the other.
        with contextlib.suppress(OSError, AttributeError), contextlib.ExitStack() as stack:
            listens = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
            listens.setblocking(False)
            listens.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            listens.bind(_address(job_folder))
            stack.pop_all()  # it stays open
            self._socket = listens

    def take_requests(self) -> None:
        """Take the requests that have come since the last call."""
        for name, reason in self.read():
            if name == "trip":
                self.trips.append(reason)
                continue
            if name not in self.requests:
                _log.warning("%s: asked for directly: %s", name, reason.get("text", "by a person"))
            self.requests.setdefault(name, reason)

    @property
    def why(self) -> dict[str, Any]:
        """The reason of the first stop; empty for a person's, and without one."""
        return next((self.requests[name] for name in self.requests if name != "frame-done"), {})

    def read(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The requests since the last call, each with its reason. Never raises."""
        while self._socket is not None:
            space = socket.CMSG_SPACE(_CREDENTIALS.size)
            try:
                text, extras, _, _ = self._socket.recvmsg(LONGEST_BYTES, space)
            except OSError:  # nothing there
                return
            with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
                value = json.loads(text)
                name, reason = value["request"], value["reason"]
                if _sender(extras) == os.geteuid() and name in NAMES and isinstance(reason, dict):
                    yield name, reason


def _sender(extras: list[Any]) -> int | None:
    """The user whose process has sent it, by the kernel."""
    for level, kind, data in extras:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
            return int(_CREDENTIALS.unpack(data)[1])
    return None


def _address(job_folder: Path) -> bytes:
    digest = hashlib.sha256(os.fsencode(os.path.abspath(job_folder))).hexdigest()
    return b"\0burstlens-" + digest[:40].encode()


def write_trips(path: Path, trips: list[dict[str, Any]]) -> None:
    """Move trips to that file, one JSON object per line, but for those that are there already: the
    sentinel may have written them. Raises OSError; what is not written stays in ``trips``."""
    while trips:
        _append(path, _text(trips[0]))
        del trips[0]


def _append(path: Path, text: str) -> None:
    with path.open("a+b", buffering=0) as file:
        file.seek(0)
        before = file.read(os.fstat(file.fileno()).st_size)
        if text in map(_known, before.splitlines()):
            return
        # After half a line, over which readers pass, it has a line of its own.
        line = b"\n" * (before[-1:] not in (b"", b"\n")) + text.encode() + b"\n"
        if file.write(line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(file.fileno())


def _known(line: bytes) -> str:
    try:
        return _text(json.loads(line))
    except (ValueError, RecursionError):
        return ""


def _text(trip: Mapping[str, Any]) -> str:
    return json.dumps(trip, sort_keys=True)
