"""How an extra of Burstlens is added: from where this Burstlens came."""

from __future__ import annotations

import json
import shlex
import sys
from importlib import metadata
from urllib.parse import unquote, urlsplit


def install_command(extra: str) -> str:
    """The command that adds an extra of ``pyproject.toml`` to the Python that runs now.

    A Burstlens that was installed from a folder or a file takes its extras from there, which
    ``direct_url.json`` of its installation names (PEP 610); any other from the package index.

    In a clone: ``.venv/bin/python -m pip install -e '/home/me/burstlens[serve]'``, with full paths.
    """
    return shlex.join([sys.executable, "-m", "pip", "install", *_requirement(extra)])


def _requirement(extra: str) -> list[str]:
    try:
        text = metadata.distribution("burstlens").read_text("direct_url.json")
        origin = json.loads(text) if text else {}
        url = str(origin["url"]) if origin else ""
    except (metadata.PackageNotFoundError, ValueError, KeyError, TypeError):
        origin, url = {}, ""
    if not url:
        return [f"burstlens[{extra}]"]
    folder = origin.get("dir_info")
    if folder is None or urlsplit(url).scheme != "file":
        return [f"burstlens[{extra}] @ {url}"]
    editable = ["-e"] * bool(folder.get("editable"))
    return [*editable, f"{unquote(urlsplit(url).path)}[{extra}]"]
