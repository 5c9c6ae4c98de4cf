"""``GET <run>/series``: the series of a product at a place, line by line as it is read.

A request is read in pieces of about 50 ms, each in one of a few threads of its own; between them a
slow reader holds none. docs/values.md describes the lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from aiohttp import web

from burstlens.clients.opened.asked import Asked, Memory
from burstlens.clients.opened.pictured import Pictured
from burstlens.clients.serving.patience import Patience
from burstlens.clients.serving.shelf import Shelf
from burstlens.core.errors import RunError, ValuesError

THREADS = 6
AT_ONCE = 2
"""Threads that the series of one run may hold: others are answered while its files hang."""
LIMIT_S = 60.0
"""For a piece, with its wait for those of other clients."""
TYPE = "application/x-ndjson"

Piece = tuple[list[Any], int]


class SeriesHandler:
    """Answers requests for series of the runs on a shelf."""

    def __init__(self, shelf: Shelf) -> None:
        self.patience = Patience(ThreadPoolExecutor(THREADS, "series"), AT_ONCE, LIMIT_S)
        self._shelf = shelf
        self._memory = Memory()

    async def answer(self, request: web.Request, run: str) -> web.StreamResponse:
        """The series, newest first; it ends early where the client goes away.

        Raises RunError and OSError as the shelf does.
        """
        try:
            asked = Asked(request.query)
        except ValuesError as error:
            raise web.HTTPBadRequest(text=f"{error}\n") from None
        pieces, (rows, left) = await self._next(request, run, asked, None)
        headers = {"Content-Type": TYPE, "Cache-Control": "no-store"}
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        if request.method == "HEAD":
            return response
        try:
            await response.write(_lines(rows))
            while left and not _is_gone(request):
                pieces, (rows, left) = await self._next(request, run, asked, pieces)
                await response.write(_lines(rows))
        except ConnectionError:
            pass  # the client has gone; nothing more is read
        except (web.HTTPException, RunError, OSError):
            if request.transport is not None:
                request.transport.abort()  # the series would seem complete
        return response

    async def _next(
        self, request: web.Request, run: str, asked: Asked, pieces: Iterator[Piece] | None
    ) -> tuple[Iterator[Piece], Piece]:
        """The next piece, read in a thread; an empty one where nobody waits for it any more."""

        def read() -> tuple[Iterator[Piece], Piece]:
            if _is_gone(request):
                return iter(()), ([], 0)
            begun = pieces or self.begin(run, asked)
            return begun, next(begun)

        return await self.patience.call(run, read)

    def begin(self, run: str, asked: Asked) -> Iterator[Piece]:
        """The pieces of a series; in a thread. Raises RunError and OSError."""
        self._shelf.locate(run, ["products", "index.jsonl"]).close()  # not behind a link
        pictured = self._memory.pictured(Pictured(self._shelf.run_dir(run), asked.product))
        return asked.pieces(pictured, self._memory)


def _lines(rows: list[Any]) -> bytes:
    return "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows).encode()


def _is_gone(request: web.Request) -> bool:
    transport = request.transport
    return transport is None or transport.is_closing()
