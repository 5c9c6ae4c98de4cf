"""Access: every request must have the server's token, also from other users of this machine."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlencode

from aiohttp import web
from aiohttp.typedefs import Handler

from burstlens.clients.serving.headers import html
from burstlens.core.errors import RunError

DENIED = """<!doctype html>
<html lang="en"><meta charset="utf-8">{again}<title>Burstlens: token needed</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<style>
:root {{ color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }}
body {{ max-width: 34rem; margin: 12vh auto; padding: 0 1.5rem }}
input, button {{ font: inherit; padding: .4rem .6rem; max-width: 100%; box-sizing: border-box }}
</style>
<h1>Token needed</h1>
<p>Open the whole link that <code>burstlens serve</code> has printed, the part behind
<code>?token=</code> included, or paste the token here. It changes each time the server
starts; with <code>--token-file</code> it stays.</p>
<form><input name="token" type="password" aria-label="token" autocomplete="off" required>
<button>Open</button></form>
</html>
"""
ACCESS_HELP = "a token is needed: Authorization: Bearer TOKEN, or the whole link that was printed\n"
TOKEN = re.compile(r"[A-Za-z0-9_-]{32,200}")
_TOKEN_BYTES = 1024


@dataclass(frozen=True, slots=True)
class Access:
    """Checks that a client has ``token``: once as ``?token=`` (then a cookie stands for it), or
    each time as ``Authorization: Bearer``.

    Browsers send one host's cookies to all its ports. So all addresses lie in a ``folder`` with a
    name derived from the token, and the cookie is for that folder alone: no other server gets it.
    ``port`` in the cookie's name separates two servers with one token file.
    """

    token: str
    port: int

    @property
    def cookie(self) -> str:
        """The cookie's name."""
        return f"burstlens-{self.port}"

    @property
    def folder(self) -> str:
        """The folder that holds all addresses: ``/<random>``."""
        return f"/{hashlib.sha256(self.token.encode()).hexdigest()[:16]}"

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """A middleware that checks each request before any other code gets it."""
        if self._same(request.query.get("token")):
            return self._entered(request)
        inside = request.rel_url.raw_path.startswith(f"{self.folder}/")
        if inside and (self._same(request.cookies.get(self.cookie)) or self._bears(request)):
            return await handler(request)
        return _denied(request)

    def _same(self, given: str | None) -> bool:
        return given is not None and secrets.compare_digest(
            given.encode(errors="surrogateescape"), self.token.encode()
        )

    def _bears(self, request: web.Request) -> bool:
        kind, _, given = request.headers.get("Authorization", "").partition(" ")
        return kind.lower() == "bearer" and self._same(given.strip())

    def _entered(self, request: web.Request) -> web.StreamResponse:
        """Set the cookie and redirect to the address without the token.

        A proxy may have put a prefix before our paths that only the browser knows. So the cookie
        gets no path, and browsers take the folder of the address that sets it: our own folder.
        Other addresses are those of an earlier server: the files in its folder are in ours.
        """
        path = request.rel_url.raw_path
        if path == f"{self.folder}/":
            goal = "./" + request.query.get("to", "")
            response = web.Response(status=303, headers={"Location": quote(goal, safe="/%")})
            response.set_cookie(self.cookie, self.token, path="", httponly=True, samesite="Strict")
            return response
        up = "../" * (path.count("/") - 1) or "./"
        goal = path.lstrip("/").partition("/")[2]
        words = urlencode({"token": self.token, "to": goal.lstrip("/")})
        return web.Response(status=303, headers={"Location": f"{up}{self.folder[1:]}/?{words}"})


def _denied(request: web.Request) -> web.StreamResponse:
    if "text/html" not in request.headers.get("Accept", ""):
        return web.Response(status=403, text=ACCESS_HELP)
    # A request from a link on another site has no SameSite=Strict cookie; the same request from a
    # page of our own has it.
    strange = request.headers.get("Sec-Fetch-Site") == "cross-site"
    again = '<meta http-equiv="refresh" content="0">' if strange else ""
    return html(DENIED.format(again=again), status=403)


def kept_token(path: Path) -> str:
    """The token in ``path``, one for every start of a server; a missing file is made, with mode
    0600.

    Raises RunError when it cannot be made or read, is not the user's own regular file, may be read
    or written by others, or holds no token.
    """
    try:
        return _read_token(path)
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


def _read_token(path: Path) -> str:
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as stream:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise RunError(f"the token file {path} is not a regular file")
        if found.st_uid != os.geteuid():
            raise RunError(f"the token file {path} belongs to another user")
        if stat.S_IMODE(found.st_mode) & 0o077:
            raise RunError(f"others may use the token file {path}: chmod 600 {path}")
        text = stream.read(_TOKEN_BYTES).decode("ascii", "replace").strip()
    if not TOKEN.fullmatch(text):
        raise RunError(
            f"the token file {path} holds no token: remove it, and the next start makes a new one"
        )
    return text
