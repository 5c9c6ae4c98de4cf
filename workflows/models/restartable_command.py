"""Any program whose recipe says which files its checkpoints are and how it continues from them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from burstlens.core import valid_time
from burstlens.core.errors import RecipeError
from burstlens.core.pattern import expression
from burstlens.core.quantity import counted, seconds_of
from burstlens.workflows.models.base import Facts, LogLine, OutputName, OutputNames
from burstlens.workflows.models.checkpoint_names import CheckpointClock, CheckpointNames, filled
from burstlens.workflows.models.command import Command
from burstlens.workflows.models.continuation import (
    CheckpointName,
    Continuation,
    NothingLeftError,
    Proof,
    Start,
)
from burstlens.workflows.models.inputs import input_files

UNTIL, EVERY, CHECKPOINT = "{until}", "{every}", "{checkpoint}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartableCommand(Command):
    """The adapter :class:`.Command` with the recipe's ``checkpoints``."""

    checkpoints: CheckpointNames

    @classmethod
    def of(cls, command: Command, checkpoints: CheckpointNames) -> RestartableCommand:
        """That program with these checkpoints. Raises RecipeError, whose message begins with the
        key in the recipe."""
        if not command.restart_command:
            raise RecipeError(
                "checkpoint.files: simulation.restart_command is needed as well: how the program "
                "continues from {checkpoint}"
            )
        values = {item.name: getattr(command, item.name) for item in fields(command)}
        made = cls(**values, checkpoints=checkpoints)
        made._check()
        return made

    def _check(self) -> None:
        names = self.checkpoints
        if names.counts_steps and names.step_s is None and self.time_variable:
            raise RecipeError("checkpoint.step: is needed: the model time of one {step}")
        inside = any(CHECKPOINT in word and word != CHECKPOINT for word in self.restart_command)
        if inside and not names.has_one_file:
            raise RecipeError(
                f"simulation.restart_command: {CHECKPOINT} stands for several files, and must be a "
                "word of its own"
            )
        if self._says(EVERY) and names.every_s is None:
            raise RecipeError(f"checkpoint.every: is needed: {EVERY} stands for it in commands")
        if names.every_s is not None and not self._says(EVERY):
            raise RecipeError(
                f"checkpoint.every: put {EVERY} into simulation.command and restart_command: it "
                "stands for these seconds"
            )
        if self._says(UNTIL) and self.length is None:
            raise RecipeError(
                f"simulation.length: is needed: {UNTIL} in commands stands for it where the run is "
                "not cut before"
            )

    def _says(self, place: str) -> bool:
        """Whether each of the two commands has it. Raises RecipeError where only one has it."""
        both = [any(place in word for word in words) for words in (self.argv, self.restart_command)]
        if any(both) and not all(both):
            lacks = "restart_command" if both[0] else "command"
            raise RecipeError(f"simulation.{lacks}: {place} is needed here as in the other one")
        return all(both)

    @property
    def _clock(self) -> CheckpointClock:
        return CheckpointClock(self.checkpoints, self.begin_key, not self.time_variable)

    def command(self) -> list[str]:
        """The words that start it afresh, up to its end."""
        return self.start(Path(), Continuation()).command

    def start(self, inputs: Path, wanted: Continuation) -> Start:
        """``command``, or ``restart_command`` with the files of the checkpoint."""
        if wanted.settings:
            raise RecipeError(
                f"{', '.join(wanted.settings)}: no setting of a command can be changed: it starts "
                "with the words of restart_command"
            )
        until_s = self.length if wanted.until_s is None else wanted.until_s
        if wanted.until_s is not None and not self._says(UNTIL):
            raise RecipeError(_uncut())
        seconds = {"until": until_s, "every": self.checkpoints.every_s}
        values = {name: f"{value:.15g}" for name, value in seconds.items() if value is not None}
        if wanted.time is None:
            return Start(list(filled(self.argv, values, ())))
        self._check_files(wanted)
        texts = {**self.checkpoints.texts(wanted.files[0])}
        texts = {"time": self._shown(wanted.time), **texts}
        texts.pop("rank", None)
        return Start(list(filled(self.restart_command, {**texts, **values}, wanted.files)))

    def _check_files(self, wanted: Continuation) -> None:
        """Raises RecipeError unless the files are those of one checkpoint, NothingLeftError where
        that is at the end of the run."""
        time, clock = wanted.time or "", self._clock
        label = valid_time.label(time)
        found = {name: clock.find(posixpath.normpath(name)) for name in wanted.files}
        if other := [name for name, about in found.items() if about is None or about.time != time]:
            raise RecipeError(
                f"{other[0]} is not a file of the checkpoint of {label} by checkpoint.files "
                f"({', '.join(self.checkpoints.files)})"
            )
        parts = {about.part for about in found.values() if about is not None}
        if missing := [part for part in self.checkpoints.parts if part not in parts]:
            raise RecipeError(f"the checkpoint of {label} has no file {missing[0]}".rstrip())
        into_s = self._into(time)
        if self.length is not None and into_s is not None and into_s >= self.length:
            raise NothingLeftError.at(time)

    def _into(self, time: str) -> float | None:
        """Seconds of the run at that model time; None where its begin is not known."""
        begin = self.begin_key
        if not valid_time.has_time(time) or (begin is None and valid_time.is_calendar(time)):
            return None
        return valid_time.seconds(time) - (0.0 if begin is None else valid_time.seconds(begin))

    def _shown(self, time: str) -> str:
        """A model time for the program: ISO 8601, or seconds."""
        if valid_time.is_elapsed(time):
            return f"{valid_time.seconds(time):.15g}"
        return valid_time.iso(time)

    def cuts(self, inputs: Path, count: int, every_s: float | None = None) -> list[float]:
        """Equal parts of ``length``, for a program that stops at ``{until}``."""
        if self.length is None or not self._says(UNTIL):
            raise RecipeError(_uncut())
        return [self.length * number / count for number in range(1, count)]

    def checkpoint_of(self, name: str) -> CheckpointName | None:
        """By ``files``, with the pattern as the name that its tiles have in common."""
        found = self._clock.find(name)
        if found is None or found.tile is None:
            return found
        texts = {**self.checkpoints.texts(name), "rank": "*"}
        parts, patterns = self.checkpoints.parts, self.checkpoints.patterns
        common = patterns[parts.index(found.part)].filled(texts)
        return replace(found, common=common)

    def checkpoint_proof(self, name: str) -> Proof:
        """``witness``."""
        return self.checkpoints.proof

    def checkpoint_parts(self, inputs: Path, time: str) -> Sequence[str]:
        """One per pattern."""
        return self.checkpoints.parts

    def checkpoint_faults(self, inputs: Path, every_s: float | None = None) -> Sequence[str]:
        """None: how it continues is known."""
        return ()

    def checkpoint_interval_s(self, inputs: Path) -> float | None:
        """``every``, if the recipe says it."""
        return self.checkpoints.every_s

    @property
    def checkpoint_tiles(self) -> int:
        """``tiles``, or the ranks of the simulation."""
        return self.checkpoints.tiles

    @property
    def checkpoints_unasked(self) -> bool:
        """True: when it writes them is its own affair."""
        return True

    @property
    def rewrites_checkpoint(self) -> bool:
        """True: many programs begin with a checkpoint of the time from which they continue."""
        return True

    def identify(self, name: str) -> OutputName | None:
        """As for any program; a checkpoint holds no frames, whatever ``frames`` matches."""
        return None if self._clock.find(name) else Command.identify(self, name)

    def flag_of(self, name: str) -> str | None:
        """The flag of a checkpoint or a frame."""
        if self._clock.find(name):
            return self.checkpoints.flag_of(name)
        return Command.flag_of(self, name)

    def read_line(self, line: str) -> LogLine | None:
        """Also what the witness in the log matches."""
        log = self.checkpoints.line
        if log and (match := expression(log).search(line)):
            groups = match.groupdict()
            if about := self._clock.written(groups):
                took_s, part = seconds_of(groups.get("seconds")), about.part or None
                return LogLine("checkpoint", line, stream=part, time=about.time, took_s=took_s)
        return Command.read_line(self, line)

    def given_up(self) -> list[str]:
        """Also that of the witness."""
        log = self.checkpoints.line
        why = expression(log).given_up if log else ""
        text = f"checkpoint.witness.log: {why}; it is not searched for any more"
        return [*Command.given_up(self), *([text] if why else [])]

    def check(self, inputs: Path) -> list[str]:
        """Also that files of another run are among the inputs."""
        names = [name for _, name in input_files(inputs) if self._clock.find(name)]
        if not names:
            return Command.check(self, inputs)
        more = f" and {counted(len(names) - 1, 'other')}" if len(names) > 1 else ""
        text = (
            f"{names[0]}{more} among the inputs look like checkpoints: each attempt gets a copy, "
            "and the run continues from none of them; simulation.leave leaves files behind"
        )
        return [*Command.check(self, inputs), text]

    def facts(self, folder: Path) -> Facts:
        """Also the folders of checkpoints and their flags."""
        facts = Command.facts(self, folder)
        return replace(facts, folders=_joined(facts.folders, self._folders()))

    def _folders(self) -> list[str]:
        return [pattern.folder for pattern in self.checkpoints.all_patterns]

    def output_names(self, inputs: Path) -> OutputNames:
        """Also the checkpoints and their flags: those among the inputs are of another run."""
        names = Command.output_names(self, inputs)
        more = tuple(pattern.glob for pattern in self.checkpoints.all_patterns)
        return replace(names, written=names.written + more)


def _joined(one: Iterable[str], other: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({*one, *other}))


def _uncut() -> str:
    return (
        "a command is cut by the walltime of its jobs alone; one that stops at a model time, with "
        f"a checkpoint, takes that as {UNTIL} in command and restart_command, beside length"
    )
