"""The application: the answer to each request."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import hashlib
import json
import os
import re
import tempfile
import time
from functools import cache
from importlib.resources import files
from pathlib import Path, PurePath
from urllib.parse import quote

from aiohttp import web

from burstlens.clients.opened.status import read_status
from burstlens.clients.serving import control, headers
from burstlens.clients.serving.access import Access
from burstlens.clients.serving.movie import MovieHandler
from burstlens.clients.serving.patience import Patience
from burstlens.clients.serving.rows import PICTURES
from burstlens.clients.serving.series import SeriesHandler
from burstlens.clients.serving.shelf import Shelf, parts_of
from burstlens.core.decode import record
from burstlens.core.errors import RunError
from burstlens.core.printable import printable

PAGE = ["products", "index.html"]
WAYS: tuple[list[str], ...] = ([], [""], ["products"], ["products", ""])
"""Folders of a run whose address redirects to its page."""
ANY = "/{path:(?s:.*)}"
ROWS_S = 1.0
FOR_EVER = "private, max-age=31536000, immutable"


class Application:
    """Answers requests for the runs on a shelf; with ``allow_stop`` also requests to steer them."""

    def __init__(self, shelf: Shelf, access: Access, *, allow_stop: bool) -> None:
        self.patience = Patience()
        self.series = SeriesHandler(shelf)
        self._movies = MovieHandler(shelf, self.patience)
        self._shelf = shelf
        self._allow_stop = allow_stop
        self._rows = "[]"
        self._rows_due = 0.0
        self._rows_lock = asyncio.Lock()
        self._folder = access.folder
        self.web = web.Application(middlewares=[access.check], client_max_size=control.BODY_BYTES)
        self.web.on_response_prepare.append(headers.add_always)
        _read_once()
        _page_text(), _list_text()  # from now on no request reads the package's own files
        self.web.router.add_get(f"{access.folder}/", self._list)
        self.web.router.add_get(f"{access.folder}/runs.json", self._runs)
        self.web.router.add_get(f"{access.folder}{ANY}", self._file)
        self.web.router.add_post(f"{access.folder}{ANY}", self._control)

    async def _list(self, request: web.Request) -> web.StreamResponse:
        if self._shelf.only is not None:
            return _see(f"./{_page_of(self._shelf.only)}")
        return headers.html(_list_text())

    async def _runs(self, request: web.Request) -> web.StreamResponse:
        async with self._rows_lock:  # many pages ask, one call reads
            if time.monotonic() >= self._rows_due:
                begin = time.monotonic()
                self._rows = _text(await self.patience.call("", self._shelf.rows))
                # A folder of thousands of runs on a slow disk: a tenth of the time at most.
                took = time.monotonic() - begin
                self._rows_due = begin + max(ROWS_S, took * (10 if self._shelf.complete else 1))
        response = _json_text(self._rows)
        # A list of a thousand runs is sent only when it has changed.
        response.etag = tag = hashlib.sha256(self._rows.encode()).hexdigest()[:32]
        response.headers["Cache-Control"] = "private, no-cache"
        if any(known.value == tag for known in request.if_none_match or ()):
            return web.Response(status=304, headers={"ETag": f'"{tag}"'})
        response.enable_compression()
        return response

    def _parts(self, request: web.Request) -> tuple[str, ...] | None:
        return parts_of(request.rel_url.raw_path.removeprefix(self._folder))

    async def _file(self, request: web.Request) -> web.StreamResponse:
        parts = self._parts(request)
        if parts is None:
            raise web.HTTPNotFound
        run, *rest = parts
        try:
            if rest == ["status.json"]:
                return await self._status(run)
            if rest == ["series"]:
                return await self.series.answer(request, run)
            if rest == ["movie"]:
                return await self._movies.answer(request, run)
            if rest in (*WAYS, PAGE):
                await self.patience.call(run, self._shelf.run_dir, run)
                if rest == PAGE:
                    return headers.html(_page_text())
                return _see(f"{'../' * len(rest)}{_page_of(run)}")
            return await self._send(request, run, rest)
        except RunError as error:
            raise web.HTTPNotFound(text=f"{error}\n") from None
        except OSError as error:
            if error.errno in (None, errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
                raise web.HTTPNotFound from None
            if error.errno in (errno.EACCES, errno.EPERM):
                raise web.HTTPForbidden(text="the server may not read this file\n") from None
            raise web.HTTPServiceUnavailable(text=f"{error.strerror}\n") from None

    async def _status(self, run: str) -> web.StreamResponse:
        response = _json(record(await self.patience.call(run, self._shelf.status, run)))
        response.headers["Burstlens-Serve"] = "stop" if self._allow_stop else "read"
        return response

    async def _send(self, request: web.Request, run: str, rest: list[str]) -> web.StreamResponse:
        handle = await self.patience.call(run, self._shelf.locate, run, rest)
        kind = headers.of_file(PurePath(rest[-1]), log=rest[0] == "logs")
        response = headers.HandleResponse(handle, kind)
        if rest[-1].endswith(PICTURES) and request.query_string.isdigit():  # its checksum
            response.headers["Cache-Control"] = FOR_EVER
        if rest[-1].endswith(".jsonl") and "Range" not in request.headers:
            response.enable_compression()
        return response

    async def _control(self, request: web.Request) -> web.StreamResponse:
        parts = self._parts(request)
        if parts is None or len(parts) != 2 or parts[1] != "control":
            raise web.HTTPNotFound
        try:
            if not self._allow_stop:
                raise control.RefusedError(
                    403, "this server only shows runs; burstlens serve --allow-stop also stops them"
                )
            ask = await control.asked(request)
            await self.patience.call(parts[0], control.grant, self._shelf, parts[0], ask)
        except control.RefusedError as refused:
            return _json({"error": str(refused)}, status=refused.status)
        except (FileNotFoundError, NotADirectoryError):
            return _json({"error": f"there is no run {printable(parts[0])} here"}, status=404)
        except (OSError, RunError) as error:
            return _json({"error": f"the run cannot be read: {error}"}, status=503)
        return _json({"ask": ask})


def _read_once() -> None:
    """Read a status in this thread alone: several first reads at once ended the process
    (SIGSEGV) in 6 of 21 starts, one read before them in none. Decoders that are prepared at their
    first use are the likely cause."""
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(OSError, RunError):
        for name in ("run.json", "status.json", "start.json"):
            (Path(folder) / name).write_text("{}")
        read_status(folder, confirm_s=0.0)


def _json(value: object, *, status: int = 200) -> web.Response:
    response = _json_text(_text(value), status)
    response.enable_compression()
    return response


def _json_text(text: str, status: int = 200) -> web.Response:
    headers = {"Cache-Control": "no-store"}
    return web.Response(text=text, status=status, content_type="application/json", headers=headers)


def _text(value: object) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:  # a field that blew up: JSON.parse does not accept NaN
        return json.dumps(json.loads(json.dumps(value), parse_constant=lambda _: None))


def _see(place: str) -> web.Response:
    return web.Response(status=303, headers={"Location": place})


def _page_of(run: str) -> str:
    return f"{quote(os.fsencode(run))}/{'/'.join(PAGE)}"


@cache
def _page_text() -> str:
    """The package's own page, also for runs of an older version."""
    from burstlens.viz.live.page import page_text

    return page_text()


@cache
def _list_text() -> str:
    folder = files("burstlens.clients.serving")
    page, style, *scripts = (
        folder.joinpath(name).read_text(encoding="utf-8")
        for name in ("runs.html", "runs.css", "runs_card.js", "runs.js")
    )
    script = re.sub(r"^(import .*;\n|export )", "", "".join(scripts), flags=re.MULTILINE)
    return page.replace("@STYLE@", style).replace("@SCRIPT@", script)
