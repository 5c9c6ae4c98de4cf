"""A TOML table to a dataclass, with every fault at once, by its dotted path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, get_args, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from burstlens.errors import RecipeError
from burstlens.nearness import did_you_mean

T = TypeVar("T")


@dataclass(slots=True)
class Faults:
    """Faults found so far: ``(dotted path, what is wrong)``."""

    found: list[tuple[str, str]] = field(default_factory=list)

    def add(self, path: str, message: str) -> None:
        """Note one fault."""
        self.found.append((path, message))

    def text(self, source: str) -> str:
        """All faults as one message about ``source``."""
        width = min(36, max(len(path) for path, _ in self.found))
        lines = [f"  {path:<{width}}  {message}" for path, message in self.found]
        count = "1 fault" if len(lines) == 1 else f"{len(lines)} faults"
        return f"{source} has {count}:\n" + "\n".join(lines)


@cache  # to build one takes milliseconds, and a recipe has many tables of one class
def adapter(cls: Callable[..., T]) -> TypeAdapter[T]:
    """A pydantic adapter of a dataclass that forbids unknown keys."""
    if is_dataclass(cls) and not hasattr(cls, "__pydantic_config__"):
        cls.__pydantic_config__ = ConfigDict(  # type: ignore[attr-defined]
            extra="forbid", use_attribute_docstrings=True
        )
    return TypeAdapter(cls)  # type: ignore[arg-type]


def read_table(
    cls: Callable[..., T],
    table: Mapping[str, Any],
    path: str,
    faults: Faults,
    also: Iterable[str] = (),
) -> T | None:
    """``cls(**table)`` checked by pydantic, or None with the faults added under ``path``.

    ``also`` are keys of the same table that were read elsewhere: good hints for a misspelt one.
    """
    try:
        made: T = adapter(cls).validate_python(dict(table))
        return made
    except ValidationError as error:
        details = error.errors(include_url=False)
        found = [(*_fault(cls, table, path, detail, also), detail["type"]) for detail in details]
        for where, message, kind in found:
            # Of a union each member complains: that it is none of the others says nothing.
            closer = any(
                other.startswith(f"{where}.") or (other == where and not what.endswith("_type"))
                for other, _, what in found
            )
            if not (closer and kind.endswith("_type")):
                faults.add(where, message)
    except RecipeError as error:  # an adapter's own check of what goes together
        faults.add(path, str(error).removeprefix(f"{path}."))
    return None


def _fault(
    cls: Any, table: Mapping[str, Any], path: str, detail: Any, also: Iterable[str]
) -> tuple[str, str]:
    kind = detail["type"]
    value = detail.get("input")
    steps = _steps(table, detail["loc"], missing=kind in {"missing", "missing_argument"})
    where = ".".join([part for part in [path, *steps] if part])
    if kind in {"extra_forbidden", "unexpected_keyword_argument"}:
        inner = _table_class(cls, steps[:-1])
        names = [item.name for item in fields(inner)] if is_dataclass(inner) else []
        beside = also if len(steps) == 1 else ()
        return where, f"unknown key{did_you_mean(steps[-1], [*names, *beside])}"
    if kind in {"missing", "missing_argument"}:
        return where, "is required"
    message = str(detail["msg"])
    if kind == "value_error":  # in our own words, which may begin with a variable's name
        return where, message.removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    if not isinstance(value, Mapping | list):
        message += f", got {value!r}"
    return where, message


def _table_class(cls: Any, steps: Sequence[str]) -> Any:
    """The dataclass of the table that ``steps`` lead to, None when it is none."""
    for step in steps:
        if step.isdecimal():
            continue
        hint = get_type_hints(cls).get(step) if is_dataclass(cls) else None
        cls = next((kind for kind in _leaves(hint) if is_dataclass(kind)), None)
    return cls


def _leaves(hint: Any) -> Iterator[Any]:
    """The plain types that a type is made of: A, B and int of ``tuple[A, ...] | B | int``."""
    inner = get_args(hint)
    if not inner:
        yield hint
    for part in inner:
        yield from _leaves(part)


def _steps(table: Mapping[str, Any], location: Sequence[Any], *, missing: bool) -> list[str]:
    """The steps that lead into the table.

    pydantic puts the names of union members and validators between them: noise to a reader.
    """
    steps = []
    place: Any = table
    for number, step in enumerate(location):
        try:
            place = place[step]
        except (KeyError, IndexError, TypeError):
            if not (missing and number == len(location) - 1):
                continue
        steps.append(str(step))
    return steps
