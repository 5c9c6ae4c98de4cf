"""Names that users give to recipes, products and guards; files are named after them."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

# No dot: it separates the parts of dotted paths and file names.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def _named(value: str) -> str:
    if not NAME.fullmatch(value):
        raise ValueError("a name is 1 to 64 letters, digits, '_' or '-', as it names files")
    return value


Name = Annotated[
    str, AfterValidator(_named), Field(json_schema_extra={"pattern": f"^{NAME.pattern}$"})
]
