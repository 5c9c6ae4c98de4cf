"""Words over the field of a picture, as data: a reader can write them sharp at any size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.colors import to_hex
from matplotlib.quiver import QuiverKey
from matplotlib.text import Text

_ACROSS = {"left": 0.0, "center": 0.5, "right": 1.0}
_DOWN = {"top": 0.0, "center": 0.5, "center_baseline": 0.5, "baseline": 1.0, "bottom": 1.0}


@dataclass(frozen=True, slots=True)
class InnerWords:
    """Words at a place ``at`` (x, y) in pixels from the upper left corner of the picture.

    ``letter`` is the size of the font in pixels; ``align`` says where in the words' box the place
    is (0 to 1 from its left and its top); they are turned by ``angle`` degrees, counter-clockwise,
    around the middle of the box.
    """

    text: str
    at: tuple[float, float]
    align: tuple[float, float]
    letter: float
    angle: float
    colour: str
    bold: bool

    def facts(self) -> dict[str, Any]:
        """As JSON: of ``align``, ``angle`` and ``bold`` only what is unusual."""
        whole = {
            "text": self.text,
            "at": [round(part, 1) for part in self.at],
            "letter": round(self.letter, 1),
            "colour": self.colour,
        }
        more: dict[str, Any] = {}
        if self.align != (0.5, 0.5):
            more["align"] = list(self.align)
        if self.angle:
            more["angle"] = round(self.angle, 1)
        if self.bold:
            more["bold"] = True
        return whole | more


def words_of(artist: Artist) -> Text | None:
    """The text that an artist is, or has; None where it has none or hides it."""
    text = artist.text if isinstance(artist, QuiverKey) else artist
    shown = isinstance(text, Text) and artist.get_visible() and text.get_text()
    return text if isinstance(text, Text) and shown else None


def inner_words(
    texts: Sequence[Text], renderer: RendererAgg, box: Sequence[float]
) -> Iterator[InnerWords]:
    """The texts, drawn by ``renderer``, whose place is in ``box`` (left, top, right, bottom)."""
    for text in texts:
        x, y = text.get_transform().transform(text.get_unitless_position())
        at = float(x), float(renderer.height - y)
        align = _ACROSS[text.get_horizontalalignment()], _DOWN[text.get_verticalalignment()]
        if not (box[0] <= at[0] < box[2] and box[1] <= at[1] < box[3]):
            continue
        yield InnerWords(
            text.get_text(),
            at,
            align,
            float(text.get_fontsize()) * renderer.dpi / 72,
            (text.get_rotation() + 180) % 360 - 180,
            to_hex(text.get_color()),
            text.get_fontweight() in ("bold", 700),
        )
