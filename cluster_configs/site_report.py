"""Which sites there are, which one is used here, and what each of a site's values means."""

from __future__ import annotations

import itertools
import re
import socket
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from burstlens.cluster_configs.site import SITES, batch_table, choose, known, read, with_new_keys
from burstlens.core.errors import SiteError
from burstlens.core.nearness import did_you_mean
from burstlens.core.toml.table import adapter

_TABLE = re.compile(r"\s*\[([\w.]+)\]")
_KEY = re.compile(r"\s*([\w-]+)\s*=")


@dataclass(frozen=True, slots=True)
class KnownSite:
    """One site file: ``chosen`` says whether it is used here without ``--site``.

    ``origin`` is ``ships with Burstlens`` or the file; ``description`` says if it is broken.
    """

    name: str
    description: str
    origin: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a site as TOML, empty where there is none: what it means, where it comes from,
    its comment in the file. ``line`` is its line there, 0 for a default."""

    key: str
    value: str
    meaning: str
    origin: str
    line: int = 0
    remark: str = ""


def sites() -> tuple[list[KnownSite], str]:
    """All known sites by name, and why one of them is used here."""
    chosen, why = _choice()
    return [
        KnownSite(name, _description(path), _origin(path), name == chosen)
        for name, path in sorted(known().items())
    ], why


def explain(name: str) -> tuple[str, list[Value]]:
    """The comment at the top of a site's file, and every value, including those it leaves out.

    ``name`` is a known site's or a file. Raises SiteError with near names, or with all faults of
    the file.
    """
    found = known()
    path = Path(name).expanduser() if name.endswith(".toml") else found.get(name)
    if path is None:
        raise SiteError(f'there is no site "{name}"{did_you_mean(name, found)}')
    site = read(path)
    text = path.read_text(encoding="utf-8")
    about = list(itertools.takewhile(lambda line: line.startswith("#"), text.splitlines()))
    table, former = with_new_keys(tomllib.loads(text))
    places, batch = _places(text), batch_table(site.scheduler)
    places |= {f"{batch}.{new}": places[f"{batch}.{old}"] for new, old in former.items()}
    values = _values(site, "", table, places, path.name)
    return "\n".join([str(path), "", *(line[2:] for line in about)]), list(values)


def _choice() -> tuple[str, str]:
    host = socket.gethostname()
    try:
        site = choose()
    except SiteError as error:
        return "", f"none is taken here: {error}"
    pattern = next((pattern for pattern in site.hosts if fnmatch(host, pattern)), None)
    if pattern is None:
        return site.name, f"{site.name} is taken here: no site's hosts fit this one, {host}"
    return site.name, f'{site.name} is taken here: its hosts "{pattern}" fit this one, {host}'


def _description(path: Path) -> str:
    try:
        return read(path).description
    except SiteError as error:
        return f"broken: {error}"


def _origin(path: Path) -> str:
    return "ships with Burstlens" if path.parent == SITES else str(path)


def _values(
    part: Any, prefix: str, table: dict[str, Any], places: dict[str, tuple[int, str]], file: str
) -> Iterator[Value]:
    cls: Any = type(part)
    meanings = adapter(cls, described=True).json_schema()["properties"]
    later = []
    for field in fields(part):
        key, value = f"{prefix}{field.name}", getattr(part, field.name)
        if is_dataclass(value):
            name = batch_table(part.scheduler) if field.name == "batch" else field.name
            later.append((value, f"{name}.", table.get(name, {})))
            continue
        meaning = " ".join(meanings[field.name].get("description", "").replace("`", "").split())
        if field.name in table:
            line, remark = places.get(key, (0, ""))
            yield Value(
                key, _toml(table[field.name]), meaning, f"{file}, line {line}", line, remark
            )
        else:
            origin = "the file's name" if key == "name" else "default"
            yield Value(key, _toml(value), meaning, origin)
    for value, path, below in later:
        yield from _values(value, path, below, places, file)


def _toml(value: object) -> str:
    """A value as TOML; empty for None, which TOML does not have."""
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        return f'"{value}"' if "\n" not in value else f'"""{value}"""'
    return str(value).lower() if isinstance(value, bool) else str(value)


def _places(text: str) -> dict[str, tuple[int, str]]:
    """The line of each key, and the comment above or beside it."""
    found: dict[str, tuple[int, str]] = {}
    prefix, above = "", []
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#"):
            above.append(line.lstrip("# ").strip())
            continue
        if table := _TABLE.match(line):
            prefix = f"{table[1]}."
        elif key := _KEY.match(line):
            beside = line.rpartition(" # ")[2].strip() if " # " in line else ""
            found[prefix + key[1]] = (number, " ".join([*above, beside]).strip())
        above = []
    return found
