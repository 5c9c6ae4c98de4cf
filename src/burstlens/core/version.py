"""The version: pyproject.toml and the documentation read it here."""

__version__ = "0.2.0"
