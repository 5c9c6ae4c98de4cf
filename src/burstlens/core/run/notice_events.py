"""The events of the journal about word to people and programs."""

from __future__ import annotations

from typing import Any

from msgspec import field

from burstlens.core.run.event import Event


class _Notice(Event, frozen=True):
    key: str


class NoticeDue(_Notice, frozen=True, tag="notice.due", omit_defaults=True):
    """Word is to be sent, in these ways (their labels); ``time`` is the valid time of a word at a
    model time. Each way has its own notice.sent or notice.failed."""

    kinds: list[str]
    text: str
    ways: list[str]
    subject: str = ""
    time: str | None = None
    more: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)


class NoticeSent(_Notice, frozen=True, tag="notice.sent"):
    """The word was sent in that way."""

    way: str


class NoticeFailed(_Notice, frozen=True, tag="notice.failed"):
    """The word could not be sent in that way, and is not sent in it again."""

    way: str
    reason: str | None = None
