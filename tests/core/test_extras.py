"""The command that adds an extra: from where this Burstlens was installed."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from burstlens.core.extras import install_command

ORIGINS = {
    "a clone that is edited": (
        {"url": "file:///home/me/storm%20tools", "dir_info": {"editable": True}},
        ["-e", "/home/me/storm tools[serve]"],
    ),
    "a folder": ({"url": "file:///sw/burstlens", "dir_info": {}}, ["/sw/burstlens[serve]"]),
    "a wheel": (
        {"url": "file:///sw/burstlens-1.whl", "archive_info": {}},
        ["burstlens[serve] @ file:///sw/burstlens-1.whl"],
    ),
    "the package index": (None, ["burstlens[serve]"]),
    "no one knows": ("{", ["burstlens[serve]"]),
}


@pytest.mark.parametrize(("origin", "words"), ORIGINS.values(), ids=ORIGINS)
def test_an_extra_comes_from_where_burstlens_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, origin: object, words: list[str]
) -> None:
    about = tmp_path / "burstlens-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: burstlens\nVersion: 1.0\n")
    if origin is not None:
        text = origin if isinstance(origin, str) else json.dumps(origin)
        (about / "direct_url.json").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    command = shlex.split(install_command("serve"))
    assert command == [sys.executable, "-m", "pip", "install", *words]
