"""The options of the product kind."""

from __future__ import annotations

import re
from dataclasses import dataclass

from burstlens.viz.kinds.base import OptionsTable
from burstlens.viz.kinds.shipped import check_extension, check_relative

PLACEHOLDERS = ("frame", "record", "out", "time", "stream")
_BRACES = re.compile(r"\{(\w*)\}")


@dataclass(frozen=True, slots=True)
class CommandOptions(OptionsTable):
    """A program that is started for each frame."""

    command: tuple[str, ...]
    """Program and arguments, without a shell. `{frame}` is the frame's file, `{record}` its index
    in that file, `{out}` where the product goes, `{time}` its valid time, `{stream}` its stream."""

    output: str | None = None
    """The file that the program leaves in its folder (`T2.png`, or a pattern such as `*.png`);
    without it the program writes to `{out}`."""

    files: tuple[str, ...] = ()
    """Files beside the recipe that the program needs: scripts, colour tables. They appear in the
    folder in which it runs."""

    extension: str = "png"
    """The extension of the file that the program writes, without the dot."""

    timeout_s: float = 300.0
    """After this many seconds the program and all that it started are ended."""

    def __post_init__(self) -> None:
        if not self.command or not self.command[0].strip():
            raise ValueError("command must name a program")
        used = {name for part in self.command for name in _BRACES.findall(part)}
        unknown = sorted(used - set(PLACEHOLDERS))
        if unknown:
            there = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
            raise ValueError(f"command: there is no {{{unknown[0]}}}, only {there}")
        for path in (*self.files, *([self.output] if self.output else [])):
            check_relative(path)
        check_extension(self.extension)
        if not 0 < self.timeout_s <= 86400:
            raise ValueError("timeout_s must be above 0 and at most a day")
        if self.output is None and "out" not in used:
            raise ValueError("say which file the program leaves (output), or use {out} in command")
