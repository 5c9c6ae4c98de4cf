"""The JSON Schema of recipes, so that an editor can complete and check them.

It accepts what ``burstlens check`` accepts and refuses what is wrong by shape alone: keys, types,
bounds, and what each model, product kind and guard requires.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from pydantic_core import to_jsonable_python

from burstlens.core.plugins import leaf
from burstlens.core.toml.table import adapter, keys
from burstlens.viz.registry import product_kinds
from burstlens.workflows.guards.guard import KINDS, Guard
from burstlens.workflows.models import registry as models
from burstlens.workflows.notify.options import Notify
from burstlens.workflows.recipe.parameters import Parameter
from burstlens.workflows.recipe.recipe import (
    EXTRA_TABLES,
    Buffer,
    Checkpoint,
    Product,
    Simulation,
    StageOut,
    Step,
    Viewing,
)

Schema = dict[str, Any]

ID = "urn:burstlens:recipe"
_PLACE = {"$ref": "#/$defs/placeholder"}
_PLACEHOLDER = {
    "type": "string",
    "pattern": r"\{[A-Za-z_][A-Za-z0-9_]*\}",
    "description": 'A parameter in braces, "{nodes}", whose value takes its place.',
}
_ABOUT = {
    "title": "What pictures and lists show.",
    "description": "What the recipe is for.",
    "extends": "A recipe to build on, by name or path.",
    "parameters": "What the recipe leaves to its user.",
    "simulation": "The model and how it runs.",
    "buffer": "The fast temporary space of the run.",
    "checkpoint": "What a later attempt can resume from.",
    "stage_out": "What is brought home besides logs and settings.",
    "viewing": "How products are made.",
    "step": "Programs that run before, beside or after the simulation.",
    "product": "What is made of each frame.",
    "guard": "Conditions that alarm or stop the model.",
    "notify": "Who gets word of the run, and when.",
    **{name: text for name, (_, text) in EXTRA_TABLES.items()},
}
_PHASES = ("before", "beside", "after")


def recipe_schema() -> Schema:
    """A JSON Schema (2020-12) of the whole recipe: every model's and product kind's keys. A recipe
    that extends another one may leave out everything else, so each table exists twice: as a part,
    without required keys, and as a whole."""
    defs: Schema = {"placeholder": _PLACEHOLDER}
    parts, wholes = _tables("part", defs), _tables("whole", defs)
    described = {
        key: {**parts.get(key, {"type": "string"}), "description": text}
        for key, text in _ABOUT.items()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": ID,
        "title": "Burstlens recipe",
        "description": "What to run, what to see of it and what to bring home.",
        "type": "object",
        "additionalProperties": False,
        "properties": described,
        "if": {"not": {"required": ["extends"]}},
        "then": {"required": ["simulation"], "properties": wholes},
        "$defs": defs,
    }


def _tables(family: str, defs: Schema) -> Schema:
    """The schema of each table of a recipe; referenced schemas are added to ``defs``."""
    whole = family == "whole"

    def table(cls: Any) -> Schema:
        return _table(cls, family, defs)

    step, guard = table(Step), _guard(table)
    if whole:
        step["oneOf"] = [{"required": [phase]} for phase in _PHASES]
        guard["oneOf"] = [{"required": [key]} for key in KINDS]
    simulation = _variants(
        "model", table(Simulation), {name: table(models.load(name)) for name in models.names()},
        family, defs,
    )  # fmt: skip
    product = _variants(
        "kind", table(Product),
        {name: table(kind.options) for name, kind in product_kinds().items()},
        family, defs,
    )  # fmt: skip
    return {
        "parameters": {"type": "object", "additionalProperties": table(Parameter)},
        "simulation": simulation,
        "buffer": table(Buffer),
        "checkpoint": table(Checkpoint),
        "stage_out": table(StageOut),
        "viewing": table(Viewing),
        "step": {"type": "array", "items": step},
        "product": {"type": "array", "items": product},
        "guard": {"type": "array", "items": guard},
        "notify": table(Notify),
        **{
            name: {"type": "object"} if (cls := leaf(home)) is None else table(cls)
            for name, (home, _) in EXTRA_TABLES.items()
        },
    }


def _guard(table: Callable[[type], Schema]) -> Schema:
    """The keys of all kinds of guards; with the key that selects a kind, only that kind's."""
    classes = [Guard, *(cls for kind in KINDS.values() for cls in kind.__mro__[:-1])]
    guard = table(Guard)
    for cls in dict.fromkeys(classes):  # the one that declares a key describes it
        described = table(cls)["properties"].items()
        guard["properties"] |= {key: one for key, one in described if "description" in one}
    guard["allOf"] = [
        {
            "if": {"required": [watched]},
            "then": {"properties": dict.fromkeys(keys(kind), True), "additionalProperties": False},
        }
        for watched, kind in KINDS.items()
    ]
    return guard


