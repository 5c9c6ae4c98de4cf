"""Requests that anybody may have dropped into ``control/``."""

from __future__ import annotations

import os

import pytest

from burstlens.errors import RecipeError
from burstlens.workflows.addition import read_addition


@pytest.mark.parametrize(
    "make",
    [os.mkdir, os.mkfifo, lambda path: path.write_text("[" * 100_000),
     lambda path: path.write_text("[]"), lambda path: path.write_text('{"products": {}}')],
    ids=["folder", "pipe", "deep", "list", "table"],
)  # fmt: skip
def test_what_no_add_has_written_is_refused(tmp_path, make):
    path = tmp_path / "add-1.json"
    make(path)
    with pytest.raises(RecipeError, match="is no file that `burstlens add` writes"):
        read_addition(path)
