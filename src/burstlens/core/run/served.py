"""The servers that show runs now, so that word of a run can have the link to its page.

Each server keeps a note in the user's state folder, which only the user may read, since it holds
the server's token, and renews it while it lives. The note of a server that was killed is removed
by the next process that reads the notes.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import stat
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from burstlens.core.durable import open_regular
from burstlens.core.run.directory import RunDir
from burstlens.core.run.heartbeat import process_state, ticks_of
from burstlens.core.run.places import state_folder

RENEWED_S = 30.0
"""How often a server renews its note."""
STALE_S = 300.0
"""A note that is older than this is a dead server's: clocks of nodes may differ by minutes."""
_MOST_BYTES = 1 << 20
_NAME = re.compile(r"\.?(?P<host>.+)-(?P<pid>\d+)-(?P<ticks>\d+)\.(?:json|html)(?:\.part)?")


@dataclass(frozen=True, slots=True)
class Served:
    """A server's address with its folder, its token, and the folders whose runs it shows, or the
    directories of the runs."""

    url: str
    token: str
    folders: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()

    def link(self, run: RunDir, *, token: bool) -> str | None:
        """The link to the run's page; None if the server does not show it."""
        path = os.path.realpath(run.path)
        if path not in self.runs and os.path.dirname(path) not in self.folders:
            return None
        page = f"{self.url}{quote(os.fsencode(run.id))}/products/index.html"
        return f"{page}?token={self.token}" if token else page


def _folder() -> Path:
    return state_folder().with_name("servers")


class Note:
    """A server's note. No method raises OSError: a server works without it."""

    def __init__(self, url: str, token: str, folders: Iterable[Path], runs: Iterable[Path]) -> None:
        self._text = json.dumps(
            {
                "url": url,
                "token": token,
                "folders": [os.path.realpath(path) for path in folders],
                "runs": [os.path.realpath(path) for path in runs],
            }
        )
        pid = os.getpid()
        self._path = _folder() / f"{socket.gethostname()}-{pid}-{ticks_of(pid) or 0}.json"

    def renew(self) -> None:
        """Write it anew."""
        with contextlib.suppress(OSError):
            _write(self._path, self._text)

    @contextlib.contextmanager
    def page(self, text: str) -> Iterator[Path]:
        """A page beside the note, which may hold the token as well; it goes as the note does."""
        path = self._path.with_suffix(".html")
        try:
            _write(path, text)
            yield path
        finally:
            with contextlib.suppress(OSError):
                path.unlink()

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Renew it for a while, then remove it; a home that hangs holds up nobody."""
        ended = threading.Event()

        def keep() -> None:
            while not ended.is_set():
                self.renew()
                ended.wait(RENEWED_S)
            with contextlib.suppress(OSError):
                self._path.unlink()

        thread = threading.Thread(target=keep, name="note", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join(1.0)


def _write(path: Path, text: str) -> None:
    """Write a file that only the user may read. Raises OSError."""
    part = path.with_name(f".{path.name}.part")
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        with contextlib.suppress(FileNotFoundError):
            part.unlink()
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as stream:
            stream.write(text)
        os.replace(part, path)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def remove_dead_notes(wait_s: float = 1.0) -> None:
    """Remove the notes of servers that were killed; a home that hangs holds up nobody for longer
    than ``wait_s``."""
    thread = threading.Thread(target=lambda: list(_notes()), name="notes", daemon=True)
    thread.start()
    thread.join(wait_s)


def link_to(run: RunDir, *, token: bool) -> str:
    """The link to the run's page on a server that shows it now; without one the page's path.
    ``token``: with the server's token, without which the page asks for it."""
    for served in _servers():
        link = served.link(run, token=token)
        if link is not None:
            return link
    return str(run.products / "index.html")


def _servers() -> Iterator[Served]:
    """The servers that live, the latest first."""
    for renewed, path in sorted(_notes(), reverse=True):
        if abs(time.time() - renewed) > STALE_S:
            continue  # it hangs, or is stopped
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
            with open_regular(path, follow=False) as stream:
                value = json.loads(stream.read(_MOST_BYTES))
            yield Served(
                str(value["url"]), str(value["token"]),
                tuple(map(str, value["folders"])), tuple(map(str, value["runs"])),
            )  # fmt: skip


def _notes() -> Iterator[tuple[float, Path]]:
    """The notes of servers that live, with the times at which they were renewed. What others have
    left is removed."""
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(_folder())):
            with contextlib.suppress(OSError):
                about = entry.stat(follow_symlinks=False)
                if about.st_uid != os.geteuid() or not stat.S_ISREG(about.st_mode):
                    continue
                if _is_of_the_dead(entry.name, time.time() - about.st_mtime):
                    os.unlink(entry.path)
                elif entry.name.endswith(".json"):
                    yield about.st_mtime, Path(entry.path)


def _is_of_the_dead(name: str, age_s: float) -> bool:
    """Whether a file is one of a server that is gone: here by its process, which has another start
    time where its number was given anew; on other hosts as it is renewed no more."""
    by = _NAME.fullmatch(name)
    if by is None or by["host"] != socket.gethostname() or ticks_of(os.getpid()) is None:
        return abs(age_s) > STALE_S and not name.endswith(".html")
    return process_state(int(by["pid"]), int(by["ticks"])) is None
