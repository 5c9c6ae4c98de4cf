"""Requests that this process makes of its run, held until the run directory takes them.

A full disk, or a file server that is away, refuses a file in ``control/``. The request is then kept
here: within this process :meth:`RunDir.stop_requested` has it at once, and the loop of the process
tries to write it again and again. Signals are noted here too, by handlers that do nothing else.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from burstlens.core.errors import RunError

STOPS = ("stop-now", "stop")
"""The requests to stop; the first is the stronger one."""
PRESSED_S = 20.0
"""How long after a second Ctrl-C the run directory may refuse the request before the process ends
without having written it."""


class RequestPlace(Protocol):
    """What takes requests: :class:`burstlens.core.run.directory.RunDir`, which imports this."""

    @property
    def path(self) -> Path: ...
    @property
    def id(self) -> str: ...
    @property
    def control(self) -> Path: ...
    def has_request(self, name: str) -> bool: ...
    def stop_requested(self) -> str | None: ...
    def request(
        self, name: str, reason: Mapping[str, Any] | None = None, *, fill: bool = False
    ) -> None: ...


DirectSender = Callable[[str, Mapping[str, Any] | None], bool]


class RunRequests:
    """The requests of one process to one run. All but :meth:`note_signal` is for one thread."""

    def __init__(self, run: RequestPlace) -> None:
        self._run = run
        self.held: dict[str, Mapping[str, Any] | None] = {}
        """What could not be written yet, with its reason."""
        self.reason: dict[str, Any] = {}
        """Why this process asked for the run's first stop; empty where a person did."""
        self.send_directly: DirectSender = lambda name, reason: False
        """Passes a request to the model's supervisor without the run directory, where it can."""
        self.report_failure: Callable[[str], None] = lambda text: None
        """Reports, once per request, that it could not be written."""
        self._signals: list[int] = []
        self._partly_written: set[str] = set()
        self._reported_failures: set[str] = set()
        self._pressed_at: float | None = None

    def note_signal(self, number: int, _frame: object = None) -> None:
        """Note a signal. A signal handler: it does nothing else, so that it disturbs nothing."""
        self._signals.append(number)

    @property
    def stop(self) -> str | None:
        """The stop that was asked for by a signal, or that could not be written yet."""
        signals = list(self._signals)
        if "stop-now" in self.held or signal.SIGTERM in signals or len(signals) > 1:
            return "stop-now"
        if signals:
            return "stop-now" if "stop" in self.held else "stop"
        return "stop" if "stop" in self.held else None

    def make_request(self, name: str, reason: Mapping[str, Any] | None = None) -> bool:
        """Make a request, now or as soon as it can be written. Returns whether it is written.
        ``reason`` is as in :meth:`RunDir.request`."""
        earlier = self._run.stop_requested()
        if name in STOPS and reason is not None and earlier in ("stop-now", name):
            return name not in self.held  # the stop exists already; a guard may only quicken it
        if name in STOPS and earlier is None:
            self.reason = dict(reason or {})
        self.held[name] = reason
        return self._write(name)

    def write_held(self, now: float) -> None:
        """Turn signals into requests, and try again what is held. Each turn of a loop calls it.
        Raises RunError when a second Ctrl-C has waited ``PRESSED_S`` for the run directory."""
        numbers = list(self._signals)
        del self._signals[: len(numbers)]  # one that comes meanwhile stays
        for number in numbers:
            again = number == signal.SIGTERM or self._run.stop_requested() is not None
            _warn("%s: the run is to stop%s", signal.Signals(number).name, " now" * again)
            self.make_request("stop-now" if again else "stop")
            if again and self._pressed_at is None:
                self._pressed_at = now
        for name in list(self.held):
            self._write(name)
        pressed = self._pressed_at
        if pressed is not None and "stop-now" in self.held and now - pressed > PRESSED_S:
            raise RunError(
                f"the request to stop cannot be written to {self._run.control}; this driver ends; "
                f"when it can be again: burstlens resume {self._run.id}"
            )

    def _write(self, name: str) -> bool:
        reason = self.held[name]
        new = name in STOPS and not self._run.has_request(name)
        try:
            self._run.request(name, reason, fill=name in self._partly_written)
        except RunError as error:
            if new and self._run.has_request(name):
                self._partly_written.add(name)  # it exists, and the disk has not taken its reason
            was_sent = self.send_directly(name, reason)
            if name not in self._reported_failures:
                self._reported_failures.add(name)
                how = "; the model's supervisor was told directly" if was_sent else ""
                _warn("%s%s", error, how)
                self.report_failure(f"{error}; it is tried again{how}")
            return False
        del self.held[name]
        self._partly_written.discard(name)
        self._reported_failures.discard(name)
        return True

    def forget(self) -> None:
        """Forget all requests, as when an attempt begins that they do not concern."""
        self.held.clear()
        self._partly_written.clear()
        self._reported_failures.clear()
        self.reason, self._pressed_at = {}, None


_requests: dict[Path, RunRequests] = {}


def requests_of(run: RequestPlace) -> RunRequests:
    """The requests of this process to that run."""
    return _requests.setdefault(run.path, RunRequests(run))


def find_requests(path: Path) -> RunRequests | None:
    """The same by the run directory's path; None where this process has made no request."""
    return _requests.get(path)


@contextlib.contextmanager
def catch_signals(run: RequestPlace) -> Iterator[RunRequests]:
    """For a while, SIGINT asks the run to stop, a second one and SIGTERM to stop at once; SIGHUP
    is ignored. The loop's :meth:`RunRequests.write_held` writes the requests."""
    requests = requests_of(run)
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, requests.note_signal),
        signal.SIGTERM: signal.signal(signal.SIGTERM, requests.note_signal),
        signal.SIGHUP: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    }
    try:
        yield requests
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _requests.pop(run.path, None)


def _warn(text: str, *values: object) -> None:
    import logging  # here: `list` and `status` do without it

    logging.getLogger(__name__).warning(text, *values)
