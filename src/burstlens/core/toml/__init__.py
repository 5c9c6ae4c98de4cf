"""TOML files that people write: the place of each value, and all faults at once.

Imports ``core`` alone.
"""

__all__ = ["faults", "places", "table", "text", "written"]
