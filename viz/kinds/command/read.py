"""What a program gets of a frame: links to its files, and its arguments."""

from __future__ import annotations

from pathlib import Path

from burstlens.viz.kinds.command.options import CommandOptions
from burstlens.viz.kinds.shipped import inside
from burstlens.viz.product import Context, ProductFrame


def link_files(
    scratch: Path, options: CommandOptions, frame: ProductFrame, context: Context
) -> set[Path]:
    """Link the files shipped with the run and the frame's into a folder; the links."""
    targets = [(scratch / name, inside(context.files, name)) for name in options.files]
    targets += [(scratch / path.name, path.resolve()) for path in frame.paths]
    for link, target in targets:
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)
    return {link for link, _ in targets}


def arguments_of(
    options: CommandOptions, frame: ProductFrame, written: Path, context: Context
) -> list[str]:
    """The command with its placeholders filled; each part stays one argument, without a shell."""
    values = {
        "{record}": str(frame.record),
        "{out}": str(written),
        "{time}": context.time,
        "{stream}": context.stream,
        "{frame}": str(frame.paths[0].resolve()),
    }
    arguments: list[str] = []
    for part in options.command:
        if part == "{frame}":
            arguments += [str(path.resolve()) for path in frame.paths]
            continue
        for name, value in values.items():
            part = part.replace(name, value)
        arguments.append(part)
    return arguments
