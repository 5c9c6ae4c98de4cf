"""Names of the files that a kind writes into the folder for its values."""

from __future__ import annotations

VALUES = "values.js"
GRID = "grid-{}.js"
