"""A package with entry points, as pip leaves it in a folder of the path."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def install(site: Path, name: str, version: str, code: str, points: dict[str, Any]) -> None:
    """What pip leaves of a package with one module and these entry points."""
    about = site / f"{name}-{version}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (about / "entry_points.txt").write_text(
        "".join(
            f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in named.items())
            for group, named in points.items()
        )
    )
    (site / f"{name}.py").write_text(code)
