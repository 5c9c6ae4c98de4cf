"""Tuning, replayed: simulated searches on tables that were measured once.

Each table has 73 configurations of MPI-IO hints and their times (facts in ``bench/data/io``): two
patterns of output, on an idle machine and on a loaded one, by plain MPICH on two cores. A simulated
run draws one measured repeat. Every search has the same number of runs and starts from the same
pilot of three default runs. Its pick is scored by the pick's median over the best median; the
default counts as a pick where nothing was faster.
"""

from __future__ import annotations

import csv
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from burstlens.workflows.tuning.course import Course, best
from burstlens.workflows.tuning.guesses import first_guesses
from burstlens.workflows.tuning.search import standings
from burstlens.workflows.tuning.space import DEFAULT, Configuration, Factor, Space
from burstlens.workflows.tuning.trial import Measured, Plan, Trial
from burstlens.workflows.tuning.verdict import PILOT, noise_of

DATA = Path(__file__).parent / "data" / "io"
TABLES = ("btio.loaded", "btio", "wrf", "wrf.loaded")
RUNS, SEARCHES, NEAR = 12, 2000, 1.25
LEAD = 0.20
"""How much more often ``NEAR`` is to be reached than by the others."""
_ON = {"romio_cb_write": ("enable", "automatic")}
_OFF = {"romio_cb_write": ("disable",)}


@dataclass(frozen=True)
class Table:
    """The measured seconds of each configuration, the default among them."""

    name: str
    space: Space
    seconds: dict[Configuration, list[float]]

    def draw(self, configuration: Configuration, source: random.Random) -> float:
        """One measured repeat."""
        return source.choice(self.seconds[configuration])

    def score(self, configuration: Configuration) -> float:
        """Its median over the best median."""
        medians = {key: statistics.median(runs) for key, runs in self.seconds.items()}
        return medians[configuration] / min(medians.values())


def space() -> Space:
    """The factors of ``configurations.tsv``, in its order."""
    names = {
        "romio_cb_write": (("enable", "automatic", "disable"), {}),
        "cb_nodes": ((1, 2), _ON),
        "cb_buffer_size": ((262144, 1048576, 4194304, 16777216, 67108864), _ON),
        "romio_ds_write": (("enable", "disable", "automatic"), {}),
        "ind_wr_buffer_size": ((65536, 524288, 4194304, 16777216), _OFF),
    }
    return Space(
        tuple(
            Factor(_key(name), values, {_key(other): on for other, on in when.items()})
            for name, (values, when) in names.items()
        )
    )


def _key(name: str) -> str:
    return f"simulation.mpiio_hints.out*.{name}"


def table(name: str) -> Table:
    """A table of ``bench/data/io``."""
    whole = space()
    with (DATA / "configurations.tsv").open() as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    known = {}
    for row in rows:
        number = row.pop("configuration")
        values = {
            _key(key): int(value) if value.isdigit() else value
            for key, value in row.items()
            if value != "-"
        }
        known[number] = whole.made(values) if values else DEFAULT
    seconds: dict[Configuration, list[float]] = {made: [] for made in known.values()}
    with (DATA / f"{name}.tsv").open() as file:
        for row in csv.DictReader(file, delimiter="\t"):
            seconds[known[row["configuration"]]].append(float(row["seconds"]))
    if len(list(whole.configurations())) != len(seconds) - 1 or not all(seconds.values()):
        raise RuntimeError(f"{name}: configurations and times do not match")
    return Table(name, whole, seconds)


Search = Callable[[Table, random.Random], Configuration]


def tpe(*, rules: bool) -> Search:
    """The search of ``burstlens tune``, with or without first guesses."""

    def run(measured: Table, source: random.Random) -> Configuration:
        course = course_of(measured.space, source, rules=rules)
        trials: list[Trial] = []
        while isinstance(plan := course.after(trials), Plan) and plan.phase != "pair":
            trials.append(_trial(plan, measured.draw(plan.configuration, source)))
        pilot = [trial.seconds or 0.0 for trial in trials[:PILOT]]
        leader = best(trials[PILOT:], noise_of(pilot))
        faster = leader is not None and leader.mean < statistics.fmean(pilot)
        return leader.configuration if leader and faster else DEFAULT

    return run


def course_of(whole: Space, source: random.Random, *, rules: bool) -> Course:
    """A course of ``RUNS``, on two ranks as the tables."""
    guesses = tuple(first_guesses(whole, ranks=2)) if rules else ()
    return Course(whole, guesses, RUNS, seed=source.randrange(1 << 30))


def at_random(measured: Table, source: random.Random) -> Configuration:
    """Configurations drawn without repetition; the pick is the fastest run."""
    drawn = source.sample(list(measured.space.configurations()), RUNS)
    return _pick(measured, drawn, source)


def grid(measured: Table, source: random.Random) -> Configuration:
    """ExpBB's nested loops, cb_nodes, then the unit, then the buffer, each from its least value: a
    run slower than the best by more than 5 % ends the inner loop.

    The tables have no striping unit: data sieving is in its place. Collective buffering is in an
    outermost loop, which ExpBB did not have: from what MPI does by itself to none.
    """
    default, runs = [measured.draw(DEFAULT, source) for _ in range(PILOT)], 0
    least, pick = statistics.fmean(default), DEFAULT
    whole = list(measured.space.configurations())

    def order(one: Configuration) -> tuple[str, object, str]:
        get = one.get
        return (
            str(get(_key("romio_cb_write"))),
            get(_key("cb_nodes")),
            str(get(_key("romio_ds_write"))),
        )

    loops: dict[tuple[str, object, str], list[Configuration]] = {}
    for one in whole:
        loops.setdefault(order(one), []).append(one)
    first = ("automatic", "enable", "disable")
    for _, inner in sorted(
        loops.items(), key=lambda item: (first.index(item[0][0]), item[0][1] or 0)
    ):
        for one in inner:
            if runs == RUNS:
                return pick
            seconds, runs = measured.draw(one, source), runs + 1
            if seconds > 1.05 * least:
                break
            if seconds < least:
                least, pick = seconds, one
    return pick


def _pick(measured: Table, drawn: Sequence[Configuration], source: random.Random) -> Configuration:
    pilot = statistics.fmean(measured.draw(DEFAULT, source) for _ in range(PILOT))
    plan = [Plan("search", one, "random") for one in drawn]
    trials = [_trial(one, measured.draw(one.configuration, source)) for one in plan]
    leader = standings(trials)[0]
    return leader.configuration if leader.mean < pilot else DEFAULT


def _trial(plan: Plan, seconds: float) -> Trial:
    return Trial(plan, Measured({"out": seconds}), wall_s=seconds)


STRATEGIES: dict[str, Search] = {
    "guesses and TPE": tpe(rules=True),
    "TPE": tpe(rules=False),
    "random": at_random,
    "ExpBB's grid": grid,
}
