"""Delivery: one word in one way, in a thread of its own, with further tries where they may help."""

from __future__ import annotations

import contextlib
import hashlib
import json
import subprocess
import threading
import urllib.request
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from pathlib import Path
from smtplib import SMTPRecipientsRefused
from typing import Any
from urllib.parse import urlsplit

from burstlens.core.errors import RecipeError
from burstlens.core.printable import printable
from burstlens.core.redaction import redacted
from burstlens.core.run.directory import RunDir
from burstlens.core.run.served import link_to
from burstlens.workflows.notify import mail, programs
from burstlens.workflows.notify.options import settings
from burstlens.workflows.notify.picture import Picture, newest_picture
from burstlens.workflows.notify.programs import Children
from burstlens.workflows.notify.way import Way
from burstlens.workflows.notify.word import Word

WEBHOOK_S = 10.0
MOST_BYTES = 2 << 20
"""Bytes of the largest picture in a post; base64 makes a third more of it."""
PAUSES_S = (1.0, 4.0)
"""Pauses before further tries of a server that may answer later."""
_PASSING = frozenset({421, 425, 429, 450, 451, 452, 500, 502, 503, 504})
"""Answers of mail and web servers after which another try may succeed."""
_FAILURES = (OSError, ValueError, HTTPException, subprocess.SubprocessError, RecipeError)


class Delivery:
    """Delivers the word of one run. All methods may be called in any thread."""

    def __init__(self, run: RunDir, title: str, products: Sequence[str]) -> None:
        self._run, self._title, self._products = run, title, products
        self._children = Children()
        self._closing = threading.Event()

    def tried(self, word: Word, way: Way) -> str:
        """Deliver a word; returns why that has failed, or nothing."""
        for pause in (*PAUSES_S, None):
            try:
                self._deliver(word, way)
            except _FAILURES as error:
                if pause is None or not _is_passing(error) or self._closing.wait(pause):
                    return printable(redacted(mail.failure_text(error), _secrets(way)))
            except Exception as error:  # a defect must not pass for a receiver that hangs
                return printable(f"{type(error).__name__}, a defect of Burstlens")
            else:
                break
        return ""

    def end(self) -> None:
        """End the programs that run, and try nothing again."""
        self._closing.set()
        self._children.kill()

    def _deliver(self, word: Word, way: Way) -> None:
        facts = word.value(self._run, self._title)
        # A recipe may come from another user: only the user's own ways get the server's token, and
        # of these not a note on the desktop, whose text every user sees in the list of processes.
        facts["link"] = link_to(self._run, token=not way.of and way.kind != "desktop")
        picture = newest_picture(self._run, self._products, over="done" in word.kinds)
        if way.kind == "webhook":
            _post(way.target[0], facts, picture, self._mark(word, way))
            return
        if way.kind == "mail":
            message = mail.message_of(facts, word.subject, picture, self._mark(word, way))
            mail.send_mail(self._children, self._run.path, message, way.target[0], settings())
            return
        if picture is not None:
            facts["picture"] = str(picture.path)
        if way.kind == "desktop":
            programs.show_on_desktop(self._children, self._run, facts)
        else:
            programs.run_command(self._children, self._run, way.target, facts, self._log(way))

    def _mark(self, word: Word, way: Way) -> str:
        """The same for each try of the word in that way, also by a later driver."""
        created = self._run.facts.stat().st_mtime_ns
        text = f"{self._run.path}\0{created}\0{word.key}\0{way.label}"
        return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:32]

    def _log(self, way: Way) -> Path:
        logs = self._run.logs
        return logs / "guards" / f"{way.of}.log" if way.guard else logs / "notify.log"


def _secrets(way: Way) -> tuple[str, ...]:
    """What no record of a failure may hold."""
    if way.kind == "mail":
        with contextlib.suppress(RecipeError, OSError):
            return tuple(filter(None, [settings().smtp_password]))
    if way.kind != "webhook":
        return ()
    parts = urlsplit(way.target[0])  # an error may quote a part of the address alone
    return (*way.target, *(one for one in (parts.path, parts.query) if len(one) > 1))


def _is_passing(error: Exception) -> bool:
    """Whether another try may succeed and nothing was taken yet: no connection, or an answer that
    says so. A connection that breaks off later may have brought the word."""
    if isinstance(error, SMTPRecipientsRefused):
        return all(code in _PASSING for code, _ in error.recipients.values())
    code = getattr(error, "code", None) or getattr(error, "smtp_code", None)
    if code is not None:
        return code in _PASSING
    return isinstance(getattr(error, "reason", error), ConnectionRefusedError)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an error: facts are sent only to the address that was given."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _post(url: str, facts: Mapping[str, Any], picture: Picture | None, mark: str) -> None:
    """POST the facts as JSON; ``mark`` is the same each time that this word is sent there. Raises
    OSError, HTTPException, ValueError."""
    shown = {} if picture is None else {"picture": picture.value(MOST_BYTES)}
    request = urllib.request.Request(  # noqa: S310  (ways are http or https)
        url,
        data=json.dumps({**facts, **shown}).encode(),
        headers={
            "Content-Type": "application/json",
            "User-Agent": "Burstlens",
            "Idempotency-Key": mark,
        },
        method="POST",
    )
    with urllib.request.build_opener(_NoRedirect).open(request, timeout=WEBHOOK_S):
        return
