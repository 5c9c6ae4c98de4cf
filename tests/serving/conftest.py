"""The real server process, and requests over real sockets."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

LIMIT_S = 120.0


@dataclass
class Answer:
    """The server's answer; the names of ``headers`` are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


class Server:
    """``burstlens serve words`` as a process of its own."""

    def __init__(self, words: list[str], folder: Path, prefix: list[str], env: dict[str, str]):
        self.errors = folder / "serve-errors"
        with self.errors.open("a") as errors:
            self.process = subprocess.Popen(
                [*prefix, sys.executable, "-m", "burstlens", "serve", *words, "--json"],
                cwd=folder,
                env=os.environ | env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        line = self.process.stdout.readline()
        assert line, self.errors.read_text()
        address = json.loads(line)
        self.url: str = address["url"]
        self.port: int = address["port"]
        self.token: str = address["token"]
        self.ssh: str = address["ssh"]
        self.root = self.url.partition("?")[0]
        self.folder = urlsplit(self.root).path.rstrip("/")

    def ask(
        self,
        path: str,
        method: str = "GET",
        body: bytes | None = None,
        below: str | None = None,
        **headers,
    ) -> Answer:
        """One request with the token, unless ``Authorization`` is given (None sends none).

        ``path`` is taken ``below`` the server's folder.
        """
        sent = {"Authorization": f"Bearer {self.token}"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        with contextlib.closing(connection):
            given = {name: value for name, value in sent.items() if value is not None}
            connection.request(
                method, (self.folder if below is None else below) + path, body, given
            )
            response = connection.getresponse()
            names = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, names, response.read())

    def post(self, run: str, ask: object, **headers) -> Answer:
        """A request to steer a run, as the page sends it."""
        sent = {"X_Burstlens": "1", "Content_Type": "application/json"} | headers
        return self.ask(f"/{run}/control", "POST", json.dumps({"ask": ask}).encode(), **sent)

    def connect(self, *, receive_bytes: int | None = None) -> socket.socket:
        """A bare connection."""
        found = socket.socket()
        if receive_bytes:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        found.settimeout(LIMIT_S)
        found.connect(("127.0.0.1", self.port))
        return found

    def head(self, path: str, method: str = "GET") -> bytes:
        """The bytes of a connection's only request, the path exactly as given."""
        lines = [
            f"{method} {self.folder}{path} HTTP/1.1",
            "Host: x",
            f"Authorization: Bearer {self.token}",
            "Connection: close",
        ]
        return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape")

    def raw(self, request: bytes) -> bytes:
        """Everything that the server sends in answer to these bytes."""
        with self.connect() as connection:
            connection.sendall(request)
            return self.everything(connection)

    def everything(self, connection: socket.socket) -> bytes:
        """Everything until the server closes the connection."""
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
        return b"".join(parts)

    def end(self, number: int = signal.SIGTERM) -> int:
        """End it; its exit code."""
        self.process.send_signal(number)
        code = self.process.wait(LIMIT_S)
        self.process.stdout.close()
        return code


@contextlib.contextmanager
def servers(folder: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers; at the end none of them may have printed a traceback."""
    started: list[Server] = []

    def start(*words: object, prefix: tuple[str, ...] = (), **env: str) -> Server:
        server = Server([str(word) for word in words], folder, list(prefix), env)
        started.append(server)
        return server

    try:
        yield start
    finally:
        for server in started:
            if server.process.poll() is None:
                server.end()
    for server in started:
        assert "Traceback" not in server.errors.read_text()


@pytest.fixture
def serve(tmp_path) -> Iterator[Callable[..., Server]]:
    """Starts servers for one test."""
    with servers(tmp_path) as start:
        yield start


@pytest.fixture(scope="session")
def shelf(standing, tmp_path_factory) -> Path:
    """A folder of runs with ``done``, a real one; tests add others."""
    assert standing.done().returncode == 0, standing.done().said
    folder = tmp_path_factory.mktemp("serving") / "shelf"
    shutil.copytree(standing.runs / "done", folder / "done")
    return folder


@pytest.fixture
def run(shelf) -> Path:
    """A run on the shelf, the test's own: the files of ``done``."""
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=shelf))
    return shutil.copytree(shelf / "done", folder, dirs_exist_ok=True)


@pytest.fixture(scope="session")
def crowded(shelf) -> Path:
    """A run on the shelf among whose files tests put others."""
    return shutil.copytree(shelf / "done", shelf / "crowded")


@pytest.fixture(scope="session")
def server(shelf) -> Iterator[Server]:
    """A server of ``shelf`` that tests share."""
    with servers(shelf.parent) as start:
        yield start(shelf)


@pytest.fixture(scope="session")
def stopper(shelf) -> Iterator[Server]:
    """Another one, with ``--allow-stop``."""
    with servers(shelf.parent) as start:
        yield start(shelf, "--allow-stop")


@pytest.fixture(scope="session")
def stranger(shelf) -> Iterator[Server]:
    """Another one, with ``--allow-stop``, of a user who must obey permissions, also as root."""
    with servers(shelf.parent) as start:
        yield start(shelf, "--allow-stop", prefix=ORDINARY if os.getuid() == 0 else ())


ORDINARY = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")
