"""Notifications of trips: real programs, a real web server, a stand-in for sendmail."""

from __future__ import annotations

import email
import email.policy
import json
import os
import socket
import threading
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from burstlens.core.errors import RecipeError
from burstlens.workflows.guards import notify
from burstlens.workflows.guards.finding import Trip
from burstlens.workflows.guards.notify import Notifier, allowed

pytestmark = pytest.mark.integration

TRIP = Trip(
    t=1795250953.7,
    guard="W",
    then="stop",
    text="W = 93.1 m s-1, above 80",
    what="max",
    variable="W",
    value=93.1,
    limit=80.0,
    units="m s-1",
    stream="d01",
    time="00010101T000600",
    attempt=1,
    place={"index": {"south_north": 4}},
)


@pytest.fixture
def config(tmp_path, monkeypatch):
    """Writes the user's configuration."""
    home = tmp_path / "config"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))

    def write(text='[guards]\nallow = ["run", "mail", "webhook"]\n'):
        (home / "burstlens").mkdir(parents=True, exist_ok=True)
        (home / "burstlens" / "config.toml").write_text(text)

    write()
    return write


@pytest.fixture
def send(run_dir, guard, config):
    """Sends the trip in all ways of one guard and waits for the end; returns the alarms."""

    def deliver(patience_s=20.0, trip=TRIP, **keys):
        alarms: list[str] = []
        notifier = Notifier(run_dir, "A storm", alarms.append)
        notifier.notify(guard(name="W", variable="W", **keys), trip)
        end = time.monotonic() + patience_s
        while any(thread.is_alive() for thread in notifier._threads):
            assert time.monotonic() < end
            time.sleep(0.02)
        notifier.look()
        return alarms

    return deliver


@pytest.fixture
def program(tmp_path):
    """Makes a program from shell lines."""

    def make(lines: str, name: str = "hook") -> str:
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{lines}\n")
        path.chmod(0o755)
        return str(path)

    return make


