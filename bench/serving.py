"""The server: how many slow clients affect a fast one, and the rate of a large file."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from bench.pipeline import Scratch, burstlens, run
from bench.report import Figure, median, percentile, spread

SLOW = 200
LARGE_BYTES = 64 << 20
STATUS = "/one/status.json"
LARGE = "/one/logs/large"


@dataclass(frozen=True, slots=True)
class Client:
    """A client with the token, on one connection."""

    port: int
    token: str

    @property
    def headers(self) -> dict[str, str]:
        """The headers of each request."""
        return {"Authorization": f"Bearer {self.token}"}

    def times(self, path: str, count: int) -> tuple[list[float], list[float], int]:
        """Seconds to the first and to the final byte of each request, and the total of bytes."""
        firsts, lasts, taken = [], [], 0
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        with contextlib.closing(connection):
            for _ in range(count):
                begin = time.perf_counter()
                connection.request("GET", path, headers=self.headers)
                answer = connection.getresponse()
                firsts.append(time.perf_counter() - begin)
                taken += len(answer.read())
                lasts.append(time.perf_counter() - begin)
        return firsts, lasts, taken

    def slow(self, path: str) -> socket.socket:
        """A connection that has asked for a large file and takes some bytes of it."""
        reader = socket.socket()
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.connect(("127.0.0.1", self.port))
        token = self.headers["Authorization"]
        reader.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\n\r\n".encode())
        if not reader.recv(64):
            raise RuntimeError("the server has closed the connection")
        return reader


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """Requests for a run's status, alone and beside many slow readers; a large file."""
    ran = run(scratch, "one", {"frames": 3, "variables": 1, "period": 0.2})
    (ran.path / "logs" / "large").write_bytes(os.urandom(LARGE_BYTES))
    count, slow = (50, 20) if quick else (1000, SLOW)
    begin = time.perf_counter()
    with _server(scratch) as (process, client):
        figures = [Figure("burstlens serve begins to answer", time.perf_counter() - begin, "s")]
        client.times(STATUS, 20)
        figures += _status(client, count, "alone")
        before = _resident_bytes(process.pid)
        with contextlib.ExitStack() as stack:
            for _ in range(slow):
                stack.enter_context(client.slow(LARGE))
            figures += _status(client, count, f"beside {slow} slow readers")
            grown = (_resident_bytes(process.pid) - before) / 2**20
        figures.append(Figure(f"memory for {slow} slow readers of 64 MiB", grown, "MiB"))
        _, lasts, taken = client.times(LARGE, 3 if quick else 10)
        rate = taken / sum(lasts) / 1e6
        figures.append(Figure("a file of 64 MiB, one client", rate, "MB/s"))
    return figures


def _status(client: Client, count: int, how: str) -> list[Figure]:
    firsts, lasts, _ = client.times(STATUS, count)
    note = f"p95 {1e3 * percentile(firsts, 0.95):.2g} ms; {spread(firsts, ' s')}"
    return [
        Figure(f"status.json {how}: first byte", 1e3 * median(firsts), "ms", note=note),
        Figure(f"status.json {how}: requests of one client", count / sum(lasts), "1/s"),
    ]


@contextlib.contextmanager
def _server(scratch: Scratch) -> Iterator[tuple[subprocess.Popen[str], Client]]:
    process = subprocess.Popen(
        burstlens("serve", "--json"),
        env=scratch.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = json.loads(process.stdout.readline())
        yield process, Client(urlsplit(address["url"]).port or 0, address["token"])
    finally:
        process.terminate()
        process.wait()


def _resident_bytes(pid: int) -> int:
    pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
