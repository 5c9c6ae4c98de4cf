"""A run as a small card of HTML: how it stands and its newest picture, for a notebook's output."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from burstlens.clients.opened.picture import is_picture
from burstlens.clients.opened.status import facts, is_over, next_steps, reasons
from burstlens.clients.opened.table import text_html, time_label
from burstlens.core.errors import RunError
from burstlens.core.run.index import fullest

if TYPE_CHECKING:
    from burstlens.clients.opened.view import RunView
    from burstlens.core.run.index import Published
    from burstlens.core.run.status_file import RunStatus

LARGEST_BYTES = 400_000
"""Of an embedded picture: a notebook that is shared should stay small."""
WIDTH_PX = 260
# Borders take the text's colour, so that the card suits light and dark.
_BOX = (
    "display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start;max-width:60em;padding:.8em 1em;"
    "border:1px solid color-mix(in srgb,currentColor 25%,transparent);border-radius:6px"
)


def card(run: RunView) -> str:
    """The run as HTML; each text in it is escaped, and nothing in it is fetched or run."""
    try:
        return _card(run, run.read_status())
    except RunError as error:
        return f"<p>{text_html(error)}</p>"
    except Exception as error:  # an invalid status; a cell needs some output
        return f"<p>{text_html(f'{run.id}: its status cannot be shown: {error!r}')}</p>"


def _card(run: RunView, status: RunStatus) -> str:
    # Paths of the machine mean nothing to readers of a notebook that is sent to them.
    hidden = {"pictures", "buffer"} if is_over(status) else {"pictures"}
    rows = "".join(_row(label, text) for label, text in facts(status) if label not in hidden)
    return (
        f'<div style="{_BOX}">'
        f'<div style="flex:1 1 22em"><strong>{text_html(status.title or run.id)}</strong>'
        f"<div>{text_html(run.id)}: {text_html(status.state)}</div>{_trouble(status)}"
        f"<table>{rows}</table></div>{_picture(run, over=is_over(status))}</div>"
    )


def _row(label: str, text: str) -> str:
    return (
        f'<tr><th scope="row" style="text-align:left">{text_html(label)}</th>'
        f'<td style="text-align:left">{text_html(text)}</td></tr>'
    )


def _trouble(status: RunStatus) -> str:
    """Why it ended, what is wrong, and what to do."""
    lines = [*reasons(status), *([status.hint] if status.hint else [])]
    lines += [alarm.text for alarm in status.alarms[-3:]]
    if is_over(status):
        lines += next_steps(status)
    return "".join(f"<div>{text_html(line)}</div>" for line in lines)


def _picture(run: RunView, *, over: bool) -> str:
    """The newest picture; of a run that is over, the newest that is not nearly empty, of a product
    with something in it. Empty where there is none, or it is too large for the card."""
    try:
        picture = run.image()
        newest = picture.entry
        if over:
            series = run.products[newest.product].entries
            first = [one for one in series if one.stream == newest.stream]
            best = fullest(_counting(first), *_others(run, newest.product)) or newest
            picture = run.image(best.product, best.time, best.stream)
        data = picture.data
    except RunError:  # none yet, or gone: the rest of the card is worth showing
        return ""
    if len(data) > LARGEST_BYTES:
        return ""
    but = ", unproven" if picture.entry.unproven else ""
    but += ", stale" if picture.entry.stale else ""
    caption = text_html(f"{picture.entry.product}, {time_label(picture.entry.time)}{but}")
    return (
        f'<figure style="margin:0"><img alt="{caption}" width="{WIDTH_PX}" '
        f'src="data:{picture.type};base64,{base64.b64encode(data).decode("ascii")}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _others(run: RunView, product: str) -> Iterator[list[Published]]:
    """The pictures of all other products, of the newest one's stream each."""
    for name, other in run.products.items():
        pictures = [one for one in other.entries if is_picture(one.name)]
        if name != product and pictures:
            yield _counting([one for one in pictures if one.stream == pictures[-1].stream])


def _counting(entries: Sequence[Published]) -> list[Published]:
    """Those that are not stale."""
    return [entry for entry in entries if not entry.stale]
