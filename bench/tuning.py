"""Tuning, replayed: simulated searches on tables that were measured once.

Each table has 73 configurations of MPI-IO hints and their times (facts in ``bench/data/io``): two
patterns of output, on an idle machine and on a loaded one, by plain MPICH on two cores. A simulated
run draws one measured repeat. Every search has the same number of runs and starts from the same
pilot of three default runs. Its pick is scored by the pick's median over the best median; the
default counts as a pick where nothing was faster.
"""

from __future__ import annotations

import csv
import math
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bench.pipeline import Scratch
from bench.report import Figure
from burstlens.workflows.tuning.course import Course, Ending, best
from burstlens.workflows.tuning.guesses import first_guesses
from burstlens.workflows.tuning.search import standings
from burstlens.workflows.tuning.space import (
    DEFAULT,
    Configuration,
    Factor,
    Measured,
    Plan,
    Space,
    Trial,
)
from burstlens.workflows.tuning.verdict import PAIRS, PILOT, judge, noise_of

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

    @cached_property
    def medians(self) -> dict[Configuration, float]:
        """The median of each configuration."""
        return {key: statistics.median(runs) for key, runs in self.seconds.items()}

    def draw(self, configuration: Configuration, source: random.Random) -> float:
        """One measured repeat."""
        return source.choice(self.seconds[configuration])

    def score(self, configuration: Configuration) -> float:
        """Its median over the best median."""
        return self.medians[configuration] / min(self.medians.values())


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
MINE, OTHERS = "guesses and TPE", ("random", "ExpBB's grid")


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """Searches on each table by each strategy, then claims of gain by whole tunings."""
    count = 40 if quick else SEARCHES
    figures: list[Figure] = []
    for name in TABLES:
        measured = table(name)
        scores = {
            strategy: [measured.score(search(measured, random.Random(seed)))
                       for seed in range(count)]
            for strategy, search in STRATEGIES.items()
        }  # fmt: skip
        figures += _near(name, scores)
        figures += _excess(name, scores)
    figures += _claims(count)
    return figures


def _near(name: str, scores: dict[str, list[float]]) -> list[Figure]:
    """How often the pick is within ``NEAR`` of the best."""
    figures = []
    shares = {key: [float(one <= NEAR) for one in found] for key, found in scores.items()}
    for key, hits in shares.items():
        low, high = _wilson(sum(hits), len(hits))
        note = f"95 %: {low:.1%} to {high:.1%}, {len(hits)} searches of {RUNS} runs"
        label = f"{name}: pick within {NEAR} of the best, {key}"
        figures.append(Figure(label, 100 * statistics.fmean(hits), "%", note=note))
    if name == "btio.loaded":
        for mine in (MINE, "TPE"):
            for other in OTHERS:
                lead, half = _difference(shares[mine], shares[other])
                limit = 100 * LEAD if mine == MINE else None
                label = f"{name}: {mine} more often within {NEAR} than {other}"
                note = f"95 %: {100 * (lead - half):.1f} to {100 * (lead + half):.1f}"
                figures.append(Figure(label, 100 * lead, "points", limit, True, note))
    return figures


def _excess(name: str, scores: dict[str, list[float]]) -> list[Figure]:
    """The mean excess of the pick over the best, and by how much it is less than the others'."""
    figures = []
    for key, found in scores.items():
        ninth = sorted(found)[int(0.9 * len(found))]
        label = f"{name}: mean excess of the pick, {key}"
        note = f"9 of 10 within {ninth:.2f} of the best"
        figures.append(Figure(label, 100 * (statistics.fmean(found) - 1), "%", note=note))
    for other in OTHERS:
        more, half = _difference(scores[MINE], scores[other])
        label = f"{name}: mean excess, {MINE} less {other}"
        note = f"95 %: {100 * (more - half):.1f} to {100 * (more + half):.1f}; 0: not worse"
        limit = None if name == "btio.loaded" else 100 * half
        figures.append(Figure(label, 100 * more, "points", limit, note=note))
    return figures


def _claims(count: int) -> list[Figure]:
    """Whole tunings where every configuration is equal, and where one gains a factor of 2."""
    figures = []
    for variation in (0.15, 0.35):
        claimed = sum(_tuned(variation, seed).verdict.gain for seed in range(count))
        low, high = _wilson(claimed, count)
        figures.append(
            Figure(
                f"gain claimed where all are equal, noise {variation:.0%}",
                100 * claimed / count,
                "%",
                5.0,
                note=f"95 %: {low:.1%} to {high:.1%}; 1 of 20 orders of the pairs, so 5 % at most",
            )
        )
    for variation, least in ((0.35, 60.0), (0.15, 95.0)):
        sigma, source, times = _sigma(variation), random.Random(1), 10 * count
        found = 0
        for _ in range(times):
            default = [2 * source.lognormvariate(0, sigma) for _ in range(PAIRS)]
            leader = [source.lognormvariate(0, sigma) for _ in range(PAIRS)]
            found += judge(default, leader).gain
        low, high = _wilson(found, times)
        label = f"gain of 2 in the pairs claimed, noise {variation:.0%}"
        note = f"95 %: {low:.1%} to {high:.1%}"
        figures.append(Figure(label, 100 * found / times, "%", least, True, note))
    return figures


def _tuned(variation: float, seed: int) -> Ending:
    """A whole tuning of configurations that are equal, with lognormal noise."""
    source, sigma = random.Random(seed), _sigma(variation)
    course = course_of(space(), source, rules=True)
    trials: list[Trial] = []
    while isinstance(step := course.after(trials), Plan):
        trials.append(_trial(step, source.lognormvariate(0, sigma)))
    return step


def _sigma(variation: float) -> float:
    """Of a lognormal distribution with that coefficient of variation."""
    return math.sqrt(math.log(1 + variation**2))


def _wilson(hits: float, count: int) -> tuple[float, float]:
    """The 95 % interval of a share."""
    z = 1.96
    share, spread = hits / count, z * z / count
    middle = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / count + spread / (4 * count)) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def _difference(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """The difference of two means, and half of its 95 % interval."""
    variance = sum(statistics.variance(found) / len(found) for found in (one, other))
    return statistics.fmean(one) - statistics.fmean(other), 1.96 * math.sqrt(variance)
