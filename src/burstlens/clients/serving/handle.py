"""A file that is sent by its handle."""

from __future__ import annotations

import io
from collections.abc import Mapping

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter

CHUNK_BYTES = 65536
"""What is held in memory for each client that reads slowly."""


class HandleResponse(web.FileResponse):
    """aiohttp's answer with a file, of parts of it and of none when it has not changed.

    Of the file that a handle (O_PATH) names: by its own name another one may be found by now.
    """

    def __init__(self, handle: io.FileIO, headers: Mapping[str, str]) -> None:
        super().__init__(
            f"/proc/self/fd/{handle.fileno()}", chunk_size=CHUNK_BYTES, headers=dict(headers)
        )
        self._handle = handle

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        """Send it. A file that was cut meanwhile ends the connection: the client must not wait
        for the rest, nor take the next answer for it.
        """
        with self._handle:
            writer = await super().prepare(request)
        if request.method == "GET" and writer and writer.length and request.transport:
            request.transport.abort()
        return writer
