"""Quantities computed of a frame: by name, at levels, over time, and by formulas."""
