"""Whatever happens to a run, in any order: its state gives only instructions that may come then,
and the run ends, with nothing lost and nothing done twice. ``TEST_SEED`` draws other runs."""

from __future__ import annotations

import logging
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from state_world import World

from burstlens.cluster_configs.site import choose
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import RunFacts, write_facts
from burstlens.core.run.record import stamp
from burstlens.workflows.recipe.recipe import Recipe
from burstlens.workflows.tuning.course import Course
from burstlens.workflows.tuning.guesses import Guess
from burstlens.workflows.tuning.space import Configuration, Factor, Space

RECIPE = """\
title = "Any program"
[simulation]
model = "command"
command = ["./model.sh"]
frames = "out_*.nc"
inputs = "inputs"
[buffer]
capacity = "1 MiB"
raw = "release"
[[product]]
name = "plain"
kind = "map"
variable = "T2"
limits = [270, 310]
[[product]]
name = "widening"
kind = "map"
variable = "T2"
[[guard]]
name = "whole"
variable = "T2"
then = "stop"
[[step]]
name = "monitor"
beside = "simulation"
command = ["true"]
[[step]]
name = "archive"
after = "simulation"
command = ["true"]
"""
KEY = "simulation.environment.X"
COURSE = Course(
    Space((Factor(KEY, ("a", "b")),)), (Guess(Configuration(((KEY, "b"),)), "a rule"),), runs=1
)
KINDS = ("launched", "attached", "trials", "cut", "jobs")
ENDS = (*("good",) * 10, "lost", "lost", "refused")
STRIKES = (*("",) * 60, "stop", "stop-now", *("kill", "refuse", "block", "quiet", "late") * 3)
"""What happens beside what comes back: mostly nothing."""


def strike(world: World, what: str) -> None:
    match what:
        case "stop" | "stop-now":
            world.ask(what)
        case "kill":
            world.kill()
        case "refuse":
            world.refuses = True
        case "block":
            world.block_gone = True
        case "quiet":
            world.quiet_s += 700.0
        case "late":
            world.turn(40.0)


class AnyRun(RuleBasedStateMachine):
    """One run of each kind, and what Hypothesis does to it."""

    steps: ClassVar[int] = 0
    make: ClassVar[Callable[[str], World]]

    def __init__(self) -> None:
        super().__init__()
        self.worlds = [AnyRun.make(kind) for kind in KINDS]

    @rule(
        which=st.integers(0, 5),
        how=st.sampled_from(ENDS),
        number=st.integers(0, 21),
        what=st.sampled_from(STRIKES),
        count=st.integers(1, 3),
    )
    def go_on(self, which: int, how: str, number: int, what: str, count: int) -> None:
        """Nodes end, in any order; a driver dies, a disk refuses, a person stops the run."""
        for world in self.worlds:
            AnyRun.steps += 1
            strike(world, what)
            for _ in range(count):
                world.end(which, how, number)
            world.turn(0.5)

    @invariant()
    def the_state_is_what_its_journal_adds_up_to(self) -> None:
        """The journal has all of it."""
        for world in self.worlds:
            if world.failed is not None:
                world.begin()

    def teardown(self) -> None:
        """Each of them comes to its end."""
        for world in self.worlds:
            world.finish()


@pytest.fixture
def make(
    recipe: Callable[..., Recipe], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> Callable[[str], World]:
    caplog.set_level(logging.CRITICAL, "burstlens")
    made, site = recipe(text=RECIPE), choose("local")
    run = RunDir(tmp_path / "runs" / "storm-1")
    run.create()
    table = {"simulation": {"inputs": "inputs"}, "product": []}
    facts = {"recipe": "any", "source": "any.toml", "table": table, **stamp()}
    write_facts(run, RunFacts(run=run.id, buffer_folder="f", **facts))
    return lambda kind: World(kind, made, site, run.path, COURSE)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_to_which_nothing_happens_comes_to_its_end(make, kind):
    world = make(kind)
    world.finish()
    assert world.outcomes[0].state in {"done", "quiet"}


def test_each_kind_of_run_ends_whatever_happens_to_it(make):
    AnyRun.make = make
    AnyRun.steps = 0
    run_state_machine_as_test(
        seed(int(os.environ.get("TEST_SEED", "1")))(AnyRun),
        settings=settings(
            max_examples=60, stateful_step_count=30, deadline=None, database=None,
            phases=[Phase.generate], report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip
    assert AnyRun.steps >= 5000


@pytest.mark.slow
def test_a_long_random_walk_of_each_kind_loses_nothing(make):
    draw = random.Random(os.environ.get("TEST_SEED", "1"))
    events = 0
    while events < 100_000:
        world = make(draw.choice(KINDS))
        for _ in range(draw.randrange(5, 120)):
            strike(world, draw.choice(STRIKES))
            for _ in range(draw.randrange(1, 4)):
                world.end(draw.randrange(6), draw.choice(ENDS), draw.randrange(22))
            world.turn(0.5)
            if world.failed is not None:
                world.begin()
        world.finish()
        events += world.count
