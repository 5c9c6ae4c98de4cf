"""The version, at the one place: pyproject.toml and the documentation read it here."""

__version__ = "0.2.0"
