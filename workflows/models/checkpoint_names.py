"""The checkpoints of a program by what its recipe says of their files.

``restart_{step}_{rank}.bin`` is a file of one rank after that step: ``{time}`` or ``{step}`` in a
name gives the model time, ``{rank}`` the tile. Of several patterns each names a part that a
checkpoint needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from burstlens.core.errors import RecipeError
from burstlens.core.pattern import expression
from burstlens.core.valid_time import earlier, elapsed_key, file_key, is_calendar
from burstlens.workflows.models.continuation import CheckpointName, Proof
from burstlens.workflows.models.name_patterns import NamePattern, compiled

PLACES = ("time", "step", "rank")
"""What may stand in braces in a name."""
WITH_TIME = frozenset({"time", "step"})
_FILES, _FLAG, _LOG = "checkpoint.files", "checkpoint.witness.flag", "checkpoint.witness.log"
_NUMBER = re.compile(r"\d+(?:\.\d*)?(?:[eE]-?\d+)?", re.ASCII)
_COUNT = re.compile(r"\d+", re.ASCII)


@dataclass(frozen=True, slots=True)
class CheckpointNames:
    """``files``: the patterns of one checkpoint's files. ``proof`` says what proves them whole:
    also the ``flag``, another pattern, or the log's ``line``, a regular expression with a group
    ``time``, ``step`` or ``file``, and perhaps ``seconds``. ``tiles`` is the number of files with
    ``{rank}``. A ``{step}`` is ``step_s`` long; ``every_s`` is the model time between two
    checkpoints, if the recipe says it. Raises RecipeError for what does not go together.
    """

    files: tuple[str, ...]
    proof: Proof = Proof.FILE
    flag: str = ""
    line: str = ""
    tiles: int = 0
    step_s: float | None = None
    every_s: float | None = None

    def __post_init__(self) -> None:
        for pattern in self.patterns:
            _check_file(pattern)
        if self.flag:
            self._check_flag(compiled(_FLAG, self.flag))
        if self.line:
            self._check_line()

    def _check_flag(self, flag: NamePattern) -> None:
        if flag.is_wild or not flag.names & WITH_TIME:
            raise RecipeError(
                f"{_FLAG}: {self.flag!r} must name one file for each checkpoint: put the {{time}} "
                "or {step} of files into it"
            )
        for pattern in self.patterns:
            if missing := sorted(flag.names - pattern.names):
                raise RecipeError(f"{_FLAG}: {{{missing[0]}}} is not in files, {pattern.path!r}")

    def _check_line(self) -> None:
        try:
            groups = expression(self.line).compiled.groupindex.keys()
        except ValueError as error:
            raise RecipeError(f"{_LOG}: {error}") from None
        if not groups & {*WITH_TIME, "file"}:
            raise RecipeError(
                f"{_LOG}: {self.line!r} does not say which checkpoint is written: it lacks a group "
                "(?P<file>...), (?P<time>...) or (?P<step>...)"
            )
        if "file" in groups and any("rank" in pattern.names for pattern in self.patterns):
            raise RecipeError(
                f"{_LOG}: a line about the file of one rank does not prove those of the others: "
                "give a group (?P<time>...) or (?P<step>...) of a line about the whole checkpoint"
            )

    @property
    def patterns(self) -> tuple[NamePattern, ...]:
        """The patterns of ``files``."""
        return tuple(compiled(_FILES, text) for text in self.files)

    @property
    def all_patterns(self) -> tuple[NamePattern, ...]:
        """Those of files, then that of flags."""
        return (*self.patterns, *([compiled(_FLAG, self.flag)] if self.flag else []))

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of a checkpoint: the patterns, or "" for a single one."""
        return self.files if len(self.files) > 1 else ("",)

    @property
    def has_one_file(self) -> bool:
        """Whether a checkpoint is one file."""
        return len(self.files) == 1 and "rank" not in self.patterns[0].names

    @property
    def counts_steps(self) -> bool:
        """Whether steps are counted, whose length must be known."""
        groups = expression(self.line).compiled.groupindex if self.line else {}
        of_names = any("step" in pattern.names for pattern in self.patterns)
        return of_names or ("step" in groups and "time" not in groups)

    def texts(self, name: str) -> Mapping[str, str]:
        """What stands in the places of a name; empty for the name of another file."""
        matches = (pattern.match(name) for pattern in self.patterns)
        return next((match.groupdict() for match in matches if match), {})

    def flag_of(self, name: str) -> str | None:
        """The flag of the file of that name."""
        texts = self.texts(name) if self.flag else {}
        return compiled(_FLAG, self.flag).filled(texts) if texts else None


