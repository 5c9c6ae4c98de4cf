"""Runs that end while nobody looks: their word arrives, with the picture."""

from __future__ import annotations

import json
import os
import signal

import pytest
from recipe_texts import wrf_recipe
from run_case import WAITS, Case

pytestmark = pytest.mark.integration

RECIPE = wrf_recipe("A storm, live", '[notify]\nevery = "1 min"\n')


@pytest.fixture
def storm(tmp_path, config):
    """A run of a stand-in for WRF in a folder of its own."""
    made = []

    def make(**how):
        case = Case(tmp_path / "case", recipe=RECIPE, **how)
        case.environment["XDG_CONFIG_HOME"] = os.environ["XDG_CONFIG_HOME"]
        made.append(case)
        return case

    yield make
    for case in made:
        case.end()


def newest(case) -> bytes:
    index = (case.run / "products" / "index.jsonl").read_text().splitlines()
    names = {line["time"]: line["name"] for line in map(json.loads, index)}
    return (case.run / "products" / names[max(names)]).read_bytes()


def ends(web):
    """The addresses that got word of an end, with its kind, in the order of their names."""
    said = [(path, json.loads(body)["event"]) for path, _, body in web.posted]
    found = [(path, event) for path, event in said if event != "time"]
    return sorted(found, key=lambda one: (one[1] == "done", one))


def needs(web):
    return [facts for facts in web.facts() if facts["event"] == "needs-you"]


def launch_by_python(case, *ways):
    """Launch the run in a Python of its own, which ends at once."""
    places = {"BURSTLENS_RUNS": str(case.runs), "BURSTLENS_BUFFER": str(case.buffer)}
    code = f"import burstlens; burstlens.launch('r.toml', name='r', notify={ways})"
    with (case.folder / "said").open("a") as said:
        return case.wait(case.popen([case.python, "-c", code], places, said))


@pytest.mark.slow
def test_a_run_of_python_that_ends_while_nobody_looks_sends_its_word_both_ways(
    storm, smtp, web, config
):
    config(f'[notify]\nsmtp = "{smtp.place}"\nsender = "sim@example.org"\n')
    case = storm()
    assert launch_by_python(case, "mail:me@example.org", f"{web.url}/hook").code == 0
    case.await_event("run.ended")
    case.await_that(
        lambda: (
            sum(e["event"] == "notice.due" for e in case.journal()) * 2
            == sum(e["event"] == "notice.sent" for e in case.journal())
        ),
        "word of the end",
    )
    # Two words that are due at once may arrive in any order.
    ((_, to, message),) = [it for it in smtp.arrived if it[2]["Subject"] == "Burstlens: r: done"]
    assert to == ["me@example.org"]
    text, picture = message.iter_parts()
    assert text.get_content().splitlines()[0] == "A storm, live (r): done"
    assert picture.get_content() == newest(case)
    facts = {one["event"]: one for one in web.facts()}
    assert facts.keys() == {"time", "done"}
    assert facts["done"]["picture"]["media_type"] == "image/png"
    assert facts["done"]["link"] == str(case.run / "products" / "index.html")
    assert (case.run / "notify.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.fault
def test_a_driver_killed_before_it_has_sent_the_word_leaves_it_to_resume(storm, web, config):
    config(f'[notify]\nwebhook = "{web.url}/slow"\non = ["done"]\n')
    case = storm()
    driver = case.launch()
    case.await_event("run.ended")
    case.await_that(lambda: web.posted, "post")
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    web.let_go.set()
    resumed = case.burstlens("resume", "r")
    assert resumed.code == 0
    assert "nothing to resume" in resumed.said
    assert "its driver had not sent 1 notice: done now" in resumed.said
    marks = {headers["Idempotency-Key"] for _, headers, _ in web.posted}
    assert len(web.posted) == 2
    assert len(marks) == 1  # its receiver can know the second for the first
    case.burstlens("resume", "r")
    assert len(web.posted) == 2


@pytest.mark.fault
def test_a_run_whose_driver_and_terminal_are_gone_sends_word_of_both_ends(storm, web):
    case = storm(model=WAITS)
    driver = case.launch(notify=f"{web.url}/hook")
    case.await_event("product.published")
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    case.await_that(lambda: needs(web), "word of the driver's end")
    case.go_on()
    case.await_that(lambda: len(needs(web)) == 2, "word of the model's end")
    gone, over = needs(web)
    assert "the model goes on; its pictures wait" in gone["text"]
    assert gone["picture"]["media_type"] == "image/png"
    assert "the model ended with exit code 0; the last pictures" in over["text"]
    assert case.burstlens("resume", "r").code == 0
    assert [event for _, event in ends(web)] == ["needs-you", "needs-you", "done"]
    due = [line["key"] for line in case.journal() if line["event"] == "notice.due"]
    assert [key for key in due if "time" not in key] == ["driver 1", "driver 1 model", "end 2"]


@pytest.mark.fault
def test_a_receiver_that_hangs_holds_up_the_end_for_a_bounded_time(storm, web, config):
    config(f'[notify]\nwebhook = "{web.url}/slow"\n')
    case = storm()
    assert case.wait(case.launch()).code == 0
    status = json.loads((case.run / "status.json").read_text())
    assert status["state"] == "done"
    assert any("webhook 127.0.0.1" in alarm["text"] for alarm in status["alarms"])


@pytest.mark.fault
def test_a_stopped_run_sends_the_words_of_status_and_resume_adds_a_way(storm, web, config):
    config(f'[notify]\nwebhook = "{web.url}/hook"\non = ["stopped", "done"]\n')
    case = storm(model=WAITS)
    driver = case.launch()
    case.await_event("product.published")
    case.burstlens("stop", "r")
    assert case.wait(driver).code == 4
    facts = web.facts()[-1]
    assert facts["event"] == "stopped"
    said = case.burstlens("status", "r").said
    assert facts["text"].partition("stopped: ")[2] in said
    assert facts["more"][0] == "go on with: burstlens resume r"
    assert all(line in said for line in facts["more"])
    case.go_on()
    resume = case.start("resume", "r", "--detach", "--notify", f"{web.url}/added")
    assert case.wait(resume).code == 0
    case.await_event("run.ended", 2)
    added = [("/added", "done"), ("/hook", "done")]
    case.await_that(lambda: ends(web)[-2:] == added, "word of the end to both")
    assert ends(web)[:-2] == [("/hook", "stopped")]


def test_the_plan_shows_who_gets_word_and_a_wrong_way_is_refused(storm, config):
    config('[notify]\nmail = "me@example.org"\nevery = "6h"\n')
    case = storm()
    plan = case.burstlens("run", "r.toml", "--dry-run", "--notify", "https://example.org/h?k=1")
    assert "write to me@example.org: done, failed, stopped, trip, needs-you, every 6" in plan.said
    assert "post to https://example.org/...: done, failed" in plan.said
    assert "needs-you, every 1 min 00 s of model time, every 6 h" in plan.said
    wrong = case.burstlens("run", "r.toml", "--notify", "pigeon:me")
    assert wrong.code == 2
    assert "expected mail:ADDRESS, desktop" in " ".join(wrong.said.split())
    assert not (case.runs / "r").exists()
