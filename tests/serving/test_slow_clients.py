"""Slow clients, and file systems that hang: their effect on other clients."""

from __future__ import annotations

import contextlib
import ctypes
import os
import selectors
import socket
import struct
import threading
import time

import pytest

SLOW = 200
SERIES = "series?product=t2&lat=1&lon=1"


@pytest.mark.slow
def test_two_hundred_slow_readers_do_not_keep_a_fast_one_waiting(server, crowded):
    large = crowded / "logs" / "large"
    large.write_bytes(os.urandom(1 << 20) * 20)
    with contextlib.ExitStack() as stack, selectors.DefaultSelector() as selector:
        for _ in range(SLOW):
            connection = stack.enter_context(server.connect(receive_bytes=4096))
            connection.sendall(server.head("/crowded/logs/large"))
            selector.register(connection, selectors.EVENT_READ)
        begun: set[int] = set()
        end = time.monotonic() + 120
        while len(begun) < SLOW:  # each one is being served
            assert time.monotonic() < end
            for key, _ in selector.select(1):
                assert key.fileobj.recv(16)
                begun.add(key.fd)
        for _ in range(5):
            answer = server.ask("/done/status.json")
            assert (answer.status, answer.json["run"]) == (200, "done")
            # It did not wait for them: none has read more than a few bytes of its 20 MiB.
            for key, _ in selector.select(0):
                assert key.fileobj.recv(16)  # none has been given up either
        assert server.ask("/done/products/index.html").status == 200


def test_many_slow_readers_cost_little_memory(server, crowded):
    """The server does not keep the bytes that they have not read."""
    large = crowded / "logs" / "larger"
    large.write_bytes(os.urandom(1 << 20) * 64)
    before = resident_bytes(server.process.pid)
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            connection = stack.enter_context(server.connect(receive_bytes=4096))
            connection.sendall(server.head("/crowded/logs/larger"))
            assert connection.recv(16)
        grown = resident_bytes(server.process.pid) - before
    assert grown < 100 * (1 << 20)


def resident_bytes(pid: int) -> int:
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_clients_that_go_away_leave_nothing_behind(server, crowded):
    large = crowded / "logs" / "left"
    large.write_bytes(bytes(20 << 20))
    folder = f"/proc/{server.process.pid}/fd"
    before = len(os.listdir(folder))
    for _ in range(30):
        with server.connect(receive_bytes=4096) as connection:
            connection.sendall(server.head("/crowded/logs/left"))
            assert connection.recv(16)
            # Reset, as when a laptop is closed and the tunnel ends.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    end = time.monotonic() + 60
    while len(os.listdir(folder)) > before + 2:
        assert time.monotonic() < end, os.listdir(folder)
        time.sleep(0.1)


@pytest.mark.parametrize(
    "request_",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + b"a" * 100_000 + b"\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 10_000 + b"\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\0" * 10_000,
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
    ids=["header", "path", "headers", "TLS", "zeros", "version", "length", "smuggled"],
)
def test_a_malformed_request_is_refused(server, request_):
    with server.connect() as connection, contextlib.suppress(ConnectionError):
        connection.sendall(request_)
        assert connection.recv(4096).split(b" ", 2)[1:2] in ([b"400"], [b"403"], [])
    assert server.ask("/done/status.json").status == 200


@pytest.mark.fault
def test_a_client_whose_request_never_ends_is_let_go(server):
    with server.connect() as connection:
        connection.settimeout(60)
        connection.sendall(b"GET / HTTP/1.1\r\n")
        done = threading.Event()

        def drip():
            with contextlib.suppress(OSError):
                while not done.wait(1.0):
                    connection.sendall(b"A: b\r\n")

        threading.Thread(target=drip, daemon=True).start()
        with contextlib.suppress(ConnectionResetError):
            assert connection.recv(1) == b""
        done.set()


@pytest.mark.fault
def test_a_client_that_takes_nothing_is_let_go(server, crowded):
    (crowded / "logs" / "untaken").write_bytes(bytes(50 << 20))
    with server.connect(receive_bytes=4096) as connection:
        connection.sendall(server.head("/crowded/logs/untaken"))
        end = time.monotonic() + 180
        while peers(server, connection):
            assert time.monotonic() < end
            time.sleep(1)


def peers(server, connection) -> bool:
    """Whether the server still holds the other end of a connection."""
    own = connection.getsockname()[1]
    with open("/proc/net/tcp") as table:
        rows = [line.split()[1:4] for line in table.readlines()[1:]]
    return [f"{server.port:04X}", f"{own:04X}", "01"] in [
        [local.split(":")[1], remote.split(":")[1], state] for local, remote, state in rows
    ]


class HungMount:
    """A file system that has been mounted and then answers nothing, as when its server is gone."""

    def __init__(self, folder) -> None:
        self.folder = os.fsencode(folder)
        self._libc = ctypes.CDLL(None, use_errno=True)

    def __enter__(self) -> HungMount:
        self._device = os.open("/dev/fuse", os.O_RDWR)
        options = f"fd={self._device},rootmode=40755,user_id=0,group_id=0".encode()
        if self._libc.mount(b"hung", self.folder, b"fuse", 0, options):
            os.close(self._device)
            pytest.skip(f"nothing can be mounted here: {os.strerror(ctypes.get_errno())}")
        _, _, unique = struct.unpack_from("<IIQ", os.read(self._device, 1 << 16))
        initial = struct.pack("<IIIIHHIIHH8I", 7, 31, 0, 0, 0, 0, 4096, 1, 0, 0, *[0] * 8)
        os.write(self._device, struct.pack("<IiQ", 16 + len(initial), 0, unique) + initial)
        return self

    def __exit__(self, *_: object) -> None:
        detach = 2
        self._libc.umount2(self.folder, detach)
        os.close(self._device)


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="only root may mount")
def test_a_file_system_that_hangs_keeps_no_other_client_waiting(serve, shelf):
    hung = shelf / "hung"
    hung.mkdir()
    server = serve(shelf)
    with (
        HungMount(hung),
        contextlib.ExitStack() as stack,
        selectors.DefaultSelector() as selector,
    ):
        for place in (SERIES, "status.json", "products/index.html", "journal.jsonl") * 30:
            waiting = stack.enter_context(server.connect())
            waiting.sendall(server.head(f"/hung/{place}"))
            selector.register(waiting, selectors.EVENT_READ)
        for number in range(20):
            assert server.ask("/done/status.json").status == 200
            assert server.ask("/done/journal.jsonl").status == 200
            if number == 0:  # before the server's time limit for the others is over
                assert selector.select(0) == []
        answer = server.everything(waiting)
        assert answer.startswith(b"HTTP/1.1 503")
        assert b"has not answered" in answer
        # The server's exit does not wait for it either, which would take for ever.
        assert server.end() == 0
