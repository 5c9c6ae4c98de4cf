"""The result of ``sites --probe-io`` in a terminal: asked, in force, verdict."""

from __future__ import annotations

import json

from burstlens.clients.cli.tables import show_table
from burstlens.core.printable import say
from burstlens.core.quantity import counted
from burstlens.workflows.hints.probe import Probed
from burstlens.workflows.plan.io_probe import value


def show_probed(probed: Probed, *, as_json: bool) -> None:
    """Print one row for each hint, and what to change in the site file."""
    if as_json:
        say(json.dumps(value(probed), indent=2))
        return
    where = f", files on {probed.file_system}" if probed.file_system else ""
    say(f"site {probed.site}: {probed.mpi_library}, {counted(probed.ranks, 'rank')}{where}")
    by = {row.by.partition("OMPI_MCA_")[0] or "OMPI_MCA_*" for row in probed.rows if row.by}
    say(f"hints by {', '.join(sorted(by))}")
    say("")
    show_table(
        ("hint", "for files", "asked", "in force", "verdict"),
        [
            (row.hint, row.pattern, row.asked, row.in_force or "-", row.verdict)
            for row in probed.rows
        ],
    )
    missing = [row.hint for row in probed.rows if not row.arrived]
    total = len(probed.rows)
    if missing:
        say(f"{len(missing)} of {counted(total, 'hint')} did not arrive: {', '.join(missing)}")
    else:
        say("each hint arrived")
    if probed.suggestion:
        say(probed.suggestion)
