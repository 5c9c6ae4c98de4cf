"""Read a TOML table into a dataclass; all faults at once, each with the path of its key. The type
of the names in it that users give to recipes, products and guards."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from burstlens.core.errors import OptionsError, RecipeError
from burstlens.core.fault import KeyPath, shown
from burstlens.core.nearness import did_you_mean, near_names
from burstlens.core.toml.faults import MOST, Faults, at

T = TypeVar("T")

# No dot: it separates the parts of dotted paths and file names.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
MOST_ROUNDS = 20
_STAND_INS: tuple[Any, ...] = ("x", 1, ["x"], True, {})
"""Substitutes for a required value that is missing or wrong."""
_UNKNOWN = "unexpected_keyword_argument"
_WORD = re.compile(r"[A-Za-z_][\w-]*")
_READS = ConfigDict(extra="forbid")
_DESCRIBES = ConfigDict(extra="forbid", use_attribute_docstrings=True)


def _named(value: str) -> str:
    if not NAME.fullmatch(value):
        raise ValueError("a name is 1 to 64 letters, digits, '_' or '-', as it names files")
    return value


Name = Annotated[
    str, AfterValidator(_named), Field(json_schema_extra={"pattern": f"^{NAME.pattern}$"})
]
"""A name: files are named after it."""


@cache  # to build one takes milliseconds, and a recipe has many tables of one class
def adapter(cls: Callable[..., T], *, described: bool = False) -> TypeAdapter[T]:
    """A pydantic adapter of a dataclass that forbids unknown keys. ``described``: its schema has
    the text below each attribute. To look for these in the sources takes longer than all else, so
    only who prints a schema asks for them."""
    if is_dataclass(cls) and getattr(cls, "__pydantic_config__", _READS) in (_READS, _DESCRIBES):
        config = _DESCRIBES if described else _READS
        cls.__pydantic_config__ = config  # type: ignore[attr-defined]
    return TypeAdapter(cls)  # type: ignore[arg-type]


def keys(cls: Any) -> list[str]:
    """The keys that the table of a dataclass takes."""
    if not is_dataclass(cls):
        return []
    hints = get_type_hints(cls, include_extras=True)
    return [_alias(hints[item.name]) or item.name for item in fields(cls)]


def _alias(hint: Any) -> str | None:
    found = (
        note.alias for note in getattr(hint, "__metadata__", ()) if isinstance(note, FieldInfo)
    )
    return next(found, None)


def read_table(
    cls: Callable[..., T],
    table: Mapping[str, Any],
    path: KeyPath,
    faults: Faults,
    also: Iterable[str] = (),
) -> T | None:
    """``cls(**table)`` checked by pydantic, with its faults added under ``path``.

    Where a key is wrong, the result is made without it, so that its other values can still be
    checked (``faults.guessed`` has its path); None where that fails too. ``also`` are keys of the
    same table that were read elsewhere: suggestions for a misspelt one.
    """
    reading = _Reading(cls, deepcopy(dict(table)), tuple(also))
    made: T | None = _made(reading, path, faults)
    faults.guessed |= {(*path, *guess) for guess in reading.guessed}
    return made


def _made(reading: _Reading, path: KeyPath, faults: Faults) -> Any:
    for _ in range(MOST_ROUNDS):
        try:
            return adapter(reading.cls).validate_python(reading.left)
        except ValidationError as error:
            found = reading.of_pydantic(error)
        except RecipeError as error:  # an adapter's own check of several keys together
            found = [reading.of_table((), str(error).removeprefix(f"{path[0]}." if path else ""))]
        for one in reading.fresh(found):
            faults.add((*path, *one.path), one.message, one.value, lacking=one.lacking)
        if not reading.mend(found):
            return None
    return None


@dataclass(frozen=True, slots=True)
class _Found:
    """A fault by its path inside the table."""

    path: KeyPath
    message: str
    value: Any = None
    kind: str = "value_error"
    lacking: bool = False
    meant: tuple[str, ...] = ()
    """Suggestions for an unknown key."""


_LIST = 'expected a list, such as ["a", "b"]'
_SAID = {"sequence_str": _LIST, "tuple_type": _LIST, "list_type": _LIST,
         "too_short": "expected a list that is not empty"}  # fmt: skip
"""Messages of pydantic that speak of Python."""
_PLAIN = {"string_type": "text", "int_type": "a whole number", "float_type": "a number",
          "bool_type": "true or false"}  # fmt: skip
"""What the members of a union of plain values want."""


@dataclass(slots=True)
class _Reading:
    """A table that is checked repeatedly, each time without the keys found wrong."""

    cls: Any
    left: dict[str, Any]
    also: tuple[str, ...]
    gone: set[str] = field(default_factory=set)
    """Names of keys that were taken out: a message about them is not a fault of its own."""
    guessed: set[KeyPath] = field(default_factory=set)
    """Their paths, and those of the keys that misspelt ones probably stand for."""
    known: set[tuple[KeyPath, str]] = field(default_factory=set)

    def of_pydantic(self, error: ValidationError) -> list[_Found]:
        """The faults of one validation."""
        details = error.errors(include_url=False)[:MOST]
        found = [one for detail in details for one in self._of(detail)]
        # Each member of a union reports a fault: those of the other members say nothing.
        return _joined(
            one
            for one in found
            if not (one.kind.endswith("_type") and any(_closer(other, one) for other in found))
        )

    def fresh(self, found: Iterable[_Found]) -> Iterator[_Found]:
        """Those that are new and not a consequence of keys that were taken out."""
        for one in found:
            consequence = self.gone & set(_WORD.findall(one.message)) or (
                one.lacking and one.path in self.guessed
            )
            if not consequence and (one.path, one.message) not in self.known:
                self.known.add((one.path, one.message))
                yield one

    def mend(self, found: Sequence[_Found]) -> bool:
        """Take out the wrong keys; False when none could be."""
        changed = False
        for one in found if len(found) < MOST else ():
            self.gone.update(one.meant)
            self.guessed.update((*one.path[:-1], key) for key in one.meant)
            changed = self._take_out(one) or changed
        return changed

    def of_table(self, place: KeyPath, message: str) -> _Found:
        """A fault of the table at ``place`` as a whole, assigned to one of its keys."""
        blamed = _blamed(at(self.left, place), message)
        for key in blamed:  # the report shows the key in any case
            message = message.removeprefix(f"{key}: ")
            message = message.removeprefix(f"{key} ") if "." in str(key) else message
        path = (*place, *blamed)
        value = at(self.left, path) if blamed else None
        return _Found(path, message, value, lacking=not blamed)

    def _of(self, detail: Any) -> Iterator[_Found]:
        kind, value = detail["type"], detail.get("input")
        missing = kind in {"missing", "missing_argument"}
        path = _steps(self.left, detail["loc"], missing=missing)
        if missing:
            yield _Found(path, "is required", None, kind, lacking=True)
        elif kind in {"extra_forbidden", _UNKNOWN}:
            known = [*keys(_table_class(self.cls, path[:-1]))]
            known += self.also if len(path) == 1 else ()
            name = str(path[-1])
            meant = tuple(near_names(name, known))
            said = f"unknown key{did_you_mean(name, known)}"
            yield _Found(path, said, value, _UNKNOWN, False, meant)
        elif kind == "value_error":  # in our own words
            raised = detail.get("ctx", {}).get("error")
            said = str(detail["msg"]).removeprefix("Value error, ")
            messages = raised.faults if isinstance(raised, OptionsError) else (said,)
            for message in messages:
                if isinstance(at(self.left, path), Mapping):
                    yield self.of_table(path, message)
                else:
                    yield _Found(path, message, value)
        else:
            message = _SAID.get(kind) or str(detail["msg"])
            message = message[:1].lower() + message[1:]
            if not isinstance(value, Mapping | list):
                message += f", got {shown(value)}"
            yield _Found(path, message, value, kind)

    def _take_out(self, one: _Found) -> bool:
        path = one.path
        if len(path) > 1 and one.kind in {"missing", "missing_argument"}:
            path = path[:-1]
        # The other entries of a list must keep their numbers, so the whole list goes.
        numbers = [place for place, step in enumerate(path) if isinstance(step, int)]
        path = path[: numbers[0]] if numbers and one.kind != _UNKNOWN else path
        if not path:
            return False
        place, key = at(self.left, path[:-1]), path[-1]
        self.gone.add(str(key))
        self.guessed.add(path)
        there = isinstance(place, dict) and place.pop(key, self) is not self
        if len(path) == 1 and one.kind != _UNKNOWN:
            return self._stand_in(str(key)) or there
        return there

    def _stand_in(self, key: str) -> bool:
        """Replace a required value by one that is accepted."""
        for given in ({}, *({key: value} for value in _STAND_INS)):
            try:
                adapter(self.cls).validate_python({**self.left, **given})
            except ValidationError as error:
                if any(detail["loc"][:1] == (key,) for detail in error.errors(include_url=False)):
                    continue
            except RecipeError:
                pass
            self.left.update(deepcopy(given))
            return bool(given)
        return False


def _joined(found: Iterable[_Found]) -> list[_Found]:
    """The faults, with one for all members of a union that takes several kinds of plain values."""
    of_path: dict[KeyPath, list[_Found]] = {}
    for one in found:
        of_path.setdefault(one.path, []).append(one)
    joined: list[_Found] = []
    for path, members in of_path.items():
        kinds = {one.kind for one in members}
        if len(kinds) == 1 or not kinds <= _PLAIN.keys():
            joined += members
            continue
        *first, last = (wanted for kind, wanted in _PLAIN.items() if kind in kinds)
        message, value = f"expected {', '.join(first)} or {last}", members[0].value
        if isinstance(value, Mapping) and len(path) > 1:
            message += f'; a name with a dot needs quotes: "{path[-2]}.{path[-1]}"'
        elif not isinstance(value, list):
            message += f", got {shown(value)}"
        joined.append(_Found(path, message, value, members[0].kind))
    return joined


def _closer(other: _Found, one: _Found) -> bool:
    """Whether ``other`` is more exact than a message about a wrong type."""
    if other.path == one.path:
        return not other.kind.endswith("_type")
    return other.path[: len(one.path)] == one.path


def _blamed(place: Any, message: str) -> KeyPath:
    """The key that a message names, else the key whose value it shows; as deep as it goes."""
    path: KeyPath = ()
    words = _WORD.findall(message)
    while isinstance(place, Mapping):
        key = next((word for word in words if word in place), None)
        if key is None and not path:
            if quoted := _quoted(place, message):
                return quoted
            for name, value in place.items():
                texts = value if isinstance(value, list) else [value]
                if any(isinstance(one, str) and len(one) > 1 and one in message for one in texts):
                    key = name
                    break
        if key is None:
            break
        path, place = (*path, key), place[key]
        words = [word for word in words if word != key]
    return path


def _quoted(place: Mapping[str, Any], message: str) -> KeyPath:
    """The longest key with a dot in it, at whatever depth, that a message names."""
    found: list[KeyPath] = []
    for key, value in place.items():
        if "." in key and key in message:
            found.append((key,))
        elif isinstance(value, Mapping) and (inner := _quoted(value, message)):
            found.append((key, *inner))
    return max(found, key=lambda path: len(str(path[-1])), default=())


def _table_class(cls: Any, steps: KeyPath) -> Any:
    """The dataclass of the table that ``steps`` lead to, None where it is another type."""
    for step in steps:
        if isinstance(step, int):
            continue
        hints = get_type_hints(cls) if is_dataclass(cls) else {}
        if hints and step not in hints:  # of a mapping whose values are such tables
            continue
        hint = hints.get(step)
        cls = next((kind for kind in _leaves(hint) if is_dataclass(kind)), None)
    return cls


def _leaves(hint: Any) -> Iterator[Any]:
    """The plain types that a type is made of: A, B and int of ``tuple[A, ...] | B | int``."""
    inner = get_args(hint)
    if not inner:
        yield hint
    for part in inner:
        yield from _leaves(part)


def _steps(table: Mapping[str, Any], location: Sequence[Any], *, missing: bool) -> KeyPath:
    """The steps that lead into the table. pydantic puts the names of union members and validators
    between them: noise to a reader."""
    steps: list[str | int] = []
    place: Any = table
    for number, step in enumerate(location):
        try:
            place = place[step]
        except (KeyError, IndexError, TypeError):
            if not (missing and number == len(location) - 1):
                continue
        steps.append(step)
    return tuple(steps)
