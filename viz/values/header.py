"""The header of a picture's values: which picture, where its field lies in it, in which colours."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.colors import Colormap, to_hex

from burstlens.viz.drawing import style
from burstlens.viz.product import Context

_KEPT = (
    "size", "box", "extent", "projection", "limits", "length_units", "title", "smooth", "resampled",
)  # fmt: skip


def header(
    context: Context,
    picture: int,
    facts: Mapping[str, Any],
    colours: Colormap,
    edges: tuple[float, ...],
    *,
    log: bool,
) -> dict[str, Any]:
    """The header's part that all fields share.

    ``picture`` is the CRC-32 of the picture that these values belong to: a reader who finds
    another one in the index has values of an older or a newer picture. ``facts`` are the product's.
    """
    scale = style.SCALES.get(colours.name)
    names = {"names": list(scale.names)} if scale and scale.names else {}
    shared = {name: facts[name] for name in _KEPT if name in facts}
    return {
        "product": context.product,
        "stream": context.stream,
        "time": context.time,
        "attempt": context.attempt,
        "picture": picture,
        **{name: value for name, value in shared.items() if name != "limits"},
        "colours": {
            "map": colours.name,
            "table": _table(colours, len(edges) - 1 if edges else 256),
            "under": _hex(colours.get_under()),
            "over": _hex(colours.get_over()),
            "bad": _hex(colours.get_bad()),
            "ground": _hex(facts.get("ground", colours.get_bad())),
            "limits": facts["limits"],
            "edges": list(edges),
            "log": log,
            **names,
        },
    }


def _hex(colour: Any) -> str:
    return to_hex(colour)


def _table(colours: Colormap, count: int) -> str:
    """The colours from low to high: base64 of red, green and blue bytes."""
    table = np.rint(colours(np.linspace(0, 1, count))[:, :3] * 255).astype(np.uint8)
    return base64.b64encode(table).decode()
