"""The product kind ``python``: the user's own function."""

from __future__ import annotations

from pathlib import Path

from burstlens.viz.kinds.base import ProductKind
from burstlens.viz.kinds.python.options import PythonOptions
from burstlens.viz.product import Context, Made, ProductFrame


class PythonKind(ProductKind[PythonOptions]):
    """Products of a Python function that travels with the run."""

    name = "python"
    options = PythonOptions

    def extensions(self, options: PythonOptions) -> tuple[str, ...]:
        return (options.extension,)

    def ships(self, options: PythonOptions) -> tuple[str, ...]:
        return (options.file,)

    def runs(self, options: PythonOptions) -> str:
        return options.function

    def chained(self, options: PythonOptions) -> bool:
        return options.chained

    def follows(self, options: PythonOptions) -> tuple[str, ...]:
        return options.follows

    def beside(self, options: PythonOptions) -> tuple[str, ...]:
        return options.beside

    def make(
        self, options: PythonOptions, frame: ProductFrame, out: Path, context: Context
    ) -> Made:
        from burstlens.viz.kinds.python.draw import call_function

        return Made(options.extension, call_function(options, frame, out, context))
