"""Word of models that others started: of the model's end, not of the looking's."""

from __future__ import annotations

import os
import signal

import pytest
from look_case import LookCase

from burstlens.cluster_configs.site import choose
from burstlens.core.outcome import Outcome
from burstlens.core.run.history import replay
from burstlens.core.run.journal import Journal
from burstlens.workflows.driver.noticing import send_driver_word
from burstlens.workflows.notify.word import end_word
from burstlens.workflows.publishing.context import RunContext

pytestmark = pytest.mark.integration


@pytest.fixture
def case(tmp_path, config):
    made = LookCase(tmp_path / "case")
    made.environment["XDG_CONFIG_HOME"] = os.environ["XDG_CONFIG_HOME"]
    yield made
    made.close()


def leave(case, look):
    look.send_signal(signal.SIGINT)
    case.end(look)
    case.await_that(lambda: not case.processes(), "end of the driver")


@pytest.mark.slow
def test_the_end_of_the_model_sends_word_while_the_page_goes_on(case, web):
    go_on = case.folder / "go-on"
    model = case.write("netcdf4_one", "--interval", "0.5", "--go-on", str(go_on))
    look = case.burstlens("look", case.model, "--notify", f"{web.url}/hook")
    case.await_that(
        lambda: (
            any(case.runs.glob("look-*/journal.jsonl"))
            and any(line["state"] == "running" for line in case.events("model.observed"))
        ),
        "sight of the model",
    )
    go_on.touch()
    case.await_that(lambda: web.posted, "word")
    assert model.wait(60) == 0
    assert look.poll() is None
    leave(case, look)
    (facts,) = web.facts()  # none of the looking's end, which the user has asked for
    assert (facts["event"], facts["state"]) == ("done", "ended")
    assert ": the model: ended, " in facts["text"]
    newest = max(line["time"] for line in case.events("product.published"))
    assert facts["picture"]["time"] == newest
    assert facts["link"].startswith("http://127.0.0.1:")
    assert "?token=" in facts["link"]


@pytest.mark.fault
def test_a_model_that_ended_before_anyone_looked_is_no_news(case, web):
    case.written()
    look = case.burstlens("look", case.model, "--notify", web.url)
    case.await_that(
        lambda: (
            any(case.runs.glob("look-*/journal.jsonl"))
            and any(line["state"] == "ended" for line in case.events("model.observed"))
        ),
        "end",
    )
    leave(case, look)
    assert web.posted == []


@pytest.mark.fault
def test_a_look_without_a_page_sends_one_word_of_its_end(case, web):
    case.written()
    assert case.look("--notify", web.url) == 0
    (facts,) = web.facts()
    assert facts["event"] == "done"


def test_an_end_after_which_a_person_must_act_is_one(run_dir):
    lost = end_word(run_dir, "A storm", Outcome("failed", 5, "2 frames are lost"), 3)
    assert lost.kinds == ("failed", "needs-you")
    assert lost.text == "A storm (storm-1): failed: 2 frames are lost"
    assert end_word(run_dir, "A storm", Outcome("stopped", 4), 3).kinds == ("stopped",)
    quiet = end_word(run_dir, "A storm", Outcome("quiet", 0, "nothing was written"), 3)
    assert quiet.kinds == ("stopped",)


@pytest.mark.parametrize("taken_over", [False, True])
def test_a_driver_that_ends_without_an_outcome_asks_for_a_person_unless_another_drives(
    run_dir, recipe, web, config, taken_over
):

    config(f'[notify]\nwebhook = "{web.url}"\non = ["needs-you"]\n')
    run_dir.facts.write_text("{}")
    history = replay([])
    journal = Journal(run_dir.journal, 1, history.apply)
    context = RunContext.of(run_dir, recipe(), choose("local"), journal, history)
    if taken_over:
        run_dir.claim(2).touch()
    send_driver_word(context, OSError("the output cannot be watched"))
    texts = [facts["text"] for facts in web.facts()]
    assert texts == (
        []
        if taken_over
        else ["Any program (storm-1): its driver has ended: the output cannot be watched"]
    )
