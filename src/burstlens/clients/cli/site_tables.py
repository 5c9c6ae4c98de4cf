"""Sites in a terminal: the list, one of them value by value, and which MPI-IO hints it takes."""

from __future__ import annotations

import json
import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from burstlens.clients.cli.tables import show_table
from burstlens.cluster_configs.site_report import Value, explain, sites
from burstlens.core.printable import say
from burstlens.core.quantity import counted

if TYPE_CHECKING:
    from burstlens.workflows.hints.probe import Probed

WIDEST = 100
"""Columns; longer lines of prose are hard to read."""


def show_sites(*, as_json: bool) -> None:
    """Print all sites, and which one is used here and why."""
    found, why = sites()
    if as_json:
        print(json.dumps({"sites": [asdict(site) for site in found], "why": why}, indent=2))
        return
    rows = [("*" if it.chosen else "", it.name, it.description, it.origin) for it in found]
    chosen = next((number for number, site in enumerate(found) if site.chosen), -1)
    show_table(("", "site", "what it is", "from"), rows, marked=chosen)
    print(f"* {why}" if chosen >= 0 else why)


def show_site(name: str, *, as_json: bool) -> None:
    """Print each value of a site. Raises SiteError."""
    about, values = explain(name)
    if as_json:
        print(json.dumps([asdict(value) for value in values], indent=2))
        return
    console = Console(highlight=False, soft_wrap=True)
    console.print(about, markup=False)
    table = ""
    for value in values:
        part = value.key.rpartition(".")[0]
        if part != table:
            table = part
            console.print(Text(f"\n\n[{part}]", style="bold"))
        console.print(_value(value, min(console.width, WIDEST)))


def _value(value: Value, width: int) -> Text:
    key = value.key.rpartition(".")[2]
    said = Text(f"\n{key} = {value.value}" if value.value else f"\n# {key} is not set")
    said.stylize("bold green" if value.line else "green")
    origin = f"{value.origin}: {value.remark}" if value.remark else value.origin
    for text, style in ((value.meaning, ""), (origin, "dim")):
        lines = textwrap.wrap(text, width - 4, break_long_words=False)
        said.append("".join(f"\n    {line}" for line in lines), style=style)
    return said


def show_probed(probed: Probed, *, as_json: bool) -> None:
    """Print one row for each hint, and what to change in the site file."""
    if as_json:
        from burstlens.workflows.plan.io_probe import value

        say(json.dumps(value(probed), indent=2))
        return
    where = f", files on {probed.file_system}" if probed.file_system else ""
    say(f"site {probed.site}: {probed.mpi_library}, {counted(probed.ranks, 'rank')}{where}")
    by = {row.by.partition("OMPI_MCA_")[0] or "OMPI_MCA_*" for row in probed.rows if row.by}
    say(f"hints by {', '.join(sorted(by))}")
    say("")
    cells = [(it.hint, it.pattern, it.asked, it.in_force or "-", it.verdict) for it in probed.rows]
    show_table(("hint", "for files", "asked", "in force", "verdict"), cells)
    missing = [row.hint for row in probed.rows if not row.arrived]
    if missing:
        total = counted(len(probed.rows), "hint")
        say(f"{len(missing)} of {total} did not arrive: {', '.join(missing)}")
    else:
        say("each hint arrived")
    if probed.suggestion:
        say(probed.suggestion)
