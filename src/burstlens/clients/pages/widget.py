"""The live dashboard in a notebook: the page's own module, fed over the kernel's messages."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from burstlens.clients.opened.status import is_over
from burstlens.clients.pages.answers import Answers
from burstlens.clients.pages.card import card
from burstlens.core.decode import convert
from burstlens.core.run.status_file import RunStatus
from burstlens.viz.live.page import module_text

if TYPE_CHECKING:
    from burstlens.clients.opened.view import RunView

WAITING = 256
"""Requests that may wait for an answer; those beyond get an error."""
KEEP_PERIOD_S = 60.0
IDLE_S = 60.0
"""Without a request after which the thread ends; a view asks about twice a second."""


class Dashboard(anywidget.AnyWidget):
    """A run as ``products/index.html`` shows it, live in JupyterLab and kin.

    The view sends requests, and a thread reads and answers: a slow file system does not block the
    kernel, and nothing is read without a view; the thread ends soon after the last view has
    gone, since running a cell again closes nothing. ``kept`` is what a saved notebook shows
    without a kernel; the HTML beside the widget serves where widgets are not shown at all.
    """

    _esm = module_text()
    kept = traitlets.Dict().tag(sync=True)

    def __init__(self, run: RunView, *, allow_stop: bool = False) -> None:
        super().__init__()
        self._run = run
        self._answers = Answers(run, allow_stop=allow_stop)
        self._requests: queue.Queue[dict[str, Any] | None] = queue.Queue(WAITING)
        self._closed = threading.Event()
        self._turn = threading.Lock()
        self._serving = False
        self._kept_at = 0.0
        self._keep()
        self._answer_where_asked()
        self.on_msg(self._heard)

    def close(self) -> None:
        """Close the widget and end its thread, without waiting for what it reads."""
        if self.comm is not None:
            self._closed.set()
            with contextlib.suppress(queue.Full):  # then it has something to wake up for
                self._requests.put_nowait(None)
        super().close()

    def _repr_mimebundle_(self, **how: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        found = super()._repr_mimebundle_(**how)
        if found is None:
            return None
        bundle, metadata = found
        text = f"dashboard of {self._run.id}"
        return {**bundle, "text/plain": text, "text/html": card(self._run)}, metadata

    def _send(self, msg: Any, buffers: Any = None) -> None:
        super()._send(msg, buffers)
        self._answer_where_asked()

    def _answer_where_asked(self) -> None:
        """Let ipykernel take requests in the subshell that JupyterLab sends them to.

        Since 7.4 it takes them in the shell that last used the comm: here the main shell, in which
        they would wait for running cells.
        """
        with contextlib.suppress(AttributeError):
            del self.comm._reply_subshell_id

    def _heard(self, _: object, request: Any, __: object) -> None:
        """In the kernel's own thread: only note what is asked."""
        if not isinstance(request, dict):
            return
        try:
            self._requests.put_nowait(request)
        except queue.Full:
            self.send({"id": request.get("id"), "error": "too much is asked at once"})
            return
        with self._turn:
            if not self._serving:
                self._serving = True
                name = f"dashboard {self._run.id}"
                threading.Thread(target=self._serve, name=name, daemon=True).start()

    def _serve(self) -> None:
        while (request := self._next()) is not None:
            answer, buffers = self._answers.answer(request)
            try:
                self.send({"id": request.get("id"), **answer}, buffers)
            except ValueError as error:  # a text that no message carries, as half a surrogate pair
                self.send({"id": request.get("id"), "error": f"this cannot be sent: {error}"})
            if self._outdated(answer.get("status")):
                self._keep()

    def _next(self) -> dict[str, Any] | None:
        """The next request; None when the thread has to end."""
        try:
            request = self._requests.get(timeout=IDLE_S)
        except queue.Empty:
            with self._turn:  # a request from now on starts another thread
                self._serving = not self._requests.empty()
                request = self._requests.get_nowait() if self._serving else None
        return None if self._closed.is_set() else request

    def _outdated(self, status: dict[str, Any] | None) -> bool:
        """Whether ``kept`` should be renewed, judged by the status that was just sent."""
        if status is None or status.get("run") != self._run.id:
            return False
        end = _end_of(status)
        ended = end is not None and end != _end_of(self.kept.get("status"))
        return ended or time.monotonic() - self._kept_at >= KEEP_PERIOD_S

    def _keep(self) -> None:
        self._kept_at = time.monotonic()
        with contextlib.suppress(Exception):  # on any error it stays as it was
            self.kept = self._answers.kept()


def _end_of(status: dict[str, Any] | None) -> str | None:
    """The state in which the run is over; None while it goes on."""
    found = convert(status, RunStatus) if status else None
    return found.state if found is not None and is_over(found) else None
