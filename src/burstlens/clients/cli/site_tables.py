"""Sites in a terminal: the list, and one of them value by value."""

from __future__ import annotations

import json
import textwrap
from dataclasses import asdict

from rich.console import Console
from rich.text import Text

from burstlens.clients.cli.tables import show_table
from burstlens.cluster_configs.site_report import Value, explain, sites

WIDEST = 100
"""Columns; longer lines of prose are hard to read."""


def show_sites(*, as_json: bool) -> None:
    """Print all sites, and which one is used here and why."""
    found, why = sites()
    if as_json:
        print(json.dumps({"sites": [asdict(site) for site in found], "why": why}, indent=2))
        return
    rows = [
        ("*" if site.chosen else "", site.name, site.description, site.origin) for site in found
    ]
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
