"""Access: every request shows the server's token, whoever on this machine it comes from."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from aiohttp import web
from aiohttp.typedefs import Handler

from burstlens.serving.headers import html

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
<code>?token=</code> included, or paste the token here. It changes each time the server starts.</p>
<form><input name="token" type="password" aria-label="token" autocomplete="off" required>
<button>Open</button></form>
</html>
"""
TOLD = "a token is needed: Authorization: Bearer TOKEN, or the whole link that was printed\n"


@dataclass(frozen=True, slots=True)
class Access:
    """Who may ask: whoever shows ``token`` once as ``?token=`` (a cookie then stands for it), or
    each time as ``Authorization: Bearer``.

    ``port`` names the cookie: browsers send one host's cookies to all its ports.
    """

    token: str
    port: int

    @property
    def cookie(self) -> str:
        """The cookie's name."""
        return f"burstlens-{self.port}"

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """The check, before any other code sees the request; a middleware."""
        if self._same(request.query.get("token")):
            return self._entered(request)
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
        """Set the cookie and go on without the token in the address.

        A proxy may have put a prefix before our paths that only the browser knows. So the cookie
        gets no path, which makes it the folder of the address, and it is set by the topmost one.
        """
        path = request.rel_url.raw_path
        if path == "/":
            goal = "./" + request.query.get("to", "")
            response = web.Response(status=303, headers={"Location": quote(goal, safe="/%")})
            response.set_cookie(self.cookie, self.token, path="", httponly=True, samesite="Strict")
            return response
        up = "../" * (path.count("/") - 1) or "./"
        words = urlencode({"token": self.token, "to": path.lstrip("/")})
        return web.Response(status=303, headers={"Location": f"{up}?{words}"})


def _denied(request: web.Request) -> web.StreamResponse:
    if "text/html" not in request.headers.get("Accept", ""):
        return web.Response(status=403, text=TOLD)
    # A link on another site brings no SameSite=Strict cookie along; the same request made by a
    # page of our own does.
    strange = request.headers.get("Sec-Fetch-Site") == "cross-site"
    again = '<meta http-equiv="refresh" content="0">' if strange else ""
    return html(DENIED.format(again=again), status=403)
