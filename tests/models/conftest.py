"""What tests of models share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def inputs(tmp_path: Path) -> Callable[..., Path]:
    """A folder with this namelist, by group."""

    def make(time_control: str, **groups: str) -> Path:
        text = f"&time_control\n {time_control}\n/\n"
        text += "".join(f"&{name} {inside} /\n" for name, inside in groups.items())
        (tmp_path / "namelist.input").write_text(text)
        return tmp_path

    return make
