"""``GET <run>/movie``: a movie of a series' pictures, made by ``burstlens movie`` in a process.

A movie takes a core or two for minutes, and this may be a login node: one at a time per run, two
in all, of a bounded number of frames, within a time limit. The process ends with the client that
asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import shlex
import signal
import sys
import tempfile
from pathlib import Path

from aiohttp import web

from burstlens.clients.opened.picture import is_picture
from burstlens.clients.serving.headers import HandleResponse
from burstlens.clients.serving.patience import Patience
from burstlens.clients.serving.shelf import Shelf
from burstlens.core.errors import RunError
from burstlens.core.printable import printable
from burstlens.core.run.index import Index

MOST_FRAMES = 3000
LIMIT_S = 360.0
AT_ONCE = 2
ENDS_S = 5.0
LOOK_S = 0.5
"""How often it is looked whether the client still waits."""
NICE = 10


class MovieHandler:
    """Answers requests for movies of the runs on a shelf; ``program`` makes one."""

    def __init__(
        self,
        shelf: Shelf,
        patience: Patience,
        program: tuple[str, ...] = (sys.executable, "-P", "-m", "burstlens"),
        limit_s: float = LIMIT_S,
    ) -> None:
        self._shelf = shelf
        self._patience = patience
        self._program = program
        self._limit_s = limit_s
        self._busy: set[str] = set()

    async def answer(self, request: web.Request, run: str) -> web.StreamResponse:
        """The movie as MP4. Raises RunError and OSError as the shelf does, and HTTP errors with a
        sentence.
        """
        product, stream = request.query.get("product", ""), request.query.get("stream", "")
        if request.method != "GET":
            raise web.HTTPMethodNotAllowed(request.method, ["GET"])
        frames = await self._patience.call(run, self._count, run, product, stream)
        if frames > MOST_FRAMES:
            command = shlex.join(["burstlens", "movie", run, product, "--stream", stream])
            most = (
                f"{frames} frames are more than the {MOST_FRAMES} of which a server makes a movie"
            )
            raise web.HTTPConflict(text=f"{most}: {printable(command)}\n")
        if run in self._busy or len(self._busy) >= AT_ONCE:
            text = "another movie is being made just now: try again in a minute\n"
            raise web.HTTPTooManyRequests(text=text)
        self._busy.add(run)
        try:
            return await self._made(request, run, product, stream)
        finally:
            self._busy.discard(run)

    def _count(self, run: str, product: str, stream: str) -> int:
        """How many pictures the series has; in a thread. Raises RunError and OSError."""
        self._shelf.locate(run, ["products", "index.jsonl"]).close()  # not behind a link
        index = Index(self._shelf.run_dir(run).index)
        index.look()
        count = sum(
            (one.product, one.stream) == (product, stream) and is_picture(one.name)
            for one in index.entries.values()
        )
        if not count:
            raise RunError(f"there is no picture of a product '{printable(product)}'")
        return count

    async def _made(
        self, request: web.Request, run: str, product: str, stream: str
    ) -> web.StreamResponse:
        try:
            held = tempfile.TemporaryDirectory(prefix="burstlens-movie-")
        except OSError as error:
            text = f"the server has no room for a movie: {error.strerror}\n"
            raise web.HTTPServiceUnavailable(text=text) from None
        with held as folder:
            out = Path(folder) / "movie.mp4"
            place = await self._patience.call(run, self._shelf.run_dir, run)
            words = ["movie", f"--stream={stream}", "-o", str(out), "--", str(place.path), product]
            await self._run(request, words)
            try:
                handle = await self._patience.call(run, io.FileIO, out)
            except FileNotFoundError:
                raise web.HTTPInternalServerError(text="no movie came of it\n") from None
        # Its name is gone; the handle holds it until it is sent.
        return HandleResponse(handle, {"Content-Type": "video/mp4", "Cache-Control": "no-store"})

    async def _run(self, request: web.Request, words: list[str]) -> None:
        """Run the program to its end; raises an HTTP error with its last line where it fails."""
        process = await asyncio.create_subprocess_exec(
            "nice", "-n", str(NICE), *self._program, *words,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        ending = asyncio.create_task(process.communicate())
        try:
            async with asyncio.timeout(self._limit_s):
                while not (await asyncio.wait({ending}, timeout=LOOK_S))[0]:
                    if request.transport is None or request.transport.is_closing():
                        raise web.HTTPRequestTimeout
        except TimeoutError:
            raise web.HTTPServiceUnavailable(
                text=f"the movie was not ready after {self._limit_s:.0f} s; on the machine itself "
                "burstlens movie has no limit\n"
            ) from None
        finally:
            if not ending.done():
                with contextlib.suppress(ProcessLookupError):  # ffmpeg is in its session, too
                    os.killpg(process.pid, signal.SIGKILL)
                # One that waits for a file system which hangs does not end at all.
                await asyncio.wait({ending}, timeout=ENDS_S)
        _, errors = ending.result()
        if process.returncode:
            said = errors.decode(errors="replace").strip().splitlines() or ["it says nothing"]
            why = said[-1].removeprefix("burstlens: ").replace(words[3], "the movie")
            why = printable(why.partition("; --out")[0])[:300]
            raise web.HTTPInternalServerError(text=f"{why}\n")