@dataclass(frozen=True, slots=True)
class CheckpointClock:
    """Which model time a name or a line of the log means. ``begin`` is the key of the date from
    which seconds and steps count; ``is_timeless``: frames are named by the number of their step."""

    names: CheckpointNames
    begin: str | None = None
    is_timeless: bool = False

    def find(self, name: str) -> CheckpointName | None:
        """What the name of a file says; None where it is not one of a checkpoint."""
        for part, pattern in zip(self.names.parts, self.names.patterns, strict=True):
            if match := pattern.match(name):
                texts = match.groupdict()
                time, rank = self.key(texts), texts.get("rank")
                if time is None or not (rank is None or _COUNT.fullmatch(rank)):
                    return None
                return CheckpointName(time, part, None if rank is None else int(rank))
        return None

    def key(self, texts: Mapping[str, str | None]) -> str | None:
        """The valid-time key by the texts of ``time`` or ``step``; None for anything else."""
        time, step = texts.get("time"), texts.get("step")
        if time is not None:
            dated = file_key(time, time)
            if is_calendar(dated):
                return dated
            return self._after(float(time)) if _NUMBER.fullmatch(time) else None
        if step is None or not _COUNT.fullmatch(step):
            return None
        if self.is_timeless:
            return file_key(step, f"{int(step):d}")
        step_s = self.names.step_s
        return None if step_s is None else self._after(int(step) * step_s)

    def _after(self, seconds: float) -> str | None:
        try:
            return elapsed_key(seconds) if self.begin is None else earlier(self.begin, -seconds)
        except (ValueError, OverflowError):
            return None

    def written(self, groups: Mapping[str, str | None]) -> CheckpointName | None:
        """The checkpoint that a line with these groups is about, and the part of it; "": all."""
        if file := groups.get("file"):
            return self._named(PurePosixPath(file))
        time = self.key(groups)
        return None if time is None else CheckpointName(time)

    def _named(self, file: PurePosixPath) -> CheckpointName | None:
        """The checkpoint of a file, relative to the model's folder; of an absolute one by as much
        of the end of its path as a pattern has."""
        if not file.is_absolute():
            return self.find(str(file))
        depths = {pattern.path.count("/") + 1 for pattern in self.names.patterns}
        ends = ("/".join(file.parts[-depth:]) for depth in sorted(depths, reverse=True))
        return next(filter(None, map(self.find, ends)), None)


def _check_file(pattern: NamePattern) -> None:
    text = pattern.path
    if pattern.is_wild:
        raise RecipeError(
            f"{_FILES}: {text!r} must name one file of each checkpoint: {{rank}} stands for what "
            "differs between its files, not a wildcard"
        )
    if len(pattern.names & WITH_TIME) != 1:
        raise RecipeError(
            f"{_FILES}: {text!r} needs {{time}} or {{step}}, which gives the model time; a "
            "parameter of the recipe must not have that name"
        )
    for name in sorted(pattern.names - set(PLACES)):
        known = ", ".join(f"{{{place}}}" for place in PLACES)
        raise RecipeError(f"{_FILES}: there is no {{{name}}}, only {known}")


def filled(words: Iterable[str], values: Mapping[str, str], files: Iterable[str]) -> Iterator[str]:
    """The words of a command with these values for their ``{name}``. ``{checkpoint}`` alone is one
    word for each file. Other braces stay as they are."""
    files = tuple(files)
    values = {**values, **({"checkpoint": files[0]} if len(files) == 1 else {})}
    place = re.compile("|".join(re.escape(f"{{{name}}}") for name in values) or "(?!)")
    for word in words:
        if word == "{checkpoint}":
            yield from files
        else:
            yield place.sub(lambda match: values[match[0][1:-1]], word)
