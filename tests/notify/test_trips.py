"""A guard's trip: its own program, mail and webhook, with the facts and the newest picture."""

from __future__ import annotations

import json
import time

import pytest
from loop_case import LoopCase
from notify_case import png
from recipe_texts import guarded_recipe

from burstlens.cluster_configs.site import choose
from burstlens.core.run.history import replay
from burstlens.core.run.journal import Journal, read
from burstlens.workflows.guards.finding import Breach, Reading
from burstlens.workflows.publishing.context import RunContext

pytestmark = pytest.mark.integration

BAD = Breach("max", "W = 93.1 m s-1, above 80", "W", 93.1, 80.0, "m s-1",
             {"index": {"south_north": 4}})  # fmt: skip
GUARD = """
[[guard]]
name = "W"
variable = "W"
max = 80
run = ["PROGRAM"]
webhook = "WEB"
"""


class Driver:
    """The guards of one driver after another."""

    def __init__(self, run, recipe) -> None:
        self.run, self.recipe, self.epoch = run, recipe, 0

    def begin(self) -> LoopCase:
        self.epoch += 1
        history = replay(read(self.run.journal)) if self.run.journal.exists() else replay([])
        self.journal = Journal(self.run.journal, self.epoch, history.apply)
        context = RunContext.of(self.run, self.recipe, choose("local"), self.journal, history)
        self.alarms = context.snapshot.alarms
        context.notices.begin(guard.ways for guard in self.recipe.guards)
        return LoopCase(context)

    def trip(self, guarding, frame) -> None:
        at = frame.stream, frame.time, frame.attempt
        guarding.read(frame, [Reading("W", *at, 0.0, 93.1, 1.0, breach=BAD)])

    def end(self, guarding) -> None:
        guarding.context.notices.close()
        self.journal.close()


@pytest.fixture
def driver(run_dir, recipe, config, program, web):
    hook = program('cat > said; echo "$BURSTLENS_VALUE $BURSTLENS_GUARD" >> said; pwd')
    guard = GUARD.replace("PROGRAM", hook).replace("WEB", web.url)
    return Driver(run_dir, recipe(text=guarded_recipe("A storm", "T2", guard)))


@pytest.fixture
def bad(frame):
    return frame("t00000360.000", stream="d01")


def test_it_is_sent_with_its_facts_and_the_newest_picture(driver, bad, web, publish, run_dir):
    content = png()
    picture = publish("t00000300.000", content)
    guarding = driver.begin()
    driver.trip(guarding, bad)
    driver.end(guarding)
    (facts,) = web.facts()
    assert facts["text"] == (
        'A storm (storm-1): guard "W": W = 93.1 m s-1, above 80, d01 t = 360 s'
    )
    assert (facts["event"], facts["guard"], facts["then"]) == ("trip", "W", "alarm")
    assert (facts["value"], facts["place"]) == (93.1, {"index": {"south_north": 4}})
    assert facts["what_happened"] == BAD.text
    assert facts["picture"]["bytes"] == len(content)
    said, words = (run_dir.path / "said").read_text().splitlines()
    assert json.loads(said)["picture"] == picture
    assert words == "93.1 W"
    assert (run_dir.logs / "guards" / "W.log").read_text() == f"{run_dir.path}\n"


@pytest.mark.parametrize("lines", range(6))
def test_a_driver_killed_between_two_lines_of_the_journal_leaves_no_trip_unsent(
    driver, bad, web, run_dir, lines
):
    run_dir.facts.write_text("{}")
    first = driver.begin()
    driver.trip(first, bad)
    driver.end(first)
    whole = run_dir.journal.read_bytes().splitlines(keepends=True)
    assert len(whole) == 5  # due, tripped, inspected, two ways
    run_dir.journal.write_bytes(b"".join(whole[:lines]))
    before = len(web.posted)
    second = driver.begin()
    if (bad.stream, bad.time, bad.attempt) not in second.history.inspected:
        driver.trip(second, bad)
    driver.end(second)
    events = [event.event for event in read(run_dir.journal)]
    assert events.count("guard.tripped") == events.count("notice.due") == 1
    assert events.count("notice.sent") == 2
    sent_before = any(b"webhook" in line for line in whole[:lines] if b"notice.sent" in line)
    assert len(web.posted) - before == (not sent_before)


def test_a_failure_names_the_guard_and_delays_nothing(driver, bad, web, run_dir):
    run_dir.facts.write_text("{}")
    (guard,) = driver.recipe.guards
    assert guard.webhook is not None
    web.server_close()
    guarding = driver.begin()
    begin = time.monotonic()
    driver.trip(guarding, bad)
    assert time.monotonic() - begin < 1.0
    driver.end(guarding)
    texts = [alarm.text for alarm in driver.alarms]
    assert any(text.startswith('guard "W": webhook 127.0.0.1 #') for text in texts)
