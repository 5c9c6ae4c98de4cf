"""Shared by all pictures: style, colours and their limits, headings, PNG; ``maps`` and ``coast``.

Imports ``diagnostics`` and what is below it; does not depend on any kind of product.
"""

__all__ = [
    "coast",
    "colour_bar",
    "colour_names",
    "colours",
    "heading",
    "legend",
    "limits",
    "maps",
    "picture",
    "png",
    "style",
]
