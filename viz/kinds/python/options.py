"""The options of the product kind."""

from __future__ import annotations

import re
from dataclasses import dataclass

from burstlens.viz.kinds.base import OptionsTable
from burstlens.viz.kinds.shipped import check_extension, check_relative

_FUNCTION = re.compile(r"(?P<file>[^:]+\.py):(?P<name>[^\W\d]\w*)")


@dataclass(frozen=True, slots=True)
class PythonOptions(OptionsTable):
    """A function of the user's, called for each frame."""

    function: str
    """`plots.py:rain`: a file beside the recipe, and in it a function `f(frame, out_path)` that
    writes the product to `out_path`. `frame` has `read(name)`, `variable(name)`, `names`,
    `attributes`, `dimensions`, `time`, `stream`, `record` and `paths`."""

    extension: str = "png"
    """The extension of the file that the function writes, without the dot."""

    chained: bool = False
    """Made frame after frame: called as `f(frame, out_path, state_path)`. What it writes to
    `state_path`, in any form, it finds as `frame.previous` (a path, or None at the first frame)
    when it is called for the next one."""

    follows: tuple[str, ...] = ()
    """Chained products whose newest state it reads: `frame.followed["track"]` is a path."""

    beside: tuple[str, ...] = ()
    """Other streams whose newest frame it reads: `frame.beside["d02"]` has `paths`, `record`,
    `stream` and `time`."""

    def __post_init__(self) -> None:
        match = _FUNCTION.fullmatch(self.function)
        if match is None:
            raise ValueError(f"function is 'file.py:name', not {self.function!r}")
        check_relative(match["file"])
        check_extension(self.extension)

    @property
    def file(self) -> str:
        """The file, relative to the recipe's folder."""
        return self.function.partition(":")[0]
