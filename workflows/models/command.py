"""Any program that writes netCDF: an argument list and the patterns of its files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import BeforeValidator, Field

from burstlens.core.errors import RecipeError
from burstlens.core.nearness import did_you_mean
from burstlens.core.pattern import expression
from burstlens.core.plugins import load
from burstlens.core.quantity import parse_duration, seconds_of
from burstlens.core.valid_time import file_key, is_calendar, parse_key
from burstlens.workflows.models import name_patterns
from burstlens.workflows.models.base import (
    Facts,
    Lack,
    LogLine,
    Model,
    OutputName,
    OutputNames,
)
from burstlens.workflows.models.ends import read_end
from burstlens.workflows.models.inputs import earlier_frame, known_header, old_output

if TYPE_CHECKING:
    from burstlens.viz.frames.outline import Known
    from burstlens.workflows.models.checkpoint_names import CheckpointNames

_RESTARTABLE = "burstlens.workflows.models.restartable_command:RestartableCommand"
"""By its name, as it is made from this class."""
Seconds = Annotated[
    float, Field(gt=0), BeforeValidator(parse_duration, json_schema_input_type=str | float)
]


@dataclass(frozen=True, slots=True)
class Command(Model):
    """The adapter.

    ``argv``, in recipes ``command``, starts the program. ``frames`` is the glob of its output, or
    one per stream (``{ surface = "surface_*.nc" }``); files of a stream follow each other by name.
    ``ready`` is the name of the flag file of a frame, or one per stream: its ``{name}`` are those
    of ``frames``. ``time_variable`` holds the times (CF units; a bare unit means elapsed time).
    Regular expressions for lines of its standard output, all optional: ``progress`` with the groups
    ``elapsed`` and perhaps ``total`` (simulated seconds), ``written`` with the groups ``file`` or
    ``record`` and perhaps ``stream`` and ``seconds``, which the output took (the program says so
    after it has closed or flushed the file),
    ``trouble``, ``done``. ``parallel``: several processes write one classic file (PnetCDF).
    ``mpi``: the site's launcher starts it. ``restart_command`` continues from a checkpoint:
    :class:`.RestartableCommand` has the names of these.

    Raises :class:`RecipeError` for an empty ``argv``, a bad expression or a bad pattern.
    """

    # Recipes say `command`, as in steps and products; here that is the name of a method.
    argv: Annotated[Sequence[str], Field(alias="command", json_schema_extra={"minItems": 1})]
    """Program and arguments that start the model in its folder; no shell reads them."""
    frames: Mapping[str, str] | str = field(default_factory=dict)
    """The glob of its output files, or one per stream: `{ surface = "surface_*.nc" }`."""
    ready: Mapping[str, str] | str = field(default_factory=dict)
    """The flag file of each frame, or one per stream: `log.atm.f{hour}` for `atmf{hour}.nc`."""
    time_variable: str = "time"
    """The variable that holds the times, in CF units; a bare unit means elapsed time. `""`: files
    have no time, and each is one frame."""
    progress: str | None = None
    """A regular expression for its output, with the groups `elapsed` and perhaps `total`."""
    written: str | None = None
    """A regular expression with the groups `file` or `record` (from 1): it is written. A group
    `seconds` is the time that writing took."""
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
    mpi: bool = False
    """Whether the site's MPI launcher starts it, with nodes times ranks_per_node ranks."""
    restart_command: Sequence[str] = ()
    """Program and arguments that continue from a checkpoint: `{checkpoint}` are its files, `{time}`
    and `{step}` its time as in their names."""
    begin: str | None = None
    """The date at which its model time begins, such as "2005-08-28 00:00"."""
    length: Seconds | None = None
    """Model time of the whole run, such as "20 s"; `{until}` in commands, in seconds."""

    name: ClassVar[str] = "command"
    obeys_recipe: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.argv or not all(isinstance(word, str) for word in self.argv):
            raise RecipeError("simulation.command must be a list of at least one word")
        if not all(isinstance(word, str) for word in self.restart_command):
            raise RecipeError("simulation.restart_command must be a list of words")
        if self.begin is not None:
            self._check_begin(self.begin)
        name_patterns.check(self.frames, self.ready)
        self._check_expression("progress", "elapsed")
        self._check_expression("written", "file", "record")
        self._check_expression("trouble")
        self._check_expression("done")
        groups = expression(self.written).compiled.groupindex if self.written else {}
        if groups and not groups.keys() & {"file", "stream"} and len(self._streams) > 1:
            raise RecipeError(
                f"simulation.written: {self.written!r} does not say which stream is written: it "
                "lacks a group (?P<stream>...) or (?P<file>...)"
            )

    @staticmethod
    def _check_begin(text: str) -> None:
        try:
            key = parse_key(text)
        except ValueError as error:
            raise RecipeError(f"simulation.begin: {error}") from None
        if not is_calendar(key):
            raise RecipeError(f"simulation.begin: expected a date, got {text!r}")

    @property
    def begin_key(self) -> str | None:
        """The valid-time key of ``begin``."""
        return None if self.begin is None else parse_key(self.begin)

    @property
    def _streams(self) -> tuple[str, ...]:
        return tuple(name_patterns.globs(self.frames))

    def _check_expression(self, key: str, *needed: str) -> None:
        """``needed`` are the groups of which the expression must have one."""
        text = getattr(self, key)
        if text is None:
            return
        try:
            pattern = expression(text).compiled
        except ValueError as error:
            reason = str(error).replace("is not a regular", "is not a valid regular")
            raise RecipeError(f"simulation.{key}: {reason}") from None
        if needed and not pattern.groupindex.keys() & set(needed):
            groups = " or ".join(f"(?P<{group}>...)" for group in needed)
            raise RecipeError(f"simulation.{key}: {text!r} lacks the group {groups}")

    def command(self) -> list[str]:
        return list(self.argv)

    def with_checkpoints(self, names: CheckpointNames | None) -> Command:
        """The program that continues from such checkpoints, by ``restart_command``."""
        if names is not None:
            restartable: Command = load(_RESTARTABLE).of(self, names)
            return restartable
        if self.restart_command:
            raise RecipeError(
                "simulation.restart_command: [checkpoint] files is needed as well: the files of a "
                "checkpoint, by name"
            )
        return self

    def checkpoint_faults(self, inputs: Path, every_s: float | None = None) -> Sequence[str]:
        """That the recipe does not say how it continues."""
        return (
            "the recipe does not say how the program continues: give [checkpoint] files and "
            "[simulation] restart_command",
        )

    def runs(self) -> str:
        return " ".join(self.argv)

    def environment(self) -> dict[str, str]:
        return dict(self.env)

    def identify(self, name: str) -> OutputName | None:
        """The first stream whose pattern matches. Only of a file without any time does the name
        give the time."""
        for stream, pattern in name_patterns.frame_patterns(self.frames).items():
            if pattern.match(name):
                time = None if self.time_variable else file_key(name, pattern.varying(name))
                return OutputName(stream, time)
        return None

    def main_stream(self, inputs: Path) -> str | None:
        return next(iter(self._streams), None)

    def is_leftover(self, name: str) -> bool:
        """Whether it would be taken for a frame or a flag."""
        flags = name_patterns.flag_patterns(self.frames, self.ready).values()
        return self.identify(name) is not None or any(flag.match(name) for flag in flags)

    def flag_of(self, name: str) -> str | None:
        """The flag that announces the frame in the file of that name, by ``ready``."""
        if not self.ready:
            return None
        flags = name_patterns.flag_patterns(self.frames, self.ready)
        for stream, pattern in name_patterns.frame_patterns(self.frames).items():
            if match := pattern.match(name):
                return flags[stream].filled(match.groupdict()) if stream in flags else None
        return None

    def read_line(self, line: str) -> LogLine | None:
        """What the first of the recipe's expressions that matches finds in the line."""
        if self.written and (match := expression(self.written).search(line)):
            return self._written(match.groupdict(), line)
        if self.trouble and expression(self.trouble).search(line):
            # An expression such as "Abort|ERROR" may match a launcher's final messages.
            return read_end(line) or LogLine("trouble", line.strip())
        if self.done and expression(self.done).search(line):
            return LogLine("end", line)
        if self.progress and (match := expression(self.progress).search(line)):
            groups = match.groupdict()
            return LogLine(
                "progress",
                line,
                elapsed_s=seconds_of(groups.get("elapsed")),
                total_s=seconds_of(groups.get("total")),
            )
        return None

    def given_up(self) -> list[str]:
        used = {key: getattr(self, key) for key in ("written", "trouble", "done", "progress")}
        known = {key: expression(text) for key, text in used.items() if text}
        return [
            f"simulation.{key}: {pattern.given_up}; it is not searched for any more"
            for key, pattern in known.items()
            if pattern.given_up
        ]

    def _written(self, groups: Mapping[str, str | None], line: str) -> LogLine | None:
        """The frame that a line calls written; None if it does not say which."""
        named, number = groups.get("file"), groups.get("record")
        file = str(PurePosixPath(named)) if named else None
        output = self.identify(file) if file else None
        stream = output.stream if output else None
        if stream is None and (file is None or groups.get("stream")):
            stream = self._stream(groups.get("stream"))
        record = int(number) if number and number.isdecimal() else None
        if number is not None and not record:
            return None
        if file is None and (stream is None or record is None):
            return None
        took_s = seconds_of(groups.get("seconds"))
        return LogLine("written", line, stream=stream, file=file, record=record, took_s=took_s)

    def _stream(self, text: str | None) -> str | None:
        """The stream that a log calls so (programs write HIS in a log and his in names of files);
        without a text the only one."""
        if text is None:
            return self._streams[0] if len(self._streams) == 1 else None
        if text in self._streams:
            return text
        return next((name for name in self._streams if name.lower() == text.lower()), None)

    def facts(self, folder: Path) -> Facts:
        """Classic files have one writer, unless the recipe says otherwise."""
        patterns = name_patterns.all_patterns(self.frames, self.ready)
        folders = tuple(sorted({pattern.folder for pattern in patterns})) or ("",)
        return Facts(
            start=self.begin_key,
            total_s=self.length,
            serial_classic=not self.parallel,
            tells_end=self.done is not None,
            folders=folders,
            streams=self._streams,
        )

    def output_names(self, inputs: Path) -> OutputNames:
        """The patterns of its frames and flags. It makes its folders itself, if they are not
        there."""
        patterns = name_patterns.all_patterns(self.frames, self.ready)
        return OutputNames(written=tuple(pattern.glob for pattern in patterns))

    def outline(self, inputs: Path, stream: str) -> Known | None:
        """What a frame of an earlier run holds, where there is one."""
        from burstlens.viz.frames.outline import Known

        if self._streams and stream not in self._streams:
            near = did_you_mean(stream, self._streams)
            raise RecipeError(f"frames names no stream {stream!r}{near}")
        earlier = earlier_frame(inputs, self.identify, stream)
        header = known_header(earlier)
        if header is None:
            return None
        return Known(
            header.variables, header.sizes, header.attributes, header.coordinates,
            remedy=f"{earlier[0].name} of an earlier run has none; without it among the inputs "
            "nothing is compared",
            is_placed=False,
        )  # fmt: skip

    def check(self, inputs: Path) -> list[str]:
        messages = []
        program = self.argv[0]
        local = inputs / program
        if local.is_file():
            if "/" in program and not os.access(local, os.X_OK):
                messages.append(f"error: {local} is not executable: chmod +x it")
            elif "/" in program and (interpreter := _missing_interpreter(local)):
                messages.append(
                    f"the first line of {local} names {interpreter}, which is missing here"
                )
        elif not self.lacks(inputs) and shutil.which(program) is None:
            messages.append(f"error: there is no program {program} in {inputs} or on the path")
        if not self.frames:
            messages.append("no pattern of output files is given (frames): no frame will be found")
        return [*messages, *old_output(inputs, self.is_leftover)]

    def lacks(self, inputs: Path) -> list[Lack]:
        """A program with a path that is not among the inputs; a step that names it may make it."""
        program = self.argv[0]
        local = inputs / program
        if local.is_file() or not ("/" in program or local.exists()):
            return []
        near = get_close_matches(local.name, _names(local.parent), 3, 0.5)
        hint = f"; near: {', '.join(near)}" if near else ""
        return [Lack(f"there is no program {program} in {inputs}{hint}", local.name, named=True)]


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
