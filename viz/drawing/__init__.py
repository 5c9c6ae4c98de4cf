"""What pictures share: style, colours and their limits, headings, PNG; ``maps`` and ``coast``.

Imports ``diagnostics`` and what is below it; knows no kind of product.
"""

__all__ = [
    "coast",
    "colour_bar",
    "colour_names",
    "colours",
    "heading",
    "limits",
    "maps",
    "picture",
    "png",
    "style",
]
