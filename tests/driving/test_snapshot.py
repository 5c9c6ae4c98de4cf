"""What the snapshot makes of a run's products at its end."""

from __future__ import annotations

import time

import pytest

from burstlens.workflows.history import History
from burstlens.workflows.jobs import Outcome
from burstlens.workflows.snapshot import Snapshot

DONE = Outcome("done", 0)


@pytest.fixture
def snapshot(run_dir, recipe):
    """A snapshot of a run of which ``typo`` could be made of no frame."""
    history = History()
    history.reasons["typo"] = "no variable 'vq'"
    return Snapshot(run_dir, recipe(), history, 1)


def test_a_product_of_the_recipe_that_could_be_made_of_no_frame_fails_the_run(snapshot):
    outcome = snapshot.judge(DONE)
    told = "product typo could be made of no frame: no variable 'vq'"
    assert (outcome.state, outcome.exit_code, outcome.message) == ("failed", 1, told)


def test_an_added_product_that_could_be_made_of_no_frame_only_alarms(snapshot):
    snapshot.history.added["typo"] = {}
    assert snapshot.judge(DONE) == DONE
    (alarm,) = snapshot.alarms
    assert alarm["text"] == "product typo could be made of no frame: no variable 'vq'"
    assert alarm["product"] == "typo"


def test_products_of_frames_found_before_a_request_are_no_latency(snapshot):
    def publish(written, detected):
        clock = {"written": written, "detected": detected}
        names = dict.fromkeys(("product", "stream", "time", "name"), "x")
        snapshot.published({"clock": clock, "t": detected + 1.0, **names})

    begin = time.time()
    publish(begin, begin)
    assert snapshot.value()["latency_s"]["last"] == 1.0
    snapshot.ask_late()
    publish(begin - 90.0, begin - 89.0)
    assert snapshot.value()["latency_s"]["p95"] == 1.0
    publish(begin + 100.0, begin + 102.0)
    assert snapshot.value()["latency_s"]["p95"] == 3.0
