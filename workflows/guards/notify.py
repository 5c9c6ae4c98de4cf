"""Notifies users and programs of a trip: by a command, mail or webhook.

Each is sent by a thread of its own where the driver runs, with a time limit, and none blocks the
driver. A recipe may come from another user, so each way must be allowed in
``~/.config/burstlens/config.toml``::

    [guards]
    allow = ["run", "mail", "webhook"]
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping
from email.message import EmailMessage
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any

from burstlens.core.durable import make_folders
from burstlens.core.errors import RecipeError
from burstlens.core.printable import printable
from burstlens.core.run.directory import RunDir
from burstlens.core.user_config import config_path, section
from burstlens.workflows.guards.finding import Trip
from burstlens.workflows.guards.guard import Guard

WAYS = ("run", "mail", "webhook")
COMMAND_S = 60.0
MAIL_S = 30.0
WEBHOOK_S = 10.0
LAST_S = 5.0
"""How long the end of a run waits for notifications that are still being sent."""
SENDMAIL = ("/usr/sbin/sendmail", "/usr/lib/sendmail")


def allowed() -> frozenset[str]:
    """The ways that the user's configuration allows. Raises RecipeError for a faulty one."""
    table = section("guards")
    ways = table.get("allow", []) if isinstance(table, Mapping) else None
    if not isinstance(ways, list) or not set(map(str, ways)) <= set(WAYS):
        raise RecipeError(f"{config_path()}: guards.allow is a list of {', '.join(WAYS)}")
    return frozenset(map(str, ways))


def forbidden(guard: Guard, ways: frozenset[str]) -> dict[str, str]:
    """What a guard would do that the user has not allowed: a text for each way."""
    does = {
        "run": ("run", " ".join(guard.run)),
        "mail": ("write to", guard.mail),
        "webhook": ("post to", guard.webhook),
    }
    return {way: f"{verb} {what}" for way, (verb, what) in does.items() if what and way not in ways}


class Notifier:
    """Sends the notifications of trips; :meth:`look` passes those that failed to ``alarm``."""

    def __init__(self, run: RunDir, title: str, alarm: Callable[[str], None]) -> None:
        self._run, self._title, self._alarm = run, title, alarm
        self._failed: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._children: set[subprocess.Popen[bytes]] = set()

    def notify(self, guard: Guard, trip: Trip) -> None:
        """Send in every way that the guard requests and the user allows."""
        ways: dict[str, Callable[[dict[str, Any]], None]] = {}
        if guard.run:
            ways["run"] = lambda facts: self._command(guard, facts)
        if guard.mail:
            ways["mail"] = lambda facts: self._mail(str(guard.mail), facts)
        if guard.webhook:
            ways["webhook"] = lambda facts: _post(str(guard.webhook), facts)
        if not ways:
            return
        try:
            refused = forbidden(guard, allowed())
        except RecipeError as error:
            self._alarm(f'guard "{guard.called}": {error}')
            return
        facts = self._facts(trip)
        for way, send in ways.items():
            if way in refused:
                self._alarm(
                    f'guard "{guard.called}" may not {refused[way]}: '
                    f'allow "{way}" in {config_path()}'
                )
                continue
            thread = threading.Thread(
                target=self._send, args=(guard.called, way, send, facts), daemon=True
            )
            self._threads.append(thread)
            thread.start()

    def look(self) -> None:
        """Raise an alarm for each notification that has failed since the previous look."""
        while not self._failed.empty():
            self._alarm(self._failed.get())

    def close(self) -> None:
        """Wait a moment for what is still being sent, then end it."""
        end = time.monotonic() + LAST_S
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        for child in list(self._children):
            _kill(child)
        for thread in self._threads:
            thread.join(1.0)
        left = sum(thread.is_alive() for thread in self._threads)
        self.look()
        if left:
            self._alarm(f"{left} notifications were given up at the end of the run")

    def _facts(self, trip: Trip) -> dict[str, Any]:
        return {
            "text": f"{self._title} ({self._run.id}): {trip.sentence}",
            "run": self._run.id,
            "title": self._title,
            "path": str(self._run.path),
            **{key: value for key, value in trip.status().items() if key != "text"},
            "what_happened": trip.text,
        }

    def _send(
        self, guard: str, way: str, send: Callable[[dict[str, Any]], None], facts: dict[str, Any]
    ) -> None:
        try:
            send(facts)
        except (OSError, ValueError, HTTPException, subprocess.SubprocessError) as error:
            self._failed.put(f'guard "{guard}": {way} failed: {printable(str(error))}')

    def _command(self, guard: Guard, facts: dict[str, Any]) -> None:
        """Run the guard's program, with the facts as JSON on its standard input and the plain ones
        also in its environment; its output is kept among the logs."""
        plain = {
            f"BURSTLENS_{key.upper()}": str(value)
            for key, value in facts.items()
            if isinstance(value, str | int | float)
        }
        log = self._run.logs / "guards" / f"{guard.called}.log"
        make_folders(log.parent, below=self._run.path)
        with log.open("ab") as output:
            self._child(
                list(guard.run), json.dumps(facts) + "\n", COMMAND_S, os.environ | plain, output
            )

    def _mail(self, address: str, facts: dict[str, Any]) -> None:
        program = shutil.which("sendmail") or next(
            (path for path in SENDMAIL if Path(path).exists()), None
        )
        if program is None:
            raise OSError("there is no sendmail on this machine")
        message = EmailMessage()
        message["To"] = address
        message["Subject"] = f"Burstlens: {facts['run']}: guard {facts['guard']}"
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(
            f"{facts['text']}\n\nburstlens status {facts['run']}\n{facts['path']}\n"
        )
        # Only to this address: sendmail takes no recipients from the text.
        self._child([program, "-i", "--", address], message.as_string(), MAIL_S)

    def _child(
        self,
        command: list[str],
        text: str,
        limit_s: float,
        environment: Mapping[str, str] | None = None,
        output: int | IO[bytes] = subprocess.DEVNULL,
    ) -> None:
        """Run a program to its end in its own process group. Raises OSError and SubprocessError."""
        with subprocess.Popen(
            command,
            cwd=self._run.path,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as child:
            self._children.add(child)
            try:
                child.communicate(text.encode(), timeout=limit_s)
            except subprocess.TimeoutExpired:
                raise OSError(f"{command[0]} took longer than {limit_s:g} s") from None
            finally:
                _kill(child)
                self._children.discard(child)
        if child.returncode:
            raise OSError(f"{command[0]} ended with exit code {child.returncode}")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an error: facts are sent only to the address in the recipe."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _post(url: str, facts: dict[str, Any]) -> None:
    """POST the facts as JSON. Raises OSError."""
    request = urllib.request.Request(  # noqa: S310  (the recipe's check passes only http(s))
        url,
        data=json.dumps(facts).encode(),
        headers={"Content-Type": "application/json", "User-Agent": "Burstlens"},
        method="POST",
    )
    with urllib.request.build_opener(_NoRedirect).open(request, timeout=WEBHOOK_S):
        return


def _kill(child: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
