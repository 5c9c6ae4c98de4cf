"""The product kind ``python``: the user's own function."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from burstlens.viz.product import Context, Made, PlainKind

if TYPE_CHECKING:
    from burstlens.viz.product import ProductFrame

from burstlens.viz.kinds.python.options import PythonOptions


class PythonKind(PlainKind):
    """Products of a Python function that travels with the run."""

    name: ClassVar[str] = "python"
    options: ClassVar[type[PythonOptions]] = PythonOptions

    def extensions(self, options: PythonOptions) -> tuple[str, ...]:
        """The stated extension."""
        return (options.extension,)

    def ships(self, options: PythonOptions) -> tuple[str, ...]:
        """The function's file."""
        return (options.file,)

    def runs(self, options: PythonOptions) -> str:
        """The function."""
        return options.function

    def chained(self, options: PythonOptions) -> bool:
        """As stated."""
        return options.chained

    def follows(self, options: PythonOptions) -> tuple[str, ...]:
        """As stated."""
        return options.follows

    def beside(self, options: PythonOptions) -> tuple[str, ...]:
        """As stated."""
        return options.beside

    def make(
        self, options: PythonOptions, frame: ProductFrame, out: Path, context: Context
    ) -> Made:
        """Call the function. FrameError with its message and line when it fails."""
        from burstlens.viz.kinds.python.draw import call_function

        return Made(options.extension, call_function(options, frame, out, context))
