"""Access: every request must have the server's token, also from other users of this machine."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from aiohttp import web
from aiohttp.typedefs import Handler

from burstlens.clients.serving.headers import html

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
        if not request.rel_url.raw_path.startswith(f"{self.folder}/"):
            return _denied(request)
        if self._same(request.cookies.get(self.cookie)) or self._bears(request):
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