def _variants(
    key: str, common: Schema, own: Mapping[str, Schema], family: str, defs: Schema
) -> Schema:
    """A table whose ``key`` selects the further keys beside the common ones."""
    every: set[str] = {key, *common["properties"]}
    chosen = []
    for name, schema in own.items():
        where = f"{key}-{name}.{family}"
        every.update(schema["properties"])
        made = {**schema, "properties": {**common["properties"], **schema["properties"]}}
        made["properties"][key] = {"const": name, "description": common["description"]}
        if name == "command" and key == "model":
            about = "The former name of command."
            made["properties"]["argv"] = {
                **made["properties"]["command"], "deprecated": True, "description": about
            }  # fmt: skip
            every.add("argv")
        if family == "whole":
            required = {*common.get("required", ()), *schema.get("required", ()), key}
            if "argv" in made["properties"]:
                required.remove("command")
                made["anyOf"] = [{"required": ["command"]}, {"required": ["argv"]}]
            made["required"] = sorted(required)
        defs[where] = made
        named = {"properties": {key: {"const": name}}, "required": [key]}
        chosen.append({"if": named, "then": {"$ref": f"#/$defs/{where}"}})
    names = {"enum": list(own), "description": f"The {key}, which selects the other keys."}
    table: Schema = {
        "type": "object",
        "description": common["description"],
        "properties": {**common["properties"], key: _open(names)},
        "propertyNames": {"enum": sorted(every)},
        "allOf": chosen,
    }
    if family == "whole":
        table["required"] = sorted({*common.get("required", ()), key})
    return table


def _table(cls: Any, family: str, defs: Schema) -> Schema:
    schema = deepcopy(adapter(cls, described=True).json_schema())
    inner = schema.pop("$defs", {})
    for name, one in inner.items():
        defs[f"{name}.{family}"] = _shape(one, family)
    made = _shape(schema, family)
    if is_dataclass(cls):
        for item in fields(cls):
            if item.default_factory is not MISSING and item.name in made["properties"]:
                value = to_jsonable_python(item.default_factory(), exclude_none=True)
                made["properties"][item.name].setdefault("default", value)
    made.setdefault("description", (cls.__doc__ or "").split("\n\n")[0])
    return made


def _shape(schema: Schema, family: str) -> Schema:
    """The schema of a table: without titles and nulls, open to placeholders."""
    made: Schema = _value(schema, family)
    made["properties"] = made.get("properties", {})
    if family == "part":
        made.pop("required", None)
    return made


def _value(schema: Any, family: str) -> Any:
    """A schema of a value, with everything inside it, open to placeholders."""
    if isinstance(schema, bool):
        return schema
    made = {key: value for key, value in schema.items() if key != "title"}
    if made.get("default", 0) is None:
        made.pop("default")
    if "$ref" in made:
        made["$ref"] = f"{made['$ref']}.{family}"
    if "properties" in made:
        made["properties"] = {name: _value(one, family) for name, one in made["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(made.get(key), dict):
            made[key] = _value(made[key], family)
    for key in ("anyOf", "oneOf", "prefixItems"):
        if key in made:
            made[key] = [_value(one, family) for one in made[key] if one != {"type": "null"}]
    return _open(made)


def _open(schema: Schema) -> Schema:
    """Accept a placeholder in place of a number, a truth value or one of several texts."""
    numeric = schema.get("type") in {"integer", "number", "boolean"}
    chosen = bool(schema.keys() & {"enum", "const", "pattern", "minLength"})
    if "anyOf" in schema:
        # Members that already accept a placeholder each list it once.
        members = [one for one in _members(schema["anyOf"]) if one != _PLACE]
        plain = any(one == {"type": "string"} for one in members)
        opened = len(members) < len(_members(schema["anyOf"]))
        rest = [*members, _PLACE] if opened and not plain else members
        outer = {key: value for key, value in schema.items() if key != "anyOf"}
        return {**outer, **rest[0]} if len(rest) == 1 else {**outer, "anyOf": rest}
    if not (numeric or chosen):
        return schema
    outer = {key: schema[key] for key in ("description", "default") if key in schema}
    inner = {key: value for key, value in schema.items() if key not in outer}
    return {**outer, "anyOf": [inner, _PLACE]}


def _members(schemas: list[Schema]) -> list[Schema]:
    """The members of a union, with those of nested unions."""
    found: list[Schema] = []
    for one in schemas:
        inner = one["anyOf"] if set(one) == {"anyOf"} else [one]
        found += _members(inner) if inner != [one] else inner
    return found
