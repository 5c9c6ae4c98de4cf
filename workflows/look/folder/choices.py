"""What a first look says of members, steps and other things of which it shows one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from burstlens.viz.frames.further import JOINED
from burstlens.workflows.frames.contents import Contents
from burstlens.workflows.look.folder.fields import Candidate


def chosen_words(shown: Mapping[str, Sequence[str]], contents: Contents) -> list[str]:
    """One sentence for each further dimension, with the text that chooses another point.

    ``shown`` are the further dimensions of each variable of a file that is shown.
    """
    said = []
    for dimension in dict.fromkeys(d for further in shown.values() for d in further):
        names = [name for name, further in shown.items() if dimension in further]
        about, size = contents.variables.get(dimension), contents.sizes.get(dimension, 0)
        last = str(max(0, size - 1))
        if about is not None:
            last = f"{about.ends[1]:g}" if about.ends else "..."
        said.append(
            f"{', '.join(names)}: the {size} of {dimension} are joined, where one has no value"
            if JOINED.fullmatch(dimension)
            else f"{', '.join(names)}: the first of {size} along {dimension} that has values"
        )
        said[-1] += f'; --product "{names[0]}[{dimension}={last}]" shows another'
    return said


def level_words(shown: Candidate, level: int, contents: Contents) -> str:
    """The sentence for a dimension of which one point is shown as a level, as nothing in the file
    says what it is."""
    dimension = shown.counted
    about, size = contents.variables.get(dimension), contents.sizes.get(dimension, 0)
    last = f"{about.ends[1]:g}" if about is not None and about.ends else f"{max(0, size - 1)}"
    return (
        f"{shown.name}: level {level} of {size} along {dimension}, which may be no height; "
        f'--product "{shown.name}[{dimension}={last}]" shows another'
    )
