"""The parts of the documentation that are made from the code: recipe keys, commands, Python names,
files of a run.

Each function returns Markdown. ``tools/docs_site.py`` puts it where a page says
``<!-- generated: NAME -->``.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Collection, Iterator

import click

import burstlens
from burstlens.clients.cli import program
from burstlens.core.run.schema import NAMES, file_schema
from burstlens.workflows.recipe.schema import Schema, recipe_schema

_UNITS = {
    "capacity": "bytes", "walltime": "s",
    "_m_s": "m/s", "_km": "km", "_px": "pixels", "_m": "m", "_s": "s",
}  # fmt: skip
"""The unit of numbers, by the end of their key; the first that fits."""
_ONE_LINE = 60
"""Length of the longest default that is shown, in characters."""


def recipe_keys() -> str:
    """Every key of a recipe, table by table: type with unit, default, meaning."""
    schema = recipe_schema()
    defs, tables = schema["$defs"], schema["then"]["properties"]
    common = {"simulation": tables["simulation"], "product": tables["product"]["items"]}
    parts = ["## Top level", _keys(schema["properties"], schema["then"]["required"])]
    for name, table in tables.items():
        listed = table.get("type") == "array"
        entry = table["items"] if listed else table.get("additionalProperties") or table
        title = f"[[{name}]]" if listed else f"[{name}]"
        parts += [f"## {title}", _first(table.get("description") or entry["description"])]
        parts.append(_keys(entry["properties"], entry.get("required", ())))
        family = {"simulation": "model", "product": "kind"}.get(name)
        for own in (key for key in defs if key.startswith(f"{family}-") and _whole(key)):
            made = defs[own]
            word = own.removeprefix(f"{family}-").removesuffix(".whole")
            shared = {*common[name]["properties"], family}
            rest = {key: one for key, one in made["properties"].items() if key not in shared}
            parts += [f"### {family} = {json.dumps(word)}", _keys(rest, _required(made))]
    parts += ["## Nested tables", "The types above link to them."]
    for name in (key for key in defs if _whole(key) and "-" not in key):
        made = defs[name]
        parts += [f"### {name.removesuffix('.whole')}", _first(made["description"])]
        parts.append(_keys(made["properties"], made.get("required", ())))
    return "\n\n".join(parts) + "\n"


def _whole(name: str) -> bool:
    return name.endswith(".whole")


def _required(table: Schema) -> set[str]:
    """The keys that a table needs, a key with a former name among them."""
    either = (key for one in table.get("anyOf", ()) for key in one["required"])
    return {*table.get("required", ()), *either}


def _keys(properties: dict[str, Schema], required: Collection[str]) -> str:
    rows = [
        f"| `{key}` | {_typed(key, one)} | {_default(one, key in required)} "
        f"| {_cell(one.get('description', ''))} |"
        for key, one in properties.items()
        if not one.get("deprecated")
    ]
    return "\n".join(["| key | type | default | meaning |", "|---|---|---|---|", *rows])


def _typed(key: str, schema: Schema) -> str:
    unit = next((unit for end, unit in _UNITS.items() if key.endswith(end)), "")
    kind = _type(schema)
    return f"{kind}, {unit}" if unit else kind


def _type(schema: Schema) -> str:
    """A schema in words, without placeholders, which every value may be."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2].removesuffix(".whole")
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        members = [_type(one) for one in schema["anyOf"] if "placeholder" not in str(one)[:40]]
        return " or ".join(dict.fromkeys(members))
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(one)}`" for one in schema["enum"])
    if schema.get("type") == "array":
        if "prefixItems" in schema:
            return f"list of {len(schema['prefixItems'])} ({_type(schema['prefixItems'][0])})"
        return f"list ({_type(schema['items'])})" if "items" in schema else "list"
    if schema.get("type") == "object":
        inner = schema.get("additionalProperties")
        return f"table ({_type(inner)})" if isinstance(inner, dict) else "table"
    words = {"string": "text", "boolean": "true or false", "integer": "integer"}
    return words.get(schema.get("type", ""), schema.get("type", "any value"))


def _default(schema: Schema, required: bool) -> str:
    if required:
        return "required"
    value = schema.get("default")
    if value is None or isinstance(value, dict):
        return ""
    shown = json.dumps(value, ensure_ascii=False)
    return f"`{shown}`" if len(shown) <= _ONE_LINE and value not in ("", []) else ""


def _first(text: str) -> str:
    return " ".join(text.split("\n\n")[0].split())


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def commands() -> str:
    """Every command with its usage, its help, its arguments and options as ``--help`` has them."""
    whole = program()
    parts = [_command("burstlens", whole, "## burstlens")]
    named: dict[str, click.Command] = getattr(whole, "commands", {})
    for name, command in named.items():
        if not command.hidden:
            parts.append(_command(f"burstlens {name}", command, f"## burstlens {name}"))
    return "\n\n".join(parts) + "\n"


def _command(name: str, command: click.Command, title: str) -> str:
    context = click.Context(command, info_name=name)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    parts = [title, inspect.cleandoc(command.help or ""), f"    {usage}"]
    if rows := list(_parameters(command, context)):
        parts.append("\n".join(["| argument or option | meaning |", "|---|---|", *rows]))
    return "\n\n".join(parts)


def _parameters(command: click.Command, context: click.Context) -> Iterator[str]:
    for parameter in command.get_params(context):
        if (record := parameter.get_help_record(context)) is not None:
            yield f"| `{record[0]}` | {_cell(record[1])} |"


def python_names() -> str:
    """The public names of ``burstlens``, each as a block that mkdocstrings fills in."""
    parts = []
    for public in sorted(burstlens._PUBLIC, key=str.lower):
        home, inner = burstlens._PUBLIC[public]
        options = f"    options: {{ heading: {public}, toc_label: {public} }}"
        parts.append(f"::: {home}.{inner}\n{options}")
    return "\n\n".join(parts) + "\n"


def run_files() -> str:
    """The keys of the files of a run, and their JSON Schemas."""
    parts = []
    for name in NAMES:
        schema = file_schema(name)
        parts.append(f"## {schema['title'].partition(' of a ')[0]}")
        tables = {"": schema, **schema["$defs"]}
        if "$ref" in schema:
            tables = schema["$defs"]
        for made in tables.values():
            if "properties" not in made:
                continue
            events = made["properties"].get("event", {}).get("enum", [made["title"]])
            rows = {key: one for key, one in made["properties"].items() if key not in _LINE}
            parts += [f"### {events[0]}", _first(made.get("description", ""))]
            parts.append(_plain_keys(rows, made.get("required", ())) if rows else "No other key.")
        text = json.dumps(schema, indent=2)
        parts += [f"### JSON Schema: {name}", f"```json\n{text}\n```"]
    return "\n\n".join(parts) + "\n"


_LINE = ("event", "t", "driver")
"""The keys of every line of the journal."""


def _plain_keys(properties: dict[str, Schema], required: Collection[str]) -> str:
    rows = [
        f"| `{key}` | {_type(one)} | {'yes' if key in required else ''} |"
        for key, one in properties.items()
    ]
    return "\n".join(["| key | type | required |", "|---|---|---|", *rows])


GENERATED = {
    "recipe keys": recipe_keys,
    "commands": commands,
    "Python names": python_names,
    "run files": run_files,
}
