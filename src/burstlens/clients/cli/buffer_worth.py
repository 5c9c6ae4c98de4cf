"""The burst buffer's worth in a terminal: what ``burstlens io --plan RECIPE`` prints."""

from __future__ import annotations

import json

from burstlens.clients.cli.tables import show_table
from burstlens.core.printable import print_stderr, say
from burstlens.core.quantity import counted, show_bytes, show_duration
from burstlens.workflows.buffer_worth.comparison import Worth


def show_worth(found: Worth, *, as_json: bool) -> None:
    """Print when the buffer pays, or one JSON document."""
    if as_json:
        say(json.dumps(found.value(), indent=2))
        return
    _show(found)
    for note in found.notes:
        print_stderr(f"note: {note}")


def _show(found: Worth) -> None:
    output = found.output
    size = show_bytes(output.frame_bytes)
    kept = f", {show_bytes(output.kept)} of it brought home" if output.kept else ""
    say(
        f"{found.recipe} on {found.site}: {counted(output.frames, 'frame')} of {size}{kept}; "
        f"{show_duration(output.compute_s)} of computing"
    )
    say(f"buffer: {found.granted or f'{show_bytes(found.asked)} asked'}")
    say("")
    first = found.rows[0].run_s
    show_table(
        ("storage", "targets", "frame", "run", "output", "frames at 5 %"),
        [
            (
                row.storage, str(row.targets), show_duration(row.frame_s),
                f"{100 * (row.run_s / first - 1):+.1f} %" if number else show_duration(first),
                f"{100 * row.share:.1f} %", str(row.frames),
            )
            for number, row in enumerate(found.rows)
        ],
    )  # fmt: skip
    for sentence in found.verdict():
        say(f"{sentence[0].upper()}{sentence[1:]}.")
