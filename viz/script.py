"""The product kinds ``python`` and ``command``: the user's own function, or any program."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, ClassVar

from burstlens.viz.product import Context, Made, PlainKind

if TYPE_CHECKING:
    from burstlens.viz.frame import FrameReader

PLACEHOLDERS = ("frame", "record", "out", "time", "stream")
_FUNCTION = re.compile(r"(?P<file>[^:]+\.py):(?P<name>[^\W\d]\w*)")
_BRACES = re.compile(r"\{(\w*)\}")


@dataclass(frozen=True, slots=True)
class PythonOptions:
    """A function of the user's, called for each frame."""

    __pydantic_config__ = {"extra": "forbid", "use_attribute_docstrings": True}  # noqa: RUF012

    function: str
    """`plots.py:rain`: a file beside the recipe, and in it a function `f(frame, out_path)` that
    writes the product to `out_path`. `frame` has `read(name)`, `variable(name)`, `names`,
    `attributes`, `dimensions`, `time`, `stream`, `record` and `paths`."""

    extension: str = "png"
    """What the function writes, as a file name ends."""

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


@dataclass(frozen=True, slots=True)
class CommandOptions:
    """A program that is started for each frame."""

    __pydantic_config__ = {"extra": "forbid", "use_attribute_docstrings": True}  # noqa: RUF012

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
    """What the program writes, as a file name ends."""

    timeout_s: float = 300.0
    """After so many seconds the program and all that it started are ended."""

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


class PythonKind(PlainKind):
    """Products of a Python function that travels with the run."""

    name: ClassVar[str] = "python"
    options: ClassVar[type[PythonOptions]] = PythonOptions

    def extensions(self, options: PythonOptions) -> tuple[str, ...]:
        """The one stated."""
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

    def make(self, options: PythonOptions, frame: FrameReader, out: Path, context: Context) -> Made:
        """Call the function. FrameError with its message and line when it fails."""
        from burstlens.viz.user_code import call_function

        return Made(options.extension, call_function(options, frame, out, context))


class CommandKind(PlainKind):
    """Products of a program: a script in any language, unchanged."""

    name: ClassVar[str] = "command"
    options: ClassVar[type[CommandOptions]] = CommandOptions

    def extensions(self, options: CommandOptions) -> tuple[str, ...]:
        """The one stated."""
        return (options.extension,)

    def ships(self, options: CommandOptions) -> tuple[str, ...]:
        """The files stated."""
        return options.files

    def runs(self, options: CommandOptions) -> str:
        """The program and its arguments."""
        return " ".join(options.command)

    def make(
        self, options: CommandOptions, frame: FrameReader, out: Path, context: Context
    ) -> Made:
        """Run the program. FrameError with the end of its messages when it fails."""
        from burstlens.viz.user_program import run_program

        return Made(options.extension, run_program(options, frame, out, context))


def check_relative(path: str) -> None:
    """ValueError when a path leaves the folder it is meant to stay in."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts:
        raise ValueError(f"{path!r} must be a relative path without '..'")


def check_extension(extension: str) -> None:
    """ValueError when an extension is none: letters and digits, without the dot."""
    if not re.fullmatch(r"[A-Za-z0-9]{1,12}(\.[A-Za-z0-9]{1,12})?", extension):
        raise ValueError(f"extension is letters and digits without a dot, not {extension!r}")
