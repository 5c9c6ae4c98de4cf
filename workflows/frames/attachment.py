"""The options of a watch of a folder in which others started a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from burstlens.core.model import Fingerprint
from burstlens.workflows.frames.arrival import Selection


@dataclass(frozen=True, slots=True)
class Attachment:
    """How a folder is watched in which others started a model.

    ``selection``: what is wanted of the frames that are there on arrival. ``stamp``: a file of the
    run directory that shows the file server's time. ``sweep``: finished files to look at again, by
    name, with their fingerprints. ``ended``: the model certainly writes no more; ``concluded``:
    that the watch has ended was reported before, so it is no news.
    """

    selection: Selection
    stamp: str
    sweep: Mapping[str, Fingerprint] = field(default_factory=dict)
    ended: bool = False
    concluded: bool = False
