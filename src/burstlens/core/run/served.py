"""The servers that show runs now, so that word of a run can have the link to its page.

Each server keeps a note in the user's state folder, which only the user may read, since it holds
the server's token, and renews it while it lives.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from burstlens.core.durable import open_regular
from burstlens.core.run.directory import RunDir

RENEWED_S = 30.0
"""How often a server renews its note."""
STALE_S = 300.0
"""A note that is older than this is a dead server's: clocks of nodes may differ by minutes."""
_MOST_BYTES = 1 << 20


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
    from platformdirs import user_state_path

    return user_state_path("burstlens") / "servers"


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
        self._path = _folder() / f"{socket.gethostname()}-{os.getpid()}.json"

    def renew(self) -> None:
        """Write it anew."""
        part = self._path.with_name(f".{self._path.name}.part")
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with contextlib.suppress(FileNotFoundError):
                part.unlink()
            handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w") as stream:
                stream.write(self._text)
            os.replace(part, self._path)

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


def link_to(run: RunDir, *, token: bool) -> str:
    """The link to the run's page on a server that shows it now; without one the page's path.

    ``token``: with the server's token, without which the page asks for it.
    """
    for served in _servers():
        link = served.link(run, token=token)
        if link is not None:
            return link
    return str(run.products / "index.html")


def _servers() -> Iterator[Served]:
    """The servers that live, the latest first."""
    found: list[tuple[float, Path]] = []
    with contextlib.suppress(OSError):
        for path in _folder().glob("*.json"):
            with contextlib.suppress(OSError):
                seen = path.lstat()
                if seen.st_uid == os.geteuid() and abs(time.time() - seen.st_mtime) < STALE_S:
                    found.append((seen.st_mtime, path))
    for _, path in sorted(found, reverse=True):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            with open_regular(path, follow=False) as stream:
                value = json.loads(stream.read(_MOST_BYTES))
            yield Served(
                str(value["url"]), str(value["token"]),
                tuple(map(str, value["folders"])), tuple(map(str, value["runs"])),
            )  # fmt: skip
