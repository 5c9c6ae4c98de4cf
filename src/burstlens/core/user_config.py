"""The user's configuration file: values of parameters, and permissions of guards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from platformdirs import user_config_path

from burstlens.core.toml.text import parse


def config_path() -> Path:
    """The user's configuration file: ``$XDG_CONFIG_HOME/burstlens/config.toml``."""
    return user_config_path("burstlens") / "config.toml"


def section(name: str) -> Any:
    """The file's value under that key, an empty table without it. Raises RecipeError."""
    path = config_path()
    return parse(path).get(name, {}) if path.is_file() else {}
