"""A run of several attempts, of awm, told event by event what happens."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from awm_texts import PARAMETERS
from launched_case import WELL as WELL
from launched_case import Case

from burstlens.workflows.deciding.home_copies import COPY
from burstlens.workflows.deciding.judging import JUDGEMENT
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import Report, WholeCheckpoint
from burstlens.workflows.frames.speech import Speech
from burstlens.workflows.ordering import events as happened
from burstlens.workflows.ordering import instructions as todo
from burstlens.workflows.placement.checkpoint_home import CheckpointCopy
from burstlens.workflows.placement.supervised import Ended

RECIPE = """\
[simulation]
model = "awm"
inputs = "inputs"
segments = {segments}
{keys}
[[product]]
name = "motion"
kind = "map"
stream = "surface"
variable = "vz"
"""
AFTER = '[[step]]\nname = "peak"\nafter = "simulation"\ncommand = ["peak"]\n'
WALLTIME = Ended(None, "SIGTERM", "walltime")
FAILED = Ended(1, None, "exited")


def key(second: float) -> str:
    return f"t{second:012.3f}"


def checkpoint(second: float) -> WholeCheckpoint:
    name = f"checkpoint_{round(second * 100):07d}.awm"
    return WholeCheckpoint(key(second), (name,), 1000, 1.0, "name")


def segmented(
    recipe, run_dir, segments: object = 4, more: str = "", keys: str = "", **about
) -> Case:
    """The case of a recipe with so many segments, further tables and keys of ``[simulation]``."""
    made = recipe(text=RECIPE.format(segments=segments, keys=keys) + more)
    (made.inputs / "awm.toml").write_text(PARAMETERS)
    return Case(run_dir, made, **about)


def launches(done) -> list[str]:
    return [one.name for one in done if isinstance(one, todo.Launch)]


def end(run: Case, attempt: int, how: Ended, *checkpoints: float, said_end: bool = False):
    """That attempt ends, with these checkpoints; returns what is to be done then."""
    run.tell(happened.JobEnded(f"attempt-{attempt}", how))
    found = tuple(checkpoint(second) for second in checkpoints)
    speech = Speech(ended_well=said_end)
    ended = Report((), (), Cursor(speech=speech), ended=True, checkpoints=found)
    done = run.tell(happened.FramesFound(ended))
    return done + settle(run)


_ANSWERED = {JUDGEMENT, COPY}


def settle(run: Case, faults: Mapping[str, str] = MappingProxyType({})):
    """All is published, each checkpoint that is to be read is good, but those at these times, and
    those are home that are to come; returns what is to be done then."""
    done = []
    while True:
        run.tell(happened.Turn())
        done += (news := run.tell(happened.ProductsPublished()))
        asks = [one for one in news if isinstance(one, todo.Ask) and one.kind in _ANSWERED]
        if not asks:
            return done
        for ask in asks:
            answer = copied(ask) if ask.kind == COPY else faults.get(ask.about[1], "")
            run.tell(happened.QuestionAnswered(ask, answer))


def judge(run: Case, done) -> list[todo.Instruction]:
    """What is to be done when the checkpoints that are to be read, now and then, are good."""
    asks = [one for one in done if isinstance(one, todo.Ask) and one.kind == JUDGEMENT]
    for ask in asks:
        run.tell(happened.QuestionAnswered(ask, ""))
    if asks:
        run.tell(happened.Turn(), after_s=2.0)
        done = [*done, *judge(run, run.tell(happened.ProductsPublished()))]
    return done


def copies(done) -> list[todo.Ask]:
    """The checkpoints that are to be brought home."""
    return [one for one in done if isinstance(one, todo.Ask) and one.kind == COPY]


def copied(ask: todo.Ask) -> CheckpointCopy:
    """What a worker answers that has brought one home."""
    *_, attempt, time, names = ask.args
    return CheckpointCopy(attempt, time, [(name, 500, 7) for name in names], 0.1)


def described(done) -> todo.DescribeJobs:
    (one,) = (one for one in done if isinstance(one, todo.DescribeJobs))
    return one
