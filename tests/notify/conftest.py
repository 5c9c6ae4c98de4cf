"""Real receivers of word: a mail and a web server on loopback, programs; a run with pictures."""

from __future__ import annotations

import contextlib
import functools
import json
import socket
import ssl
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from aiosmtpd.controller import Controller
from notify_case import ALLOW, Mailbox, Sender


@pytest.fixture
def config(tmp_path, monkeypatch):
    """Writes the user's configuration, by default one that allows each way."""
    home = tmp_path / "config"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    path = home / "burstlens" / "config.toml"

    def write(text=ALLOW):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o600)
        return path

    write()
    return write


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Makes a program from shell lines, which is found on PATH as well."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder), prepend=":")

    def make(lines: str, name: str = "hook") -> str:
        path = folder / name
        path.write_text(f"#!/bin/sh\n{lines}\n")
        path.chmod(0o755)
        return str(path)

    return make


@pytest.fixture
def web():
    """A real server that records what is posted; the path sets its answer."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            self.server.posted.append((self.path, dict(self.headers), body))
            if self.path == "/slow":
                self.server.let_go.wait(60)
            if self.path == "/silent":
                self.close_connection = True
                return
            if self.path == "/closes":
                self.wfile.write(b"HTTP/1.1 20")
                return
            again = self.path == "/busy" and len(self.server.posted) == 1
            code = (
                503
                if again
                else {"/no": 500, "/gone": 410, "/away": 302}.get(self.path.split("?")[0], 204)
            )
            self.send_response(code)
            if self.path == "/away":
                self.send_header("Location", "/elsewhere")
            self.end_headers()

        do_GET = do_POST  # noqa: N815

        def log_message(self, *_):
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.posted, server.let_go = [], threading.Event()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.url = f"http://127.0.0.1:{server.server_port}"
    server.facts = lambda: [json.loads(body) for _, _, body in server.posted]
    yield server
    server.let_go.set()
    server.shutdown()
    server.server_close()


@contextlib.contextmanager
def mail_server(**how):
    """A real mail server on loopback: its mailbox, with ``place``, its host and port."""
    box = Mailbox()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    controller = Controller(box, hostname="127.0.0.1", port=port, authenticator=box.login, **how)
    controller.start()
    box.place = f"127.0.0.1:{port}"
    try:
        yield box
    finally:
        controller.stop()


@pytest.fixture
def smtp():
    """A mail server without TLS."""
    with mail_server(auth_require_tls=False) as box:
        yield box


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """Makes a certificate for a name, signed by itself; returns its file and its key's."""
    folder = tmp_path_factory.mktemp("certificates")

    def make(name: str):
        path, key = folder / f"{name}.pem", folder / f"{name}.key"
        kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        subject = ["-subj", "/CN=mail", "-addext", f"subjectAltName={name}"]
        words = ["openssl", "req", "-x509", *kind, "-days", "2", *subject]
        subprocess.run([*words, "-out", path, "-keyout", key], check=True, capture_output=True)
        return path, key

    return functools.cache(make)


@pytest.fixture
def starttls(certificate):
    """Starts mail servers that demand STARTTLS and a login; their certificate is for ``name``."""
    with contextlib.ExitStack() as stack:

        def start(name: str = "IP:127.0.0.1"):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            path, key = certificate(name)
            context.load_cert_chain(path, key)
            box = stack.enter_context(
                mail_server(tls_context=context, require_starttls=True, auth_required=True)
            )
            box.certificate = path
            return box

        yield start


@pytest.fixture
def publish(run_dir):
    """Publishes a picture of a product: its file and its line in the index."""
    run_dir.facts.write_text("{}")

    def put(time: str, content: bytes | None = None, product: str = "t2", **facts: float) -> str:
        name = f"{product}/{product}_{time}.png"
        path = run_dir.products / name
        path.parent.mkdir(exist_ok=True)
        if content is not None:
            path.write_bytes(content)
        line = {"product": product, "stream": "d01", "time": time, "name": name, "facts": facts}
        line |= {"bytes": len(content or b""), "attempt": 1, "t": 1.0, "crc32": 0}
        with run_dir.index.open("a") as index:
            index.write(json.dumps(line) + "\n")
        return str(path)

    return put


@pytest.fixture
def sender(run_dir, config):
    return Sender(run_dir)


@pytest.fixture
def wait():
    """Waits until a condition holds."""

    def until(holds, what="it", limit_s=120.0):
        end = time.monotonic() + limit_s
        while not holds():
            assert time.monotonic() < end, f"{what} did not happen within {limit_s:g} s"
            time.sleep(0.02)

    return until
