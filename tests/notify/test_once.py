"""Each word is sent once, whatever driver sends it; none is lost by a driver that dies."""

from __future__ import annotations

import json
import time

import pytest
from notify_case import WORD

from burstlens.core.run import events as ev
from burstlens.core.run.occasional_events import RunAttached
from burstlens.workflows.notify import delivery, notices
from burstlens.workflows.notify.asked import ask, asked
from burstlens.workflows.notify.options import Notify
from burstlens.workflows.notify.way import Way, parse_way
from burstlens.workflows.notify.word import Word

pytestmark = pytest.mark.integration


def test_a_word_and_its_success_are_journalled_and_it_is_not_sent_again(sender, web):
    way = Way("webhook", (web.url,))
    assert sender.send(way) == sender.send(way) == []
    assert len(web.posted) == 1
    ((due,), (sent,)) = sender.events("due"), sender.events("sent")
    assert (due.key, due.ways, due.text) == ("end 1", [way.label], WORD.text)
    assert (sent.key, sent.way) == ("end 1", way.label)


def test_a_resumed_driver_sends_what_its_predecessor_had_not(sender, web, config):
    config(f'[notify]\nwebhook = ["{web.url}/a", "{web.url}/b"]\n')
    first = sender.driver()
    sender.journal.append(ev.RunStarted())
    first.due(WORD)  # killed here
    sender.journal.append(ev.RunEnded(outcome="failed", exit_code=1))
    done = Way("webhook", (f"{web.url}/a",)).label
    sender.journal.append(ev.NoticeSent(key=WORD.key, way=done))
    sender.journal.close()
    for _ in range(2):
        resumed = sender.driver()
        resumed.begin()
        resumed.close()
        sender.journal.close()
    assert [path for path, _, _ in web.posted] == ["/b"]
    facts = web.facts()[0]
    assert (facts["text"], facts["event"], facts["more"]) == (WORD.text, "failed", ["log line"])


def test_word_of_an_end_that_was_not_journalled_is_not_sent(sender, web, config):
    config(f'[notify]\nwebhook = "{web.url}"\n')
    first = sender.driver()
    sender.journal.append(ev.RunStarted())
    first.due(WORD)  # killed before run.ended
    sender.journal.append(ev.RunResumed())
    sender.journal.close()
    sender.driver().begin()
    time.sleep(0.2)
    assert web.posted == []


def test_a_way_that_is_not_configured_any_more_is_not_waited_for(sender, web):
    first = sender.driver()
    first.due(WORD, [Way("webhook", (web.url,))])
    sender.journal.close()
    resumed = sender.driver()
    resumed.begin()
    assert sender.history.noticed.pending == {}
    assert "it is not configured" in sender.alarms[0]


def test_two_tables_that_name_one_address_write_to_it_once(sender, web, config):
    config(f'[notify]\nwebhook = "{web.url}"\nallow = ["webhook"]\n')
    assert sender.send(Way("webhook", (web.url,), "W", guard=True)) == []
    assert len(web.posted) == 1


def test_the_journal_of_another_user_runs_nothing_that_is_not_allowed(
    sender, config, program, run_dir
):
    hook = program("touch ran")
    sender.of_recipe = Notify(run=(hook,))
    first = sender.driver()
    first.due(WORD, [Way("run", (hook, "W"), "W", guard=True)])
    sender.journal.close()
    config("")
    resumed = sender.driver()
    resumed.begin([(Way("run", (hook, "W"), "W", guard=True),)])
    resumed.close()
    assert not (run_dir.path / "ran").exists()
    assert any("not allowed" in str(event.reason) for event in sender.events("failed"))


@pytest.mark.parametrize("path", ["/slow", "/no"])
def test_the_driver_continues_while_a_server_hangs_or_fails(sender, web, path, monkeypatch):
    monkeypatch.setattr(delivery, "PAUSES_S", (60.0, 60.0))
    driver = sender.driver()
    begin = time.monotonic()
    driver.send(WORD, [Way("webhook", (f"{web.url}{path}",))])
    driver.look(str)
    assert time.monotonic() - begin < 30.0
    driver.close(0.3)
    assert time.monotonic() - begin < 45.0
    (failed,) = sender.events("failed")
    assert ("took longer than 0.3 s at the end" in str(failed.reason)) == (path == "/slow")
    assert len(sender.alarms) == 1


def test_the_end_leaves_no_program_behind(sender, program, tmp_path, wait):
    child = tmp_path / "child"
    driver = sender.driver()
    driver.send(WORD, [Way("run", (program(f"echo $$ > {child}; sleep 300"),))])
    wait(lambda: child.exists() and child.read_text().strip(), "start of the program")
    driver.close(0.2)
    (alarm,) = sender.alarms
    assert "failed" in alarm


def test_a_way_whose_connection_neither_ends_nor_fails_is_given_up(sender, web, monkeypatch, wait):
    monkeypatch.setattr(notices, "OVERDUE_S", 0.2)
    driver = sender.driver()
    driver.send(WORD, [Way("webhook", (f"{web.url}/slow",))])
    wait(lambda: driver.look(str) or sender.alarms, "its alarm")
    assert "it did not end" in sender.alarms[0]
    web.let_go.set()
    time.sleep(0.2)
    driver.close()
    assert len(sender.events("failed")) == 1
    assert sender.events("sent") == []


