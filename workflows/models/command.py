"""Any program that writes netCDF: an argument list and the patterns of its files."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from burstlens.core.errors import FrameError, RecipeError
from burstlens.core.nearness import did_you_mean
from burstlens.workflows.models.base import Facts, LogLine, OutputName, OutputNames
from burstlens.workflows.models.ends import read_end
from burstlens.workflows.models.inputs import earlier_frame, old_output

if TYPE_CHECKING:
    from burstlens.viz.frames.outline import Known

DEFAULT_STREAM = "output"


@dataclass(frozen=True, slots=True)
class Command:
    """The adapter.

    ``argv``, in recipes ``command``, starts the program. ``frames`` is the glob of its output, or
    one per stream (``{ surface = "surface_*.nc" }``); files of a stream follow each other by name.
    ``time_variable`` holds the times (CF units; a bare unit means elapsed time). Regular
    expressions for lines of its standard output, all optional: ``progress`` with the groups
    ``elapsed`` and perhaps ``total`` (simulated seconds), ``written`` with the group ``file`` (the
    program says so after it has closed or flushed the file), ``trouble``, ``done``.
    ``parallel``: several processes write one classic file (PnetCDF).

    Raises :class:`RecipeError` for an empty ``argv``, a bad expression or a glob in a folder.
    """

    # Recipes say `command`, as in steps and products; here that is the name of a method.
    argv: Annotated[Sequence[str], Field(alias="command", json_schema_extra={"minItems": 1})]
    """Program and arguments that start the model in its folder; no shell reads them."""
    frames: Mapping[str, str] | str = field(default_factory=dict)
    """The glob of its output files, or one per stream: `{ surface = "surface_*.nc" }`."""
    time_variable: str = "time"
    """The variable that holds the times, in CF units; a bare unit means elapsed time."""
    progress: str | None = None
    """A regular expression for its output, with the groups `elapsed` and perhaps `total`."""
    written: str | None = None
    """A regular expression with the group `file`: a file is closed or flushed."""
    trouble: str | None = None
    """A regular expression for lines that become alarms."""
    done: str | None = None
    """A regular expression for the line without which an exit status 0 is not a success."""
    parallel: bool = False
    """Whether several processes write one classic file (PnetCDF)."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables to add to its environment."""
    log_patterns: tuple[str, ...] = ("model.log",)
    """Logs to follow, as globs in the model's folder."""
    keep_patterns: tuple[str, ...] = ("model.log",)
    """Small files to bring home at the end, as globs."""

    name: ClassVar[str] = "command"
    mpi: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.argv or not all(isinstance(word, str) for word in self.argv):
            raise RecipeError("simulation.command must be a list of at least one word")
        for stream, pattern in self._patterns():
            if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", stream):
                raise RecipeError(
                    f"simulation.frames: {stream!r} must be letters, digits, '_' or '-', as it "
                    "names files"
                )
            path = PurePosixPath(pattern)
            if path.is_absolute() or ".." in path.parts or re.search(r"[*?[]", str(path.parent)):
                raise RecipeError(
                    f"simulation.frames.{stream}: {pattern!r} must be relative, with its wildcards "
                    "in the file's name"
                )
        for key, needed in (
            ("progress", "elapsed"),
            ("written", "file"),
            ("trouble", None),
            ("done", None),
        ):
            self._check_expression(key, needed)

    def _patterns(self) -> list[tuple[str, str]]:
        if isinstance(self.frames, str):
            return [(DEFAULT_STREAM, self.frames)]
        return list(self.frames.items())

    def _check_expression(self, key: str, needed: str | None) -> None:
        text = getattr(self, key)
        if text is None:
            return
        try:
            pattern = re.compile(text)
        except re.error as error:
            raise RecipeError(
                f"simulation.{key}: {text!r} is not a valid regular expression: {error}"
            ) from None
        if needed and needed not in pattern.groupindex:
            raise RecipeError(f"simulation.{key}: {text!r} lacks the group (?P<{needed}>...)")

    def command(self) -> list[str]:
        """The argument list as given."""
        return list(self.argv)

    def runs(self) -> str:
        """The program and its arguments, all given by the recipe."""
        return " ".join(self.argv)

    def environment(self) -> dict[str, str]:
        """As given; nothing is added."""
        return dict(self.env)

    def identify(self, name: str) -> OutputName | None:
        """The first stream whose pattern matches; the name does not give the time."""
        path = PurePosixPath(name)
        for stream, pattern in self._patterns():
            glob = PurePosixPath(pattern)
            if glob.parent == path.parent and fnmatchcase(path.name, glob.name):
                return OutputName(stream)
        return None

    def main_stream(self, inputs: Path) -> str | None:
        """The first one of ``frames``."""
        return next((stream for stream, _ in self._patterns()), None)

    def is_leftover(self, name: str) -> bool:
        """Whether it would be taken for a frame."""
        return self.identify(name) is not None

    def ready_flag(self, name: str) -> OutputName | None:
        """None: the program writes no flags."""
        return None

    def read_line(self, line: str) -> LogLine | None:
        """What the first of the recipe's expressions that matches finds in the line."""
        if self.written and (match := re.search(self.written, line)):
            file = str(PurePosixPath(match["file"]))
            output = self.identify(file)
            return LogLine("written", line, stream=output.stream if output else None, file=file)
        if self.trouble and re.search(self.trouble, line):
            # An expression such as "Abort|ERROR" may match a launcher's final messages.
            return read_end(line) or LogLine("trouble", line.strip())
        if self.done and re.search(self.done, line):
            return LogLine("end", line)
        if self.progress and (match := re.search(self.progress, line)):
            groups = match.groupdict()
            return LogLine(
                "progress",
                line,
                elapsed_s=_seconds(groups.get("elapsed")),
                total_s=_seconds(groups.get("total")),
            )
        return None

    def facts(self, folder: Path) -> Facts:
        """Classic files have one writer, unless the recipe says otherwise."""
        parents = {str(PurePosixPath(glob).parent) for _, glob in self._patterns()}
        folders = tuple(sorted("" if parent == "." else parent for parent in parents)) or ("",)
        return Facts(
            serial_classic=not self.parallel,
            tells_end=self.done is not None,
            folders=folders,
            streams=tuple(stream for stream, _ in self._patterns()),
        )

    def output_names(self, inputs: Path) -> OutputNames:
        """The patterns of its frames. It makes its folders itself, if they are not there."""
        return OutputNames(written=tuple(str(PurePosixPath(glob)) for _, glob in self._patterns()))

    def outline(self, inputs: Path, stream: str) -> Known | None:
        """What a frame of an earlier run holds, where there is one."""
        from burstlens.viz.frames.outline import Known
        from burstlens.workflows.models.header import read_header

        names = [name for name, _ in self._patterns()]
        if names and stream not in names:
            raise RecipeError(f"frames names no stream {stream!r}{did_you_mean(stream, names)}")
        earlier = earlier_frame(inputs, self.identify, stream)
        try:
            header = read_header(earlier) if earlier else None
        except FrameError:
            return None
        if header is None:
            return None
        return Known(
            header.variables, header.sizes, header.attributes, header.coordinates,
            remedy=f"{earlier[0].name} of an earlier run has none; without it among the inputs "
            "nothing is compared",
            is_placed=False,
        )  # fmt: skip

    def check(self, inputs: Path) -> list[str]:
        """A program that is neither among the inputs nor on the path; old output."""
        messages = []
        program = self.argv[0]
        local = inputs / program
        if "/" in program or local.exists():
            if not local.is_file():
                near = get_close_matches(local.name, _names(local.parent), 3, 0.5)
                hint = f"; near: {', '.join(near)}" if near else ""
                messages.append(f"error: there is no program {program} in {inputs}{hint}")
            elif "/" in program and not os.access(local, os.X_OK):
                messages.append(f"error: {local} is not executable: chmod +x it")
            elif "/" in program and (interpreter := _missing_interpreter(local)):
                messages.append(
                    f"the first line of {local} names {interpreter}, which is missing here"
                )
        elif shutil.which(program) is None:
            messages.append(f"error: there is no program {program} in {inputs} or on the path")
        if not self.frames:
            messages.append("no pattern of output files is given (frames): no frame will be found")
        return [*messages, *old_output(inputs, self.is_leftover)]


def _seconds(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def _missing_interpreter(program: Path) -> str | None:
    """The interpreter that a script's first line names, if that file is missing."""
    try:
        with program.open("rb") as file:
            first = file.readline(256)
    except OSError:
        return None
    words = first[2:].split() if first.startswith(b"#!") else []
    return os.fsdecode(words[0]) if words and not os.path.exists(words[0]) else None


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
