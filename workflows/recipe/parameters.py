"""Parameters: what a shared recipe leaves to its user, and ``--set``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from burstlens.core.fault import KeyPath, Place, shorten, shown
from burstlens.core.nearness import LONGEST, NEAR, did_you_mean, near_names
from burstlens.core.toml.faults import Faults
from burstlens.core.toml.places import DEEPEST
from burstlens.core.toml.table import read_table
from burstlens.core.toml.text import read_text
from burstlens.core.user_config import config_path, section
from burstlens.viz.kinds.command.options import PLACEHOLDERS
from burstlens.workflows.models.checkpoint_names import PLACES

_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


_WORDS = {"command", "argv", "arguments", "run", "environment", "env", "restart_command"}
_PATTERNS = {("simulation", "frames"), ("simulation", "ready")}
_OF_CHECKPOINTS = {("checkpoint", "files"), ("checkpoint", "witness")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A ``[parameters]`` entry: what the recipe leaves to its user."""

    type: Literal["str", "path", "int", "float", "bool"] = "str"
    """The type of the value; a path is relative to the folder where the command is given."""
    default: Any = None
    """The value if none is given; without a default the parameter is required."""
    help: str = ""
    """What the parameter is for, shown to users."""


@dataclass(slots=True)
class Settled:
    """A table with all parameters and settings filled in, and where each value comes from."""

    table: dict[str, Any]
    declared: tuple[str, ...] = ()
    open: frozenset[str] = frozenset()
    """Parameters without a valid value: texts with their ``{name}`` cannot be checked."""
    by_path: dict[KeyPath, str] = field(default_factory=dict)
    """The ``--set`` that gave the value at a path."""
    by_name: dict[str, Place] = field(default_factory=dict)
    """Where the value of a parameter comes from, if it is not the default."""


def settle(table: dict[str, Any], settings: Sequence[str], faults: Faults) -> Settled:
    """The table without ``[parameters]``, with their values and all settings filled in. A
    parameter's value comes from ``settings``, else from the user's configuration file, else from
    its default; a parameter without a value is a fault."""
    table = dict(table)
    entries = table.pop("parameters", {})
    if not isinstance(entries, Mapping):
        faults.add(("parameters",), "expected a table [parameters]", entries)
        entries = {}
    declared = {name: _declared(entry, name, faults) for name, entry in entries.items()}
    made = Settled(table, tuple(declared))
    values = _user_parameters(faults)
    made.by_name = {name: Place(config_path()) for name in values}
    for setting in settings:
        _set(setting, declared, values, made, faults)
    filled: dict[str, Any] = {}
    for name, parameter in declared.items():
        if parameter is None:
            continue
        raw = values.get(name, parameter.default)
        path = ("parameters", name)
        if raw is None:
            help_text = f" ({parameter.help})" if parameter.help else ""
            faults.add(path, f"is required{help_text}: --set {name}=...")
            continue
        try:
            filled[name] = _typed(raw, parameter.type, given=name in values)
        except ValueError as error:
            faults.add(path, str(error), raw, place=made.by_name.get(name))
    made.table = _fill(made.table, filled)
    made.open = frozenset(declared) - frozenset(filled)
    return made


def _declared(entry: Any, name: str, faults: Faults) -> Parameter | None:
    path = ("parameters", name)
    if not isinstance(entry, Mapping):
        faults.add(path, 'expected a table such as { type = "path", help = "..." }', entry)
        return None
    before = len(faults.found) + faults.more
    made = read_table(Parameter, entry, path, faults)
    return made if before == len(faults.found) + faults.more else None


def _set(
    setting: str,
    declared: Mapping[str, Parameter | None],
    values: dict[str, Any],
    made: Settled,
    faults: Faults,
) -> None:
    """Apply one setting: a parameter's value in ``values``, else a value of the table."""
    key, equals, text = setting.partition("=")
    shown_as = f"--set {setting}"
    place = Place(setting=shown_as)
    if not equals:
        message = 'expected --set key=value, such as "simulation.nodes=4"'
        faults.add((key,), message, place=place)
    elif key in declared:
        values[key] = text
        made.by_name[key] = place
    elif "." in key:
        steps = tuple(key.split("."))
        steps = ("simulation", "command", *steps[2:]) if _is_old(made.table, steps) else steps
        path = set_path(made.table, steps, _value(text), place, faults)
        if path is not None:
            made.by_path[path] = shown_as
    else:
        near = _dotted(key, made.table) if not near_names(key, declared) else ""
        near = near or did_you_mean(key, declared)
        faults.add((key,), f"is not a parameter of this recipe{near}", text, place=place)


