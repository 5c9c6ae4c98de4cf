"""Word that a run has no driver any more: sent once from the model's job, whatever is killed."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from notify_case import Deserted
from run_case import Case

from burstlens.core.durable import read_json, write_json
from burstlens.core.run import events as ev
from burstlens.core.run.heartbeat import ticks_of
from burstlens.core.run.journal import Journal, read
from burstlens.workflows.notify.asked import ask
from burstlens.workflows.notify.way import Way
from burstlens.workflows.notify.word import driver_word
from burstlens.workflows.placement import sentry as sentry_module
from burstlens.workflows.placement import supervisor
from burstlens.workflows.placement.absence import notices_of
from burstlens.workflows.placement.sentry import Sentry
from burstlens.workflows.plan.commands import new_run

pytestmark = pytest.mark.integration


@pytest.fixture
def run(run_dir, recipe, config, web):
    config(f'[notify]\nwebhook = "{web.url}/mine"\nallow = ["webhook"]\n')
    return Deserted(run_dir, recipe())


def said(web):
    """The path and the text of what was posted."""
    return [(path, json.loads(body)["text"]) for path, _, body in web.posted]


def test_a_driver_that_is_gone_is_reported_once_by_each_way_of_the_run(run, web):
    ask(run.run, [f"{web.url}/asked"])
    for _ in range(3):
        assert run.sentinel().settled
    (first, text), (second, _) = sorted(said(web))
    assert (first, second) == ("/asked", "/mine")
    who = f"pid {2**22 - 1} on {socket.gethostname()}"
    assert text.endswith(
        f"(storm-1): its driver has ended ({who} is gone); the model goes on; its pictures wait"
    )
    facts = web.facts()[0]
    assert (facts["event"], facts["state"], facts["model_ended"]) == ("needs-you", "lost", False)
    assert facts["more"] == ["go on with: burstlens resume storm-1"]


def test_a_resumed_driver_sends_none_of_it_again_and_its_own_end_once(run, web):
    run.sentinel()
    assert run.resume() == []
    assert [text.rpartition(": ")[2] for _, text in said(web)][1:] == ["done"]
    label = Way("webhook", (f"{web.url}/mine",)).label
    assert run.events() == [
        ("notice.due", "driver 1", ""), ("notice.sent", "driver 1", label),
        ("notice.due", "end 2", ""), ("notice.sent", "end 2", label),
    ]  # fmt: skip


@pytest.mark.parametrize("lines", range(4))
def test_a_sentinel_killed_between_two_lines_leaves_the_rest_to_the_next(run, web, lines):
    ask(run.run, [f"{web.url}/asked"])
    run.sentinel()
    path = notices_of(run.folder)
    whole = path.read_bytes().splitlines(keepends=True)
    assert len(whole) == 3  # due, two ways
    path.write_bytes(b"".join(whole[:lines]) + b'{"event": "notice.se')  # torn
    web.posted.clear()
    run.sentinel()
    assert len(web.posted) == 3 - max(lines, 1)
    events = [event.event for event in read(path)]
    assert sorted(events) == ["notice.due", "notice.sent", "notice.sent"]


@pytest.mark.parametrize("lines", range(1, 8))
def test_a_driver_killed_while_it_takes_the_word_up_does_nothing_twice(run, web, lines):
    run.sentinel()
    with closing(Journal(notices_of(run.folder), 1)) as journal:  # killed as it sent another one
        journal.append(
            ev.NoticeDue(key="driver 1 model", kinds=["needs-you"], text="x", ways=["desktop"])
        )
    run.resume()
    whole = run.run.journal.read_bytes().splitlines(keepends=True)
    assert len(whole) == 9  # started, resumed, two words of two lines, the end of three
    run.run.journal.write_bytes(b"".join(whole[:lines]))
    web.posted.clear()
    run.resume(3)
    assert [text.rpartition(": ")[2] for _, text in said(web)] == ["done"]
    names = [(name, key) for name, key, _ in run.events() if not key.startswith("end 2")]
    assert sorted(names) == [
        ("notice.due", "driver 1"), ("notice.due", "driver 1 model"), ("notice.due", "end 3"),
        ("notice.failed", "driver 1 model"),
        ("notice.sent", "driver 1"), ("notice.sent", "end 3"),
    ]  # fmt: skip


def test_a_driver_that_is_only_silent_is_not_reported(run, web):
    run.driver(pid=os.getpid(), ticks=ticks_of(os.getpid()))  # suspended, say
    run.sentinel(3600.0)
    assert run.sentinel(3600.0, over=True).settled  # the job does not wait for it
    assert web.posted == []


@pytest.mark.parametrize(
    ("still_s", "facts", "sent"),
    [(50.0, {}, 0), (60.0, {}, 1), (600.0, {"loading": True}, 0), (1800.0, {"loading": True}, 1)],
)
def test_a_driver_on_another_host_is_dead_when_its_heartbeat_stands_still_for_long(
    run, web, still_s, facts, sent
):
    run.driver(host="login9", pid=12, **facts)
    run.sentinel(still_s)
    assert len(web.posted) == sent
    assert all("no sign of life of pid 12 on login9 for" in text for _, text in said(web))


def test_a_driver_that_has_reported_its_own_end_is_not_reported_again(run, web):
    own = driver_word(run.run, "Any program", "the target is full", 1)
    with closing(Journal(run.run.journal, 1)) as journal:
        journal.append(ev.NoticeDue(key=own.key, kinds=[*own.kinds], text=own.text, ways=["x"]))
        journal.append(ev.NoticeSent(key=own.key, way="x"))
    assert run.sentinel().settled
    assert web.posted == []
    run.sentinel(over=True)  # the model's end is news
    assert len(web.posted) == 1


def test_a_driver_killed_while_it_sent_word_of_its_own_end_has_the_rest_sent(run, web):
    ask(run.run, [f"{web.url}/asked"])
    own = driver_word(run.run, "Any program", "the target is full", 1)
    mine, asked = (Way("webhook", (f"{web.url}/{path}",)).label for path in ("mine", "asked"))
    with closing(Journal(run.run.journal, 1)) as journal:
        ways = [mine, asked]
        journal.append(ev.NoticeDue(key=own.key, kinds=[*own.kinds], text=own.text, ways=ways))
        journal.append(ev.NoticeSent(key=own.key, way=mine))
    for _ in range(2):
        assert run.sentinel().settled
    assert said(web) == [("/asked", own.text)]
    run.resume()
    assert run.events()[:3] == [
        ("notice.due", own.key, ""), ("notice.sent", own.key, mine),
        ("notice.sent", own.key, asked),
    ]  # fmt: skip


def test_a_run_that_is_over_or_whose_status_is_damaged_sends_nothing(run, web):
    run.run.status.write_text("{")
    assert run.sentinel().settled
    run.driver()
    with closing(Journal(run.run.journal, 1)) as journal:
        journal.append(ev.RunEnded(outcome="stopped", exit_code=4))
    assert run.sentinel().settled
    assert web.posted == []


def test_a_damaged_file_of_word_sends_nothing_twice_and_is_reported(run, web, capsys):
    notices_of(run.folder).write_text("[]\n")
    assert run.sentinel().settled
    assert "notices.jsonl, line 1" in capsys.readouterr().out
    (alarm,) = run.resume()
    assert alarm.startswith("word that was sent without a driver is not known: ")
    assert len(web.posted) == 1  # the end's


def test_only_those_who_want_to_act_get_it(run, web, config):
    config(f'[notify]\nwebhook = "{web.url}"\non = ["done", "failed"]\n')
    assert run.sentinel().settled
    assert web.posted == []


def test_a_job_without_a_way_out_reports_it_by_the_next_driver(run, web, config):
    config(f'[notify]\nwebhook = "{web.url}/gone"\n')
    assert run.sentinel().settled
    alarms = run.resume()
    assert len([text for text in alarms if "HTTP Error 410" in text]) == 2  # also the end's


def test_a_disk_that_takes_no_file_ends_no_guard(run, web, capsys):
    shutil.rmtree(run.folder)
    assert not run.sentinel().settled
    assert "cannot be noted" in capsys.readouterr().out
    assert web.posted == []


def test_the_models_end_without_a_driver_is_another_word_with_what_the_guards_found(run, web):
    first = run.sentinel(0.0)
    assert first.settled
    write_json(run.folder / "ended.json", {"exit_code": None, "signal": "SIGTERM",
                                           "reason": "stop"})  # fmt: skip
    lines = [{"guard": "whole", "text": "W is NaN", "attempt": number} for number in (1, 2)]
    run.run.sentinel.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for _ in range(2):
        run.sentinel(over=True)
    _, facts = web.facts()
    assert facts["text"].endswith(
        "; the model was ended by SIGTERM (stop); the last pictures and the results wait"
    )
    assert facts["more"] == ['guard "whole": W is NaN', "go on with: burstlens resume storm-1"]
    assert run.resume() == []


@pytest.fixture
def job(tmp_path, config, web, monkeypatch):
    """A real run directory with a dead driver, whose model ended: its sentry, after 1 s."""
    config(f'[notify]\nwebhook = "{web.url}"\n')
    case = Case(tmp_path / "case")
    monkeypatch.setenv("BURSTLENS_RUNS", str(case.runs))
    made, _ = new_run(str(case.folder / "r.toml"), name="r")
    folder = made.job("attempt-1")
    folder.mkdir(parents=True)
    write_json(folder / "job.json", {"name": "attempt-1", "root": str(case.buffer), "folder": "f",
                                     "sentinel": {"poll_s": 0.1}})  # fmt: skip
    write_json(folder / "ended.json", {"exit_code": 0, "reason": "exited"})
    known = read_json(made.status) or {}

    def status(beat, **facts):
        driver = {"epoch": 1, "host": socket.gethostname(), "pid": 2**22 - 1, "ticks": 7}
        write_json(made.status, known | {"driver": driver | {"heartbeat": beat}} | facts)

    status(1.0)
    return Sentry(made.path, folder, {"after_s": 1.0, "guards": False, "word": True}), status


def test_the_supervisor_has_word_sent_of_an_end_that_no_driver_notices(job, web):
    sentry, _ = job
    sentry.send_word()
    (facts,) = web.facts()
    assert facts["text"].startswith("A run to be disturbed (r): its driver has ended (pid ")
    assert "; the model ended with exit code 0; " in facts["text"]


def test_word_is_sent_of_a_model_that_could_not_be_started_without_a_driver(job, web):
    sentry, _ = job
    folder = sentry.job_folder
    (folder / "ended.json").unlink()
    given = {"after_s": 1.0, "poll_s": 0.1, "guards": False, "word": True}
    lost = {"run_dir": str(sentry.run_dir), "root": "$NO_SUCH_BUFFER", "sentinel": given}
    write_json(folder / "job.json", (read_json(folder / "job.json") or {}) | lost)
    program = [sys.executable, "-P", supervisor.__file__, str(folder)]
    assert subprocess.run(program, timeout=60).returncode == 0
    assert (read_json(folder / "ended.json") or {})["reason"] == "not started"
    (facts,) = web.facts()
    assert "the model could not be started: NO_SUCH_BUFFER is not set" in facts["text"]


def test_a_program_that_sends_word_ends_with_the_supervisor(job, config, tmp_path):
    sentry, _ = job
    note = tmp_path / "pid"
    config(f"""[notify]\nrun = ["sh", "-c", 'echo $$ > "$0"; sleep 60', "{note}"]\n""")
    given = {"after_s": 1.0, "poll_s": 0.1, "guards": False, "word": True}
    lost = {"run_dir": str(sentry.run_dir), "root": "$NO_SUCH_BUFFER", "sentinel": given}
    path = sentry.job_folder / "job.json"
    write_json(path, (read_json(path) or {}) | lost)
    program = [sys.executable, "-P", supervisor.__file__, str(sentry.job_folder)]
    with subprocess.Popen(program) as process:
        end = time.monotonic() + 60
        while not (note.exists() and note.read_text().endswith("\n")):
            assert time.monotonic() < end
            time.sleep(0.05)
        process.terminate()
        assert process.wait(120) == 0
    assert not Path("/proc", note.read_text().strip()).exists()


def test_the_supervisor_waits_for_no_more_than_a_heartbeat_or_the_runs_end(job, web):
    sentry, status = job
    sentry.after_s = 120.0
    beats = threading.Timer(0.3, status, (2.0,))
    beats.start()
    begin = time.monotonic()
    sentry.send_word()
    beats.join()
    status(2.0, outcome={"state": "done"})
    sentry.send_word()
    assert time.monotonic() - begin < sentry.after_s
    assert web.posted == []
    assert not (sentry.job_folder / "sentinel.log").exists()


def test_a_signal_ends_the_supervisors_wait_for_word(job, web):
    sentry, _ = job
    sentry.send_word(lambda: True)
    assert not (sentry.job_folder / "sentinel.log").exists()
    sentry.send_word(lambda: bool(sentry.pids))
    (sentinel,) = sentry.pids
    assert not Path(f"/proc/{sentinel}").exists()
    assert web.posted == []


def test_nobody_to_tell_costs_nothing_until_a_way_is_added(job):
    sentry, _ = job
    idle = Sentry(sentry.run_dir, sentry.job_folder, {"after_s": 0.0, "guards": False})
    idle.look(time.monotonic() + 60)
    idle.send_word()
    assert idle.pids == set()
    (sentry.run_dir / "notify.json").touch()
    idle.look(time.monotonic() + 120)
    assert idle.pids
    idle.end()


def test_a_sentinel_that_has_sent_its_word_is_not_started_again_for_the_same_driver(
    job, web, monkeypatch
):
    monkeypatch.setattr(sentry_module, "HEARTBEAT_PERIOD_S", 0.0)
    sentry, status = job
    now = time.monotonic()
    sentry.look(now)
    sentry.look(now + 2)
    child = sentry._sentinel
    assert child.wait(60) == 0
    assert len(web.posted) == 1
    for number in range(3, 100):
        sentry.look(now + number)
    assert sentry._sentinel is child
    status(2.0)
    sentry.look(now + 100)
    sentry.look(now + 102)
    assert sentry._sentinel is not child
    sentry.end()


def test_a_sentinel_that_fails_is_tried_ever_more_rarely(job, monkeypatch):
    monkeypatch.setattr(sentry_module, "HEARTBEAT_PERIOD_S", 0.0)
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    sentry, _ = job
    now, tries = time.monotonic(), []
    sentry.look(now)
    for number in range(1, 40):
        before = sentry._sentinel
        sentry.look(now + number)
        if sentry._sentinel is not before:
            tries.append(number)
            assert sentry._sentinel.wait(120) == 1
    assert tries == [1, 2, 4, 8, 16, 32]


def test_an_end_that_could_not_be_sent_is_shown_also_where_alarms_are_many(run, web):
    ask(run.run, [f"{web.url}/gone"])
    shown = run.resume(alarms=20)
    assert shown[0] == "alarm 1"
    assert "webhook" in shown[-1]
