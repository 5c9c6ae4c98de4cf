"""Parameters: what a shared recipe leaves to its user, and ``--set``."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from burstlens.nearness import did_you_mean
from burstlens.workflows.check_table import Faults, read_table
from burstlens.workflows.recipe_file import parse

_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def config_path() -> Path:
    """The user's configuration file: ``$XDG_CONFIG_HOME/burstlens/config.toml``."""
    home = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(os.path.expanduser(home)) / "burstlens" / "config.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A ``[parameters]`` entry: what the recipe leaves to its user."""

    type: Literal["str", "path", "int", "float", "bool"] = "str"
    """What a value has to be; a path is taken from where the command is given."""
    default: Any = None
    """The value when none is given; without it the parameter is required."""
    help: str = ""
    """What it is for, for the person who has to fill it in."""


def settle(table: dict[str, Any], settings: Sequence[str], faults: Faults) -> dict[str, Any]:
    """The table without ``[parameters]``, each of their places filled and each setting made.

    A parameter's value comes from ``settings``, else from the user's configuration file, else
    from its default; one without is a fault.
    """
    table = dict(table)
    entries = table.pop("parameters", {})
    if not isinstance(entries, Mapping):
        faults.add("parameters", f"expected a table [parameters], got {entries!r}")
        entries = {}
    declared = {
        name: read_table(Parameter, entry, f"parameters.{name}", faults)
        for name, entry in entries.items()
        if _is_table(entry, name, faults)
    }
    values = dict(_user_parameters(faults))
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            faults.add(setting, 'expected --set key=value, such as "simulation.nodes=4"')
        elif key in declared:
            values[key] = text
        elif "." in key:
            _set_path(table, key, _value(text), faults)
        else:
            faults.add(key, f"is no parameter of this recipe{did_you_mean(key, list(declared))}")
    filled: dict[str, Any] = {}
    for name, parameter in declared.items():
        if parameter is None:
            continue
        raw = values.get(name, parameter.default)
        if raw is None:
            help_text = f" ({parameter.help})" if parameter.help else ""
            faults.add(f"parameters.{name}", f"is required{help_text}: --set {name}=...")
            continue
        try:
            filled[name] = _typed(raw, parameter.type, given=name in values)
        except ValueError as error:
            faults.add(f"parameters.{name}", str(error))
    result = _fill(table, filled)
    assert isinstance(result, dict)
    return result


def _is_table(entry: Any, name: str, faults: Faults) -> bool:
    if not isinstance(entry, Mapping):
        faults.add(f"parameters.{name}", 'expected a table such as { type = "path", help = "..." }')
        return False
    return True


def _user_parameters(faults: Faults) -> Mapping[str, Any]:
    path = config_path()
    if not path.is_file():
        return {}
    entries = parse(path).get("parameters", {})
    if not isinstance(entries, Mapping):
        faults.add(f"{path}: parameters", "expected a table")
        return {}
    return entries


def _typed(raw: Any, kind: str, *, given: bool) -> Any:
    if kind == "bool":
        if isinstance(raw, bool):
            return raw
        if str(raw).lower() in {"true", "false"}:
            return str(raw).lower() == "true"
        raise ValueError(f"expected true or false, got {raw!r}")
    if kind in {"int", "float"}:
        try:
            return int(raw) if kind == "int" else float(raw)
        except (TypeError, ValueError):
            raise ValueError(f"expected a number ({kind}), got {raw!r}") from None
    if kind == "path" and given:
        return os.path.realpath(os.path.expanduser(str(raw)))
    return str(raw)


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _set_path(table: dict[str, Any], dotted: str, value: Any, faults: Faults) -> None:
    *steps, last = dotted.split(".")
    place: Any = table
    for step in steps:
        if isinstance(place, list):
            names = [str(entry.get("name")) if isinstance(entry, dict) else "" for entry in place]
            if step not in names:
                near = did_you_mean(step, filter(None, names))
                faults.add(dotted, f'there is no "{step}"{near}')
                return
            index = names.index(step)
            place[index] = dict(place[index])
            place = place[index]
        elif isinstance(place, dict):
            inner = place.get(step, {})
            place[step] = list(inner) if isinstance(inner, list) else inner
            if isinstance(inner, Mapping):
                place[step] = dict(inner)
            place = place[step]
        else:
            faults.add(dotted, f'"{step}" is inside a value that has no parts')
            return
    if isinstance(place, dict):
        place[last] = value
    else:
        faults.add(dotted, "name the entry first, such as product.t2.variable")


def _fill(value: Any, filled: Mapping[str, Any]) -> Any:
    # Only declared names are replaced: {frame} and {out} belong to command products.
    if isinstance(value, str):
        whole = _PLACE.fullmatch(value)
        if whole and whole[1] in filled:
            return filled[whole[1]]
        return _PLACE.sub(lambda m: str(filled[m[1]]) if m[1] in filled else m[0], value)
    if isinstance(value, Mapping):
        return {key: _fill(entry, filled) for key, entry in value.items()}
    if isinstance(value, list):
        return [_fill(entry, filled) for entry in value]
    return value
