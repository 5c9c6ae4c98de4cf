"""A way to send word: its kind and its target."""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
from dataclasses import dataclass
from urllib.parse import urlsplit

KINDS = ("run", "mail", "webhook", "desktop")
FORMS = ("mail:ADDRESS", "desktop", "an https:// address", "run:PROGRAM")
_ADDRESS = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,190}")


@dataclass(frozen=True, slots=True)
class Way:
    """One of ``KINDS`` with its target: an address, a URL, a program with its arguments, or
    nothing for the desktop.

    ``of`` is ``recipe`` or a guard's name where the recipe asks for it, so that the user must have
    allowed it; empty for the user's own.
    """

    kind: str
    target: tuple[str, ...] = ()
    of: str = ""
    guard: bool = False

    @property
    def label(self) -> str:
        """Its name in the journal and in alarms. What may hold a key, the path of a URL and a
        program's arguments, is only a checksum there."""
        if self.kind == "mail":
            return f"mail {self.target[0]}"
        if self.kind == "desktop":
            return "desktop"
        check = hashlib.sha256("\0".join(self.target).encode(errors="replace")).hexdigest()[:8]
        plain = urlsplit(self.target[0]).hostname if self.kind == "webhook" else self.target[0]
        return f"{self.kind} {plain} #{check}"

    @property
    def does(self) -> str:
        """What it does, for a plan; of the user's own addresses the host alone."""
        if self.kind == "webhook":
            parts = urlsplit(self.target[0])
            host = f"{parts.scheme}://{parts.hostname}/..."
            return f"post to {self.target[0] if self.of else host}"
        verb = {"run": "run ", "mail": "write to ", "desktop": "show it on the desktop"}[self.kind]
        return verb + " ".join(self.target)

    @property
    def fault(self) -> str:
        """What is wrong with its target; empty if nothing is."""
        first = self.target[0] if self.target else ""
        if self.kind == "mail" and not is_address(first):
            return f"mail: {first!r} is not an address"
        if self.kind == "webhook" and not is_web(first):
            return f"webhook: {first!r} is not an https:// or http:// address"
        return "run: the first word names a program" if self.kind == "run" and not first else ""


def parse_way(text: str) -> Way:
    """The way that ``--notify`` names. Raises ValueError.

    >>> parse_way("mail:me@example.org").label
    'mail me@example.org'
    """
    kind, colon, rest = text.partition(":")
    if text == "desktop":
        return Way("desktop")
    if kind == "mail" and is_address(rest):
        return Way("mail", (rest,))
    if kind in {"https", "http"} and is_web(text):
        return Way("webhook", (text,))
    if kind == "run" and colon:
        words = tuple(shlex.split(rest))  # raises ValueError for an open quote
        if words and words[0]:
            return Way("run", words)
    raise ValueError(f"expected {', '.join(FORMS)}, got {text!r}")


def is_address(text: str) -> bool:
    """Whether it is an address that mail can be sent to, and no option of a program."""
    return _ADDRESS.fullmatch(text) is not None and not text.startswith("-")


def is_web(text: str) -> bool:
    """Whether it is an http or https URL that can be posted to: without a user's name, which no
    request would send, and of characters that a request line may hold."""
    try:
        parts = urlsplit(text)
        parts.port  # noqa: B018  (reading it checks it)
    except ValueError:
        return False
    plain = text.isascii() and text.isprintable() and " " not in text
    return (
        parts.scheme in {"https", "http"}
        and bool(parts.hostname)
        and plain
        and ("@" not in parts.netloc)
    )


def require_here(way: Way) -> None:
    """Raise ValueError for a way that this machine does not have."""
    if way.kind == "desktop" and shutil.which("notify-send") is None:
        others = ", ".join(form for form in FORMS if form != "desktop")
        raise ValueError(f"this machine has no notify-send for the desktop; there are {others}")
