"""Tables in a notebook: escaped, plain HTML that takes the notebook's own colours."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from burstlens.core import valid_time
from burstlens.core.printable import printable

LONG = 32
"""Characters of a cell beyond which it may be broken into lines."""


def html_table(heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str) -> str:
    """A table of texts. Each text is escaped: it may come from another user's file."""
    head = "".join(f'<th scope="col" style="text-align:left">{text_html(it)}</th>' for it in heads)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return (
        f'<table><caption style="text-align:left">{text_html(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cell(text: str) -> str:
    wrap = "normal" if len(text) > LONG else "nowrap"
    return f'<td style="text-align:left;white-space:{wrap}">{text_html(text)}</td>'


def text_html(text: object) -> str:
    """A text on one line, without control characters, as HTML.

    >>> text_html("<b>W & T2</b>")
    '&lt;b&gt;W &amp; T2&lt;/b&gt;'
    """
    return html.escape(printable(str(text)))


def clock_time(seconds: float | None) -> str:
    """Unix seconds as date and time of day in UTC, the same on every machine.

    >>> clock_time(0.0)
    '1970-01-01 00:00:00'
    """
    if seconds is None:
        return ""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError, OSError):
        return ""


def time_label(key: str) -> str:
    """A valid-time key as people write it; other text unchanged."""
    try:
        return valid_time.label(key)
    except ValueError:
        return key
