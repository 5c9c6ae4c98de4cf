"""HTTP response with a file given by its handle."""

from __future__ import annotations

import io
from collections.abc import Mapping

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter

CHUNK_BYTES = 65536
"""Bytes held in memory for each client that reads slowly."""


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
