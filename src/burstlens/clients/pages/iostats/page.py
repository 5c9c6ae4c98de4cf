"""One or two logs of I/O as a page: advice, numbers, plots, files. It loads nothing.

Names in logs may be another user's: jinja2 escapes what the template prints, and control characters
are dropped.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from burstlens.clients.pages.iostats import shown
from burstlens.clients.pages.iostats.plots import plots
from burstlens.core.durable import write_whole
from burstlens.core.errors import IOLogError
from burstlens.core.printable import printable
from burstlens.core.quantity import counted
from burstlens.core.version import __version__
from burstlens.workflows.iostats.advice import advise, streams
from burstlens.workflows.iostats.comparison import advise_on_change, compare, verdict
from burstlens.workflows.iostats.summary import Summary

MOST_ROWS = 40


def write_page(summaries: Sequence[Summary], out: Path) -> None:
    """Write the page of one or two logs as exactly ``out``. Raises IOLogError; then no file is
    left."""
    first, *others = summaries
    names = [Path(it.log).name for it in summaries]
    text = _templates().get_template("iostats.html").render(
        title=" and ".join(names), logs=[_log(it) for it in summaries],
        rows=[shown.row_texts(row) for row in compare(first, others[0])] if others else [],
        verdict=verdict(first, others[0]) if others else "",
        change=advise_on_change(first, others[0]) if others else [],
        plots=plots(summaries), file_heads=shown.FILE_HEADS, layer_heads=shown.LAYER_HEADS,
        now=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), version=__version__,
    )  # fmt: skip
    try:
        write_whole(out, text, sync=False)
    except OSError as error:
        raise IOLogError(f"cannot write {out}: {error.strerror}") from error


def _log(summary: Summary) -> dict[str, Any]:
    found = streams(summary.files)
    return {
        "summary": summary,
        "name": Path(summary.log).name,
        "heading": shown.heading(summary),
        "advice": advise(summary),
        "quantities": shown.quantities(summary),
        "layers": shown.layer_rows(summary),
        "files": shown.file_rows(found[:MOST_ROWS]),
        "more": max(0, len(found) - MOST_ROWS),
        "hints": shown.hint_rows(summary)[:MOST_ROWS],
    }


def _templates() -> Environment:
    here = Path(__file__).parent
    environment = Environment(
        loader=FileSystemLoader([here, here.parent / "report"]), autoescape=True,
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        finalize=lambda it: it if isinstance(it, Markup) else printable(str(it)),
    )  # fmt: skip
    environment.filters |= {"counted": counted}
    return environment