@pytest.fixture
def web():
    """A real server on loopback that records what is posted; the path sets its answer."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            self.server.posted.append((self.path, self.headers["Content-Type"], body))
            if self.path == "/slow":
                self.server.let_go.wait(60)
            self.send_response({"/no": 500, "/away": 302}.get(self.path, 204))
            if self.path == "/away":
                self.send_header("Location", "/elsewhere")
            self.end_headers()

        def do_GET(self):
            self.do_POST()

        def log_message(self, *_):
            return

    server = HTTPServer(("127.0.0.1", 0), Handler)
    server.posted, server.let_go = [], threading.Event()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.url = f"http://127.0.0.1:{server.server_port}"
    yield server
    server.let_go.set()
    server.shutdown()
    server.server_close()


def test_a_program_gets_the_facts_and_no_shell_reads_its_arguments(send, program, run_dir):
    line = 'cat > said; echo "$BURSTLENS_VALUE $BURSTLENS_GUARD" >> said; echo "$1" >> said; pwd'
    assert send(run=(program(line), "$(touch owned); `id`")) == []
    facts, words, argument = (run_dir.path / "said").read_text().splitlines()[-3:]
    facts = json.loads(facts)
    assert facts["text"] == (
        'A storm (storm-1): guard "W": W = 93.1 m s-1, above 80, d01 0001-01-01 00:06:00 UTC'
    )
    assert (facts["value"], facts["place"]) == (93.1, {"index": {"south_north": 4}})
    assert (words, argument) == ("93.1 W", "$(touch owned); `id`")
    assert (run_dir.logs / "guards" / "W.log").read_text() == f"{run_dir.path}\n"


def test_a_program_that_fails_is_reported(send, program):
    (alarm,) = send(run=(program("exit 3"),))
    assert 'guard "W": run failed:' in alarm
    assert "ended with exit code 3" in alarm
    (missing,) = send(run=("no-such-program",))
    assert "no-such-program" in missing


def test_a_program_that_hangs_is_ended_with_its_children(send, program, tmp_path, monkeypatch):
    monkeypatch.setattr(notify, "COMMAND_S", 0.5)
    child = tmp_path / "child"
    (alarm,) = send(run=(program(f"sleep 300 & echo $! > {child}; wait"),))
    assert "took longer than 0.5 s" in alarm
    assert not _lives(int(child.read_text()))


def test_a_program_that_does_not_read_its_input_is_not_a_failure(send, program):
    assert send(run=(program("exit 0"),)) == []


def test_mail_goes_only_to_the_address(send, program, tmp_path, monkeypatch):
    mailed = tmp_path / "mailed"
    program(f'echo "$@" > {mailed}; cat >> {mailed}', "sendmail")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    assert send(mail="me@example.org") == []
    arguments, _, text = mailed.read_text().partition("\n")
    assert arguments == "-i -- me@example.org"
    message = email.message_from_string(text, policy=email.policy.default)
    assert (message["To"], message["Subject"]) == (
        "me@example.org",
        "Burstlens: storm-1: guard W",
    )
    assert 'A storm (storm-1): guard "W": W = 93.1 m s-1' in message.get_content()


def test_a_machine_without_sendmail_is_reported(send, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(notify, "SENDMAIL", ())
    (alarm,) = send(mail="me@example.org")
    assert "there is no sendmail" in alarm


def test_a_webhook_gets_the_facts_as_json(send, web):
    assert send(webhook=f"{web.url}/hook") == []
    ((path, kind, body),) = web.posted
    assert (path, kind) == ("/hook", "application/json")
    facts = json.loads(body)
    assert (facts["run"], facts["guard"], facts["then"]) == ("storm-1", "W", "stop")


def test_a_webhook_that_refuses_or_redirects_is_reported_and_not_followed(send, web):
    (refused,) = send(webhook=f"{web.url}/no")
    assert "webhook failed: HTTP Error 500" in refused
    (away,) = send(webhook=f"{web.url}/away")
    assert "HTTP Error 302" in away
    assert [path for path, _, _ in web.posted] == ["/no", "/away"]


def test_a_webhook_that_hangs_or_is_missing_is_reported(send, web, monkeypatch):
    monkeypatch.setattr(notify, "WEBHOOK_S", 0.5)
    (slow,) = send(webhook=f"{web.url}/slow")
    assert "timed out" in slow
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (absent,) = send(webhook=f"http://127.0.0.1:{port}/")
    assert "refused" in absent


@pytest.mark.parametrize("way", ["run", "mail", "webhook"])
def test_the_caller_continues_while_a_notification_is_still_being_sent(
    run_dir, guard, config, program, web, tmp_path, monkeypatch, way
):
    go, sent = tmp_path / "go", tmp_path / "sent"
    lines = f"cat > {tmp_path}/facts; until [ -e {go} ]; do sleep 0.02; done; echo > {sent}"
    waits = program(lines, "sendmail")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    asked = {"run": (waits,), "mail": "me@example.org", "webhook": f"{web.url}/slow"}[way]
    alarms: list[str] = []
    notifier = Notifier(run_dir, "A storm", alarms.append)
    notifier.notify(guard(name="W", variable="W", **{way: asked}), TRIP)
    (thread,) = notifier._threads
    assert thread.is_alive()  # it waits until it is released
    go.touch()
    web.let_go.set()
    thread.join(20)
    notifier.close()
    assert alarms == []
    assert [path for path, _, _ in web.posted] == (["/slow"] if way == "webhook" else [])
    assert sent.exists() == (way != "webhook")


def test_the_end_of_a_run_waits_only_a_moment_and_leaves_no_process_behind(
    run_dir, guard, config, program, tmp_path, monkeypatch
):
    monkeypatch.setattr(notify, "LAST_S", 0.5)
    alarms: list[str] = []
    notifier = Notifier(run_dir, "A storm", alarms.append)
    child = tmp_path / "child"
    hangs = program(f"echo $$ > {child}; sleep 300")
    notifier.notify(guard(name="W", variable="W", run=(hangs,)), TRIP)
    while not (child.exists() and child.read_text().strip()):
        time.sleep(0.02)
    notifier.close()
    assert not _lives(int(child.read_text()))
    assert "run failed" in alarms[0]


def test_no_program_is_run_and_no_host_contacted_unless_the_user_allows_it(
    send, config, program, web, run_dir
):
    config("")
    alarms = send(run=(program("touch ran"),), webhook=web.url, mail="me@example.org")
    assert len(alarms) == 3
    assert all("allow" in alarm and "config.toml" in alarm for alarm in alarms)
    assert not (run_dir.path / "ran").exists()
    assert web.posted == []
    config('[guards]\nallow = ["webhook"]\n')
    assert allowed() == {"webhook"}
    assert len(send(run=(program("touch ran"),), webhook=web.url)) == 1
    assert len(web.posted) == 1


def test_a_faulty_configuration_is_reported_and_no_way_is_allowed(send, config, program, run_dir):
    config("[guards]\nallow = true\n")
    with pytest.raises(RecipeError, match=r"guards\.allow is a list"):
        allowed()
    (alarm,) = send(run=(program("touch ran"),))
    assert "guards.allow is a list" in alarm
    assert not (run_dir.path / "ran").exists()


def test_text_from_the_model_cannot_add_headers_or_addresses(send, program, tmp_path, monkeypatch):
    mailed = tmp_path / "mailed"
    program(f"cat > {mailed}", "sendmail")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    hostile = replace(TRIP, text="x\nBcc: all@example.org\n\n.\nRCPT TO: <a@b>")
    assert send(mail="me@example.org", trip=hostile) == []
    message = email.message_from_string(mailed.read_text(), policy=email.policy.default)
    assert message["Bcc"] is None
    assert "Bcc: all@example.org" in message.get_content()


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