def test_only_those_who_want_it_get_a_word(sender, web, config):
    config(f'[notify]\nwebhook = "{web.url}"\non = ["done", "trip"]\n')
    assert sender.send() == []
    assert sender.send(word=Word("end 2", ("done",), "done")) == []
    assert [facts["event"] for facts in web.facts()] == ["done"]


def publishing(sender, *times, product="t2"):
    for time_ in times:
        key = {"product": product, "stream": "d01", "time": time_, "attempt": 1}
        file = {"incoming": "x", "name": "x", "bytes": 1, "crc32": 1, "uuid": "u"}
        sender.journal.append(ev.ProductPublished(**key, **file))


def drained(driver, sender, wait):
    """One look of the driver, and the end of what it has sent."""
    driver.look(lambda: "running, 50 %")
    wait(lambda: driver.look(str) or not sender.history.noticed.pending, "the end of sending")


def test_word_at_model_times_comes_once_with_the_first_frame_that_reaches_them(
    sender, web, config, wait
):
    config(f'[notify]\nwebhook = "{web.url}"\nat = ["2015-11-01T12:00"]\nevery = "6h"\n')
    driver = sender.driver()
    for hour in (1, 5, 6, 7, 11, 13, 14, 19):
        publishing(sender, f"20151101T{hour:02}0000")
        drained(driver, sender, wait)
    sender.journal.close()
    again = sender.driver()  # a later driver
    drained(again, sender, wait)
    publishing(sender, "20151102T010000")
    drained(again, sender, wait)
    times = [facts["time"] for facts in web.facts()]
    assert times == ["20151101T060000", "20151101T130000", "20151101T190000", "20151102T010000"]
    assert web.facts()[0]["text"] == ("A storm (storm-1): 2015-11-01 06:00:00 UTC, running, 50 %")


def test_times_that_are_passed_at_once_make_one_word(sender, web, config, wait):
    config(f'[notify]\nwebhook = "{web.url}"\nat = [10, 20, "30"]\n')
    driver = sender.driver()
    publishing(sender, "t00000002.000")
    drained(driver, sender, wait)
    publishing(sender, "t00000025.000", "t00000026.000")
    drained(driver, sender, wait)
    publishing(sender, "t00000040.000", product="w")  # not the first product
    drained(driver, sender, wait)
    assert [facts["time"] for facts in web.facts()] == ["t00000026.000"]


@pytest.mark.parametrize("attached", [False, True])
def test_times_count_from_the_first_frame_of_a_run_though_the_newest_is_drawn_first(
    sender, web, config, wait, attached
):
    config(f'[notify]\nwebhook = "{web.url}"\nevery = 10\n')
    driver = sender.driver()
    if attached:  # what was there before the looking began is passed over
        sender.journal.append(RunAttached(path="/model", model="command", reason="asked"))
    times = ("t00000000.000", "t00000010.000", "t00000020.000")
    for time_ in times:
        sender.journal.append(ev.FrameReady(stream="d01", time=time_, attempt=1))
    for time_ in reversed(times):
        publishing(sender, time_)
        drained(driver, sender, wait)
    assert [facts["time"] for facts in web.facts()] == ([] if attached else [times[-1]])


def test_the_last_model_time_is_sent_though_an_earlier_word_is_on_its_way(sender, web, config):
    config(f'[notify]\nwebhook = "{web.url}/slow"\nat = [10, 20]\n')
    driver = sender.driver()
    publishing(sender, "t00000010.000")
    driver.look(str)
    publishing(sender, "t00000020.000")
    driver.look(str)
    driver.look(str, last=True)
    web.let_go.set()
    driver.close()
    times = sorted(facts["time"] for facts in web.facts())
    assert times == ["t00000010.000", "t00000020.000"]


def test_a_recipe_says_when_and_the_command_line_says_who(sender, web, config, run_dir, wait):
    config("")
    ask(run_dir, [web.url])
    sender.of_recipe = Notify(at=("t00000010.000",))
    driver = sender.driver()
    publishing(sender, "t00000002.000", "t00000012.000")
    drained(driver, sender, wait)
    assert [facts["event"] for facts in web.facts()] == ["time"]


def test_the_ways_of_the_command_line_are_kept_for_their_user_alone(run_dir):
    ask(run_dir, ["mail:me@example.org"])
    ask(run_dir, ["mail:me@example.org", "desktop"])
    assert run_dir.notify.stat().st_mode & 0o777 == 0o600
    assert asked(run_dir) == (parse_way("mail:me@example.org"), parse_way("desktop"))


@pytest.mark.parametrize("fault", ["readable", "torn", "unknown"])
def test_ways_in_a_file_that_others_may_use_or_that_is_damaged_are_not_obeyed(
    sender, run_dir, program, fault
):
    ask(run_dir, [f"run:{program('touch ran')}"])
    if fault == "readable":
        run_dir.notify.chmod(0o666)
    elif fault == "torn":
        run_dir.notify.write_text(run_dir.notify.read_text()[:20])
    else:
        run_dir.notify.write_text(json.dumps({"ways": ["pigeon"]}))
    (alarm,) = sender.send()
    assert "notify.json" in alarm
    assert not (run_dir.path / "ran").exists()
