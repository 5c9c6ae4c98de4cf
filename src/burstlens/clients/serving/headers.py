"""Answers with a page or a file; their headers keep browsers from running a file as the page."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections.abc import Mapping
from functools import cache
from pathlib import PurePath

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter

ALWAYS = {
    "Server": "burstlens",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}
ENOUGH = (
    "default-src 'none'; connect-src 'self'; worker-src blob:; img-src 'self' data: blob:; "
    "media-src 'self' blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"
)
"""For our own pages. A Jupyter proxy frames them from the same origin."""
SANDBOX = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; media-src data: blob:"
)
"""For documents among a run's files: each gets its own origin, without our cookie."""
DOCUMENTS = {".htm", ".html", ".svg", ".xhtml", ".xml"}
TYPES = {
    ".avi": "video/x-msvideo",
    ".gif": "image/gif",
    ".htm": "text/html; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".mp4": "video/mp4",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webm": "video/webm",
    ".webp": "image/webp",
    ".xhtml": "application/xhtml+xml",
    ".xml": "application/xml",
}
TEXTS = (".csv", ".jsonl", ".log", ".md", ".pvd", ".toml", ".txt")
_INLINE = re.compile(r"<(script|style)\b[^>]*>(.*?)</\1>", re.DOTALL)
"""The scripts and styles of our own pages, which hold nothing of others."""
CHUNK_BYTES = 65536
"""Bytes held in memory for each client that reads slowly."""


async def add_always(_request: web.Request, response: web.StreamResponse) -> None:
    """Add the headers that every answer has; a signal handler of aiohttp."""
    response.headers.update(ALWAYS)
    response.headers.setdefault("Cache-Control", "no-cache")


def html(text: str, *, status: int = 200) -> web.Response:
    """A page of our own: only its inline scripts and styles may run, by their hashes."""
    headers = {
        "Content-Security-Policy": policy_of(text),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "no-store",
    }
    response = web.Response(text=text, status=status, content_type="text/html", headers=headers)
    response.enable_compression()
    return response


@cache
def policy_of(text: str) -> str:
    """The Content-Security-Policy for a page of our own."""
    sources: dict[str, list[str]] = {"script": [], "style": []}
    for tag, inline in _INLINE.findall(text):
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        sources[tag].append(f"'sha256-{digest}'")
    script, style = (" ".join(hashes) or "'none'" for hashes in sources.values())
    return f"{ENOUGH}; script-src {script}; style-src {style}"


def of_file(path: PurePath, *, log: bool) -> dict[str, str]:
    """The headers of a run's file, by its name. Every file among the logs is shown as text."""
    suffix = path.suffix.lower()
    if log or suffix in TEXTS:
        return {"Content-Type": "text/plain; charset=utf-8"}
    found = {"Content-Type": TYPES.get(suffix, "application/octet-stream")}
    if suffix in DOCUMENTS:
        found["Content-Security-Policy"] = SANDBOX
    return found


class HandleResponse(web.FileResponse):
    """aiohttp's file response (whole, ranges, not modified) for an open handle (O_PATH).

    By its own name another file may be found by now.
    """

    def __init__(self, handle: io.FileIO, headers: Mapping[str, str]) -> None:
        super().__init__(
            f"/proc/self/fd/{handle.fileno()}", chunk_size=CHUNK_BYTES, headers=dict(headers)
        )
        self._handle = handle

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        """Send it. If the file was truncated meanwhile, close the connection: the client must not
        wait for the rest, nor take the next answer for it.
        """
        with self._handle:
            writer = await super().prepare(request)
        if request.method == "GET" and writer and writer.length and request.transport:
            request.transport.abort()
        return writer
