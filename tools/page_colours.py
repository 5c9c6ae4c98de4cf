"""Writes viz/live/drawing/maps.js: the colour maps that readers of the page can choose.

    python tools/page_colours.py

Each is 33 colours from low to high, between which the page interpolates: perceptually even maps of
cmcrameri, cmocean and matplotlib, and none that shows edges where the field has none.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from burstlens.viz.drawing import style

PAGE = Path(__file__).parents[1] / "viz" / "live" / "drawing" / "maps.js"
NAMES = (
    "batlow", "viridis", "thermal", "haline", "amp", "dense", "oslo", "grayC",
    "vik", "balance", "broc", "curl",
)  # fmt: skip
COUNT = 33


def main() -> None:
    """Write the module."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    PAGE.write_text(text(), encoding="utf-8")


def text() -> str:
    """The module's text."""
    lines = []
    for name in NAMES:
        colours = np.rint(style.colormap(name)(np.linspace(0, 1, COUNT))[:, :3] * 255)
        lines.append(f"{name} " + "".join(f"{int(part):02x}" for part in colours.ravel()))
    return _BEGIN + "\n".join(lines) + _END


_BEGIN = """/** Colours from low to high, six digits each; tools/page_colours.py writes them. */
const TABLE = `
"""
_END = """
`;

/**
 * By the name of their map; the last four diverge from their middle.
 * @type {Record<string, string>}
 */
export const MAPS = Object.fromEntries(
  TABLE.trim()
    .split("\\n")
    .map((line) => line.split(" ")),
);
"""


if __name__ == "__main__":
    main()
