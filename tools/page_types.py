"""Writes viz/live/status.d.ts: the types of a run's status, as burstlens.core.run.status_file has
them.

    python tools/page_types.py

A key with a default may be missing.
"""

from __future__ import annotations

import argparse
import inspect
import re
from pathlib import Path

from msgspec import inspect as kinds

from burstlens.core.run.status_file import RunStatus

PAGE = Path(__file__).parents[1] / "viz" / "live" / "status.d.ts"
_PLAIN = {
    kinds.StrType: "string", kinds.IntType: "number", kinds.FloatType: "number",
    kinds.BoolType: "boolean", kinds.NoneType: "null", kinds.AnyType: "unknown",
}  # fmt: skip


def main() -> None:
    """Write the module."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    PAGE.write_text(text(), encoding="utf-8")


def text() -> str:
    """The module's text."""
    interfaces: dict[str, str] = {}
    _type(kinds.type_info(RunStatus), interfaces)
    return "\n\n".join([_BEGIN, *interfaces.values()]) + "\n"


def _type(kind: kinds.Type, interfaces: dict[str, str]) -> str:
    """The type in TypeScript; adds the interfaces that it refers to."""
    match kind:
        case kinds.Metadata():
            return _type(kind.type, interfaces)
        case kinds.UnionType():
            return " | ".join(_type(one, interfaces) for one in kind.types)
        case kinds.ListType():
            item = _type(kind.item_type, interfaces)
            return f"({item})[]" if " " in item else f"{item}[]"
        case kinds.DictType():
            return f"Record<string, {_type(kind.value_type, interfaces)}>"
        case kinds.StructType():
            name = kind.cls.__name__
            if name not in interfaces:
                interfaces[name] = ""  # its place: parts come after the whole
                interfaces[name] = _interface(kind, interfaces)
            return name
    return _PLAIN[type(kind)]


def _interface(struct: kinds.StructType, interfaces: dict[str, str]) -> str:
    about = re.sub(r":\w+:|`(?=`)", "", inspect.getdoc(struct.cls) or "").splitlines()
    comment = [f" * {line}".rstrip() for line in about]
    if len(comment) == 1:
        comment = [f"/** {about[0]} */"]
    else:
        comment = ["/**", *comment, " */"]
    keys = []
    for field in struct.fields:
        kind = _type(field.type, interfaces)
        if struct.cls.__struct_config__.omit_defaults and field.default is None:
            kind = kind.removesuffix(" | null")  # it is left out instead
        keys.append(f"  {field.encode_name}{'' if field.required else '?'}: {kind};")
    return "\n".join([*comment, f"export interface {struct.cls.__name__} {{", *keys, "}"])


_BEGIN = "/** What the page reads of a run's status; tools/page_types.py writes this file. */"


if __name__ == "__main__":
    main()
