"""Each product of each frame is published exactly once, whatever happens to driver and workers.

Hypothesis draws what happens: results in any order, kills at any call of the driver, power cuts, a
full disk, zombie workers, restarts of the model. ``TEST_SEED`` draws other runs.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from driver_case import Drivers, Strike
from exactly_once_case import QUARTERS
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from burstlens.cluster_configs.site import choose
from burstlens.workflows.recipe.recipe import Recipe

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
[[product]]
name = "second"
kind = "map"
variable = "T2"
limits = [270, 310]
every = 2
[[product]]
name = "storm"
kind = "track"
variable = "slp"
[[product]]
name = "volume"
kind = "vtk"
variables = ["T2"]
every = 2
[[product]]
name = "around"
kind = "map"
variable = "T2"
crop = { follow = "track:storm", half_width_km = 100 }
"""
SHARE = st.integers(0, QUARTERS)
NOTHING: st.SearchStrategy[Strike] = st.just(("", 0, (4, 4, 4)))
STRIKES = st.one_of(
    NOTHING,
    st.tuples(
        st.sampled_from(["kill", "kill", "power", "full", "stop"]),
        st.integers(0, 40),
        st.tuples(SHARE, SHARE, SHARE),
    ),
)
WHOLE = st.sampled_from([(True,), (True, True), (False,), (True, False), (False, True), ()])
"""Whether the frames that the model writes next are whole."""
ENDS = st.sampled_from(
    [("made",), ("made",) * 8, ("same",) * 4, ("made", "failed", "made"), ("lost", "made"),
     ("zombie", "same"), ("refused",), ()]
)  # fmt: skip
"""What comes of the next tasks."""
WHICH = st.integers(0, 7)
PARTS = ["all"] * 6 + ["watch", "work", "deliver", "turn", "zombie", "steer"]
"""What happens in a step, see ``go_on``."""


class ExactlyOnce(Drivers, RuleBasedStateMachine):
    """One run, and what Hypothesis does to it."""

    steps = 0
    recipe: Recipe
    site = choose("local")
    folder: str

    def __init__(self) -> None:
        RuleBasedStateMachine.__init__(self)
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        Drivers.__init__(self, self.recipe, self.site, folder)

    # One rule: of several ones Hypothesis leaves some out of most runs.
    @rule(
        part=st.sampled_from(PARTS),
        whole=WHOLE,
        outcomes=ENDS,
        which=WHICH,
        odd=st.booleans(),
        strike=STRIKES,
    )
    def go_on(
        self, part: str, whole: tuple[bool, ...], outcomes: tuple[str, ...], which: int, odd: bool,
        strike: Strike,
    ) -> None:  # fmt: skip
        """The model writes, workers end, the driver's loop turns; or one of these alone, so that
        results are late; or a worker of a dead driver ends, or a person steers. At odd times a
        frame is seen again, and a result comes twice."""
        ExactlyOnce.steps += 1
        if part in {"all", "watch"}:
            self.watch(whole, which if odd else None)
        self.strike(*strike)
        if part in {"all", "work"}:
            self.work(outcomes, which)
        if part in {"all", "deliver"}:
            self.deliver(which, twice=odd)
        if part in {"all", "turn"}:
            self.turn(release=odd or part == "all", sync=odd)
        if part == "zombie":
            self.end_orphan(which, heard=odd)
        if part == "steer":
            self.steer("pause" if odd else "resume-watching")

    @invariant()
    def the_journal_adds_up_to_what_the_driver_knows(self) -> None:
        self.check_history()

    def teardown(self) -> None:
        try:
            if sys.exc_info()[0] is None:
                self.finish()
        finally:
            self.disk.remove()
            self.disk.end()
            shutil.rmtree(self.run.path.parent)


@pytest.fixture
def take_steps(recipe, tmp_path, dice) -> Iterator[Callable[..., int]]:
    """Takes at least that many steps, so many in each run; returns how many."""
    memory = Path("/dev/shm")
    ExactlyOnce.recipe = recipe(text=RECIPE)
    ExactlyOnce.folder = tempfile.mkdtemp(dir=memory if memory.is_dir() else tmp_path)

    def take(wanted: int, each: int) -> int:
        ExactlyOnce.steps = 0
        while (left := wanted - ExactlyOnce.steps) > 0:
            chosen = settings(
                max_examples=-(-left // each),
                stateful_step_count=each,
                database=None,
                deadline=None,
                report_multiple_bugs=False,
                suppress_health_check=list(HealthCheck),
            )
            again = seed(dice.getrandbits(32))(ExactlyOnce)
            run_state_machine_as_test(again, settings=chosen)
        print(f"{ExactlyOnce.steps} steps")
        return ExactlyOnce.steps

    yield take
    shutil.rmtree(ExactlyOnce.folder)


@pytest.mark.slow
@pytest.mark.integration  # it takes seconds
@pytest.mark.timeout(900)
def test_each_product_is_published_exactly_once(take_steps):
    assert take_steps(1000, each=50) >= 1000


@pytest.mark.fault
@pytest.mark.timeout(1800)
def test_each_product_is_published_exactly_once_in_100_000_steps(take_steps):
    assert take_steps(100_000, each=50) >= 100_000