def _dotted(name: str, table: Mapping[str, Any]) -> str:
    """The end of a message on a recipe key given without its table."""
    keys = {
        key: f"{section}.{key}"
        for section, inside in table.items()
        if isinstance(inside, Mapping)
        for key in inside
    }
    near = [keys[key] for key in near_names(name, keys)]
    return f"{NEAR} {' or '.join(near)}?" if near else ""


def _is_old(table: Mapping[str, Any], steps: tuple[str, ...]) -> bool:
    simulation = table.get("simulation")
    model = simulation.get("model") if isinstance(simulation, Mapping) else None
    return steps[:2] == ("simulation", "argv") and model == "command"


def _user_parameters(faults: Faults) -> dict[str, Any]:
    entries = section("parameters")
    if not isinstance(entries, Mapping):
        faults.add(("parameters",), "expected a table", entries, place=Place(config_path()))
        return {}
    return dict(entries)


def _typed(raw: Any, kind: str, *, given: bool) -> Any:
    if kind == "bool":
        if isinstance(raw, bool):
            return raw
        if str(raw).lower() in {"true", "false"}:
            return str(raw).lower() == "true"
        raise ValueError(f"expected true or false, got {shown(raw)}")
    if kind in {"int", "float"}:
        try:
            return int(raw) if kind == "int" else float(raw)
        except (TypeError, ValueError):
            raise ValueError(f"expected a number ({kind}), got {shown(raw)}") from None
    if kind == "path" and given:
        return os.path.realpath(os.path.expanduser(str(raw)))
    return str(raw)


def _value(text: str) -> Any:
    """A setting's text read as TOML, else unchanged."""
    read = read_text(f"value = {text}")
    return read.table["value"] if not read.faults and list(read.table) == ["value"] else text


def set_path(
    table: dict[str, Any], steps: tuple[str, ...], value: Any, at: Place, faults: Faults
) -> KeyPath | None:
    """Set a value in the table; returns its path there, or None and adds a fault."""
    *above, last = steps
    if len(steps) > DEEPEST:
        faults.add(steps, f"the key has more than {DEEPEST} parts", value, place=at)
        return None
    path: KeyPath = ()
    place: Any = table
    for step in above:
        if isinstance(place, list):
            names = [str(entry.get("name")) if isinstance(entry, dict) else "" for entry in place]
            if step not in names:
                near = did_you_mean(step, filter(None, names))
                faults.add(steps, f'there is no "{shorten(step, 80)}"{near}', value, place=at)
                return None
            index = names.index(step)
            place[index] = dict(place[index])
            place, path = place[index], (*path, index)
        elif isinstance(place, dict):
            inner = place.get(step, {})
            place[step] = list(inner) if isinstance(inner, list) else inner
            if isinstance(inner, Mapping):
                place[step] = dict(inner)
            place, path = place[step], (*path, step)
        else:
            said = f'"{shorten(step, 80)}" is inside a value that has no parts'
            faults.add(steps, said, value, place=at)
            return None
    if isinstance(place, dict):
        place[last] = value
        return (*path, last)
    faults.add(steps, "name the entry first, such as product.t2.variable", value, place=at)
    return None


def unknown_places(table: Any, declared: Sequence[str]) -> Iterator[tuple[KeyPath, str]]:
    """Texts that hold ``{name}`` of a parameter that is not declared, and that name.

    In a longer text, only names that resemble a parameter's count. Words of commands are left out,
    as their braces may be for the program. So are names that products fill in for each frame, those
    that ``simulation.ready`` shares with ``simulation.frames``, and those of checkpoints' files.
    """
    shared = _shared(table)
    waiting: list[tuple[KeyPath, Any]] = [((), table)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            whole = _PLACE.fullmatch(value)
            theirs: Iterable[str] = PLACEHOLDERS if path[:1] == ("product",) else ()
            if path[:2] in _PATTERNS:
                theirs = shared
            elif path[:2] in _OF_CHECKPOINTS:
                theirs = PLACES
            for name in _PLACE.findall(value[:LONGEST]):
                if name not in (*declared, *theirs) and (whole or near_names(name, declared)):
                    yield path, name
                    break
        elif isinstance(value, Mapping):
            inner = [((*path, key), entry) for key, entry in value.items() if key not in _WORDS]
            waiting += reversed(inner)
        elif isinstance(value, list):
            waiting += reversed([((*path, n), entry) for n, entry in enumerate(value)])


def _shared(table: Any) -> set[str]:
    """The names in braces that the flags of frames have in common with the frames' files."""
    simulation = table.get("simulation") if isinstance(table, Mapping) else None
    ready = simulation.get("ready") if isinstance(simulation, Mapping) else None
    texts = ready.values() if isinstance(ready, Mapping) else [ready]
    return {name for text in texts for name in named_in(text)}


def named_in(value: object) -> set[str]:
    """The names in braces in a text."""
    return set(_PLACE.findall(value)) if isinstance(value, str) else set()


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
