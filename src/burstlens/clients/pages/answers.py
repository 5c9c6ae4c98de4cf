"""What a run's dashboard asks of the kernel, and the answers: JSON objects and pictures' bytes."""

from __future__ import annotations

import contextlib
import json
import os
import time
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from burstlens.clients.opened.asked import Asked, Memory
from burstlens.clients.opened.picture import is_picture, picture_type, read_picture
from burstlens.clients.opened.pictured import Pictured
from burstlens.clients.opened.steering import stop_refused
from burstlens.clients.opened.view import RunView
from burstlens.core.decode import record
from burstlens.core.durable import open_regular
from burstlens.core.errors import BurstlensError, RunError
from burstlens.core.run.directory import all_runs
from burstlens.core.run.follow import Line, read_stretch
from burstlens.core.run.index import grid_path, product_path, published, values_path
from burstlens.viz.live.feed import ABOUT
from burstlens.viz.values.lookup import Grid
from burstlens.viz.values.script import read_payload

STATUS_PERIOD_S = 0.5
BATCH_BYTES = 500_000
"""Of the index in one answer: a long run needs several at first."""
LOG_BYTES = 1 << 20
"""Of a log in one answer."""
SERIES_S = 0.15
"""Of a series in one answer: the next poll must not wait for it."""
KEPT_BYTES = 400_000
"""Of a picture that is kept with the notebook."""
KEPT_PICTURES = 4

Answer = tuple[dict[str, Any], list[bytes]]


