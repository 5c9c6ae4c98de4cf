"""The server: its sockets on the loopback interface, what it prints, how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import getpass
import json
import logging
import os
import resource
import secrets
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from burstlens.clients.serving.shelf import Shelf
from burstlens.cluster_configs.schedulers import own_job
from burstlens.core.errors import RunError, SiteError
from burstlens.core.extras import install_command
from burstlens.core.printable import print_stderr, printable, say
from burstlens.core.run.served import Note, remove_dead_notes

if TYPE_CHECKING:  # it imports aiohttp, which may be missing
    from burstlens.clients.serving.access import Access

IDLE_S = 30.0
"""Time limit for an idle connection, and for the headers of a request."""
STUCK_MS = 60_000
"""Time limit for a client that reads nothing of what is sent to it."""
BACKLOG = 1024
OPEN_FILES = 8192


@dataclass(frozen=True, slots=True)
class Address:
    """The server's address, here and from another machine; ``--json`` prints it."""

    url: str
    port: int
    token: str
    ssh: str


def serve(
    shelf: Shelf,
    *,
    port: int,
    allow_stop: bool,
    as_json: bool,
    open_browser: bool,
    token_file: Path | None = None,
) -> None:
    """Serve until SIGINT, SIGTERM, SIGHUP or SIGQUIT. ``port`` 0 is a free one.

    Raises SiteError when aiohttp is missing, RunError when the port cannot be had or the token
    file cannot be used.
    """
    # sendfile(2) would run in the event loop, where one page that a file server does not deliver
    # blocks all clients; aiohttp reads this variable when it is imported.
    os.environ["AIOHTTP_NOSENDFILE"] = "1"
    try:
        import aiohttp  # noqa: F401
    except ImportError as error:
        install = install_command("serve")
        raise SiteError(f"burstlens serve needs aiohttp ({error}): {install}") from error
    from burstlens.clients.serving.access import Access, kept_token

    token = kept_token(token_file) if token_file else secrets.token_urlsafe()
    _raise_file_limit()
    sockets = _listen(port)
    address = _address(Access(token, sockets[0].getsockname()[1]))
    text = json.dumps(asdict(address)) if as_json else _start_text(shelf, address, allow_stop)
    asyncio.run(_serve(shelf, sockets, address, text, allow_stop=allow_stop, opened=open_browser))


async def _serve(
    shelf: Shelf,
    sockets: list[socket.socket],
    address: Address,
    text: str,
    *,
    allow_stop: bool,
    opened: bool,
) -> None:
    from aiohttp import web
    from aiohttp.log import server_logger

    from burstlens.clients.serving.access import Access
    from burstlens.clients.serving.app import Application
    from burstlens.clients.serving.patience import THREADS

    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(THREADS, "files"))
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup ignores SIGHUP
            loop.add_signal_handler(number, ended.set)
    application = Application(shelf, Access(address.token, address.port), allow_stop=allow_stop)
    runner = web.AppRunner(
        application.web, access_log=None, keepalive_timeout=IDLE_S, shutdown_timeout=1.0
    )
    server_logger.addFilter(_is_ours)
    await runner.setup()
    for listening in sockets:
        await web.SockSite(runner, listening, backlog=BACKLOG).start()
    say(text)
    note = Note(address.url.partition("?")[0], address.token, *shelf.places)
    remove_dead_notes()
    with note.kept(), _browser(note, address.url) if opened else contextlib.nullcontext():
        await ended.wait()
    await runner.cleanup()
    if application.patience.hangs or application.series.patience.hangs:
        # Python joins its threads at exit, and one that waits for a dead file server never ends.
        sys.stdout.flush()
        os._exit(0)


def _raise_file_limit() -> None:
    """Raise a login shell's limit on open files: each client that reads takes three."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < OPEN_FILES:
        most = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _is_ours(record: logging.LogRecord) -> bool:
    """Whether an error is one of the server's, to be printed: malformed requests are not."""
    from aiohttp.http_exceptions import HttpProcessingError

    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


def _listen(port: int) -> list[socket.socket]:
    """Sockets on 127.0.0.1 and, where there is one, ::1, with one port. Raises RunError."""
    for _ in range(10):
        try:
            first = _bound(socket.AF_INET, "127.0.0.1", port)
        except OSError as error:
            raise RunError(
                f"port {port} cannot be had on 127.0.0.1 ({error.strerror}); --port takes another "
                "one, without it a free one is found"
            ) from error
        try:
            return [first, _bound(socket.AF_INET6, "::1", first.getsockname()[1])]
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                return [first]  # no IPv6 here
            first.close()
        if port:
            break
    # Another user would get what people send to "localhost", including the token.
    raise RunError(f"port {port} is in use on ::1; --port takes another one")


def _bound(family: socket.AddressFamily, host: str, port: int) -> socket.socket:
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STUCK_MS)
        listening.bind((host, port))
        listening.setblocking(False)
    except OSError:
        listening.close()
        raise
    return listening


def _address(access: Access) -> Address:
    port = access.port
    host = socket.getfqdn()
    if host.startswith("localhost"):  # /etc/hosts names it so on some machines
        host = socket.gethostname()
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container that has no name for its user
        user = "USER"
    job = own_job()
    login = job.submit_host if job else ""
    way = f"-J {user}@{login} " if login and login != socket.gethostname() else ""
    ssh = f"ssh -N -L {port}:127.0.0.1:{port} {way}{user}@{host}"
    url = f"http://127.0.0.1:{port}{access.folder}/?token={access.token}"
    return Address(url, port, access.token, ssh)


def _start_text(shelf: Shelf, address: Address, allow_stop: bool) -> str:
    lines = [
        f"{printable(shelf.title)}, {'with' if allow_stop else 'without'} Stop:",
        f"  {address.url}",
        "From another machine, run this there first, and leave it running:",
        f"  {address.ssh}",
    ]
    if own_job() is not None:
        lines.append("  (this is a compute node: the server ends with its job)")
    return "\n".join([*lines, "Anyone with the link can see the runs. Ctrl-C ends the server."])


@contextlib.contextmanager
def _browser(note: Note, url: str) -> Iterator[None]:
    """Open the page in a browser, where there is a display.

    The browser gets the name of a private file: other users can see a program's arguments, and
    would see the token.
    """
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        print_stderr("no display here: open the link yourself")
        yield
        return
    with note.page(f'<meta http-equiv="refresh" content="0; url={escape(url)}">\n') as page:
        # In a thread: with some browsers the call waits until they end.
        threading.Thread(target=webbrowser.open, args=[page.as_uri()], daemon=True).start()
        yield
