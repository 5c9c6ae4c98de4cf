"""The product kind ``command``: any program, a script in any language."""

from __future__ import annotations

from pathlib import Path

from burstlens.viz.kinds.base import ProductKind
from burstlens.viz.kinds.command.options import CommandOptions
from burstlens.viz.product import Context, Made, ProductFrame


class CommandKind(ProductKind[CommandOptions]):
    """Products of a program: a script in any language, unchanged."""

    name = "command"
    options = CommandOptions

    def extensions(self, options: CommandOptions) -> tuple[str, ...]:
        return (options.extension,)

    def ships(self, options: CommandOptions) -> tuple[str, ...]:
        return options.files

    def runs(self, options: CommandOptions) -> str:
        return " ".join(options.command)

    def make(
        self, options: CommandOptions, frame: ProductFrame, out: Path, context: Context
    ) -> Made:
        from burstlens.viz.kinds.command.draw import run_program

        return Made(options.extension, run_program(options, frame, out, context))