class Answers:
    """Answers requests about a run, and about the neighbours that it is compared with.

    A request is ``{ask, run, ...}``, where ``run`` is a neighbour's id or None:

    * ``poll`` with ``offset`` and ``stamp`` of the answer before: ``status`` (None when it is the
      same), ``stamp``, ``lines`` of the index, ``offset``, ``fresh``, ``more``, ``may_stop``
    * ``image`` with the ``name`` of an index line: ``type``, and the bytes
    * ``values`` with the ``name`` of a picture: the payload of its values
    * ``grid`` with a ``hash``: ``grid``, what its file holds
    * ``log`` with its ``name``, ``begin`` and ``length`` in bytes: ``size``, and the bytes from
      ``begin``; below 0 it counts from the end
    * ``about``: the texts of ``recipe.toml`` and ``run.json`` under their names
    * ``series`` with what :class:`.Asked` takes: ``series``, its heading, ``rows``, the newest
      first, and ``more``: then it is asked again with ``before``, the time of the last row
    * ``others``: ``runs`` in the same folder
    * ``control`` with ``what``, ``stop`` or ``stop-now``
    """

    def __init__(self, run: RunView, *, allow_stop: bool) -> None:
        self._run = run
        self._allow_stop = allow_stop
        self._memory = Memory()
        self._statuses: dict[str, tuple[float, dict[str, Any], int]] = {}
        self._asks: dict[str, Callable[[RunView, Mapping[str, Any]], Answer]] = {
            "poll": self._poll, "image": self._image, "values": self._values, "grid": self._grid,
            "log": _log, "about": _about, "series": self._series, "others": self._others,
            "control": self._control,
        }  # fmt: skip

    def answer(self, request: Mapping[str, Any]) -> Answer:
        """The answer; ``{error}`` with a sentence for people when it cannot be given."""
        try:
            return self._asks[request["ask"]](self._named(request.get("run")), request)
        except BurstlensError as error:
            return {"error": str(error)}, []
        except OSError as error:
            return {"error": f"cannot read {error.filename}: {error.strerror}"}, []
        except Exception as error:  # any content of another user's files: the view asks again
            return {"error": f"this cannot be answered: {error!r}"}, []

    def kept(self) -> dict[str, Any]:
        """What a saved notebook keeps: the status and each product's newest picture."""
        newest: dict[str, Line] = {}
        pictures: dict[str, bytes] = {}
        for view in self._run.products.values():
            if not view.entries or not is_picture(view.entries[-1].name):
                continue
            with contextlib.suppress(RunError):  # a missing one does not hide the others
                picture = view.image()
                data = picture.data
                if len(data) <= KEPT_BYTES and len(pictures) < KEPT_PICTURES:
                    pictures[picture.entry.name] = data
                    newest[view.name] = picture.entry.line
        status, _ = self._status(self._run)
        return {"status": status, "lines": list(newest.values()), "pictures": pictures}

    def _named(self, name: object) -> RunView:
        if name is None or name == self._run.id:
            return self._run
        for run in all_runs(self._run.directory.path.parent):
            if run.id == name:  # only one of these: the name is not a path
                return RunView(run)
        raise RunError(f"there is no run {name!r} beside this one")

    def _status(self, run: RunView) -> tuple[dict[str, Any], int]:
        at, status, stamp = self._statuses.get(run.id, (-STATUS_PERIOD_S, {}, 0))
        now = time.monotonic()
        if now - at >= STATUS_PERIOD_S:
            status = record(run.read_status())
            stamp = zlib.crc32(json.dumps(status, sort_keys=True, default=str).encode())
            self._statuses[run.id] = (now, status, stamp)
        return status, stamp

    def _poll(self, run: RunView, request: Mapping[str, Any]) -> Answer:
        status, stamp = self._status(run)
        found = read_stretch(run.directory.index, int(request["offset"]), limit=BATCH_BYTES)
        return {
            "status": None if request.get("stamp") == stamp else status,
            "stamp": stamp,
            "lines": [line for line in found.lines if published(line) is not None],
            "offset": found.offset,
            "fresh": found.fresh,
            "more": found.more,
            "may_stop": self._allow_stop and run is self._run,
        }, []

    def _image(self, run: RunView, request: Mapping[str, Any]) -> Answer:
        name = request["name"]
        if not is_picture(name):
            raise RunError(f"{name} is not a picture")
        path = product_path(run.directory.products, name)
        return {"type": picture_type(path)}, [read_picture(path)]

    def _values(self, run: RunView, request: Mapping[str, Any]) -> Answer:
        name = values_path(Path(request["name"])).as_posix()
        return {}, [read_payload(product_path(run.directory.products, name))]

    def _grid(self, run: RunView, request: Mapping[str, Any]) -> Answer:
        products = run.directory.products
        name = grid_path(products, str(request["hash"])).relative_to(products).as_posix()
        return {"grid": Grid.read(product_path(products, name)).facts}, []

    def _series(self, run: RunView, request: Mapping[str, Any]) -> Answer:
        asked, rows, more = Asked(request), list[Any](), False
        pictured = self._memory.pictured(Pictured(run.directory, asked.product))
        end = time.monotonic() + SERIES_S
        for piece, left in asked.pieces(pictured, self._memory):
            rows, more = rows + piece, left > 0
            if time.monotonic() >= end:
                break
        return {"series": rows[0], "rows": rows[1:], "more": more}, []

    def _others(self, run: RunView, _: Mapping[str, Any]) -> Answer:
        rows = []
        for found in all_runs(run.directory.path.parent):
            with contextlib.suppress(Exception):  # an unreadable one does not hide the others
                status = (run if found.id == run.id else RunView(found)).read_status()
                row = {"run": found.id, "title": status.title, "state": status.state}
                rows.append({**row, "frames": status.frames.ready})
        return {"runs": rows}, []

    def _control(self, run: RunView, request: Mapping[str, Any]) -> Answer:
        if not self._allow_stop or run is not self._run:
            raise RunError(f"{run.id} is shown read-only: dashboard(allow_stop=True) lets it stop")
        what = request["what"]
        if what == "pause":
            run.pause()
        elif what == "resume-watching":
            run.resume_watching()
        elif what not in ("stop", "stop-now"):
            raise RunError(f"unknown request {what!r}")
        elif (reason := stop_refused(run.id, run.read_status())) is not None:
            raise RunError(reason)
        else:
            run.stop(now=what == "stop-now")
        return {}, []


def _log(run: RunView, request: Mapping[str, Any]) -> Answer:
    folder = run.directory.logs
    path = folder / str(request["name"])
    try:
        if not path.resolve(strict=True).is_relative_to(folder.resolve()):
            raise RunError(f"{request['name']!r} leads out of {folder}")
    except ValueError as error:  # a NUL byte
        raise RunError(f"{request['name']!r} is not a log") from error
    with open_regular(path, follow=False) as stream:
        size = os.fstat(stream.fileno()).st_size
        begin = int(request["begin"])
        begin = max(0, begin if begin >= 0 else size + begin)
        length = max(0, min(int(request["length"]), LOG_BYTES))
        return {"size": size, "begin": begin}, [os.pread(stream.fileno(), length, begin)]


def _about(run: RunView, _: Mapping[str, Any]) -> Answer:
    texts = {}
    for name in ABOUT:
        with contextlib.suppress(FileNotFoundError):
            texts[name] = (run.directory.path / name).read_text("utf-8", "replace")
    return {"texts": texts}, []
