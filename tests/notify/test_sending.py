"""Word in each way: real programs, a real mail server, a real web server."""

from __future__ import annotations

import base64
import json
import os
import socket
from pathlib import Path

import pytest
from notify_case import ALLOW, Sender, png

from burstlens.core.outcome import Outcome
from burstlens.core.run.directory import RunDir
from burstlens.workflows.notify import delivery, mail, programs
from burstlens.workflows.notify.picture import newest_picture
from burstlens.workflows.notify.way import Way, parse_way
from burstlens.workflows.notify.word import Word, end_word

pytestmark = pytest.mark.integration

ME = parse_way("mail:me@example.org")


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(delivery, "PAUSES_S", (0.05, 0.05))


def test_a_program_gets_the_facts_and_no_shell_reads_its_arguments(
    sender, program, publish, run_dir
):
    picture = publish("20151101T120000", png())
    hook = program('cat > said; echo "$BURSTLENS_EVENT|$BURSTLENS_PICTURE|$1" >> said; pwd')
    assert sender.send(Way("run", (hook, "$(touch owned); `id`"))) == []
    facts, line = (run_dir.path / "said").read_text().splitlines()
    assert json.loads(facts)["text"] == "A storm (storm-1): failed: CFL"
    assert line == f"failed|{picture}|$(touch owned); `id`"
    assert (run_dir.logs / "notify.log").read_text() == f"{run_dir.path}\n"


def test_a_program_that_fails_or_is_missing_is_reported(sender, program):
    (alarm,) = sender.send(Way("run", (program("exit 3"),)))
    assert "ended with exit code 3" in alarm
    sender.run.journal.unlink()
    (missing,) = sender.send(Way("run", ("no-such-program",)))
    assert "No such file" in missing


def test_a_program_that_hangs_is_ended_with_its_children(
    sender, program, tmp_path, monkeypatch, wait
):
    monkeypatch.setattr(programs, "COMMAND_S", 0.5)
    child = tmp_path / "child"
    (alarm,) = sender.send(Way("run", (program(f"sleep 300 & echo $! > {child}; wait"),)))
    assert "took longer than 0.5 s" in alarm
    wait(lambda: not _lives(int(child.read_text())), "its child's end")


def test_mail_comes_by_the_server_of_the_configuration_with_the_newest_picture(
    sender, smtp, config, publish, run_dir
):
    publish("20151101T120000", png(41))
    newest = png(42)
    publish("20151101T180000", newest)
    publish("20151102T000000", png(), product="w")
    config(f'[notify]\nsmtp = "{smtp.place}"\nsender = "sim@example.org"\n')
    assert sender.send(ME) == []
    ((source, to, message),) = smtp.arrived
    assert (source, to) == ("sim@example.org", ["me@example.org"])
    assert message["Subject"] == "Burstlens: storm-1: failed"
    assert message["Auto-Submitted"] == "auto-generated"
    text, picture = message.iter_parts()
    assert text.get_content().splitlines()[:2] == ["A storm (storm-1): failed: CFL", "log line"]
    assert str(run_dir.products / "index.html") in text.get_content()
    assert (picture.get_content_type(), picture.get_content_disposition()) == (
        "image/png",
        "inline",
    )
    assert picture.get_content() == newest
    assert picture.get_filename() == "t2_20151101T180000.png"


@pytest.mark.parametrize("over", [False, True])
def test_word_of_the_end_shows_the_newest_picture_that_is_not_nearly_empty(publish, run_dir, over):
    publish("20151101T120000", png(400, noise=True))
    full = publish("20151101T150000", png(390, noise=True))
    empty = publish("20151101T180000", png(40))
    picture = newest_picture(run_dir, ("t2",), over=over)
    assert picture is not None
    assert str(picture.path) == (full if over else empty)


def test_word_of_the_end_shows_a_product_whose_fields_are_not_constant(publish, run_dir):
    publish("20151101T120000", png(40), min=0.0, max=0.0)
    wind = publish("20151101T120000", png(40), "wind", min=0.0, max=9.0)
    picture = newest_picture(run_dir, ("t2", "wind"), over=True)
    assert picture is not None
    assert str(picture.path) == wind


def test_a_password_is_used_and_appears_in_no_record(sender, smtp, config):
    config(f'[notify]\nsmtp = "{smtp.place}"\nsmtp_user = "me"\nsmtp_password = "s3cret-Pa55"\n')
    assert sender.send(ME) == []
    assert smtp.logins == [(b"me", b"s3cret-Pa55")]
    config(f'[notify]\nsmtp = "{smtp.place}"\nsmtp_user = "me"\nsmtp_password = "wr0ng-Pa55"\n')
    sender.run.journal.unlink()
    (alarm,) = sender.send(ME)
    assert "the server answered 535" in alarm
    assert "Pa55" not in alarm + sender.run.journal.read_text()


def test_a_password_is_not_sent_in_the_clear(sender, smtp, config, monkeypatch):
    monkeypatch.setattr(mail, "_is_loopback", lambda host: False)
    config(f'[notify]\nsmtp = "{smtp.place}"\nsmtp_user = "me"\nsmtp_password = "s3cret-Pa55"\n')
    (alarm,) = sender.send(ME)
    assert "offers no TLS: the password is not sent" in alarm
    assert smtp.logins == smtp.arrived == []


def test_a_recipient_that_the_server_refuses_is_reported_with_its_answer(sender, smtp, config):
    config(f'[notify]\nsmtp = "{smtp.place}"\n')
    smtp.answer = "550 no such user"
    (alarm,) = sender.send(ME)
    assert alarm == "mail me@example.org failed: the server answered 550 no such user"


def test_a_mail_server_that_is_silent_or_absent_is_reported(sender, config, monkeypatch):
    monkeypatch.setattr(mail, "ANSWER_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        config(f'[notify]\nsmtp = "127.0.0.1:{silent.getsockname()[1]}"\n')
        (alarm,) = sender.send(ME)
        assert "timed out" in alarm
    sender.run.journal.unlink()
    (absent,) = sender.send(ME)
    assert "refused" in absent


def test_mail_by_sendmail_goes_only_to_the_address(sender, program, tmp_path, publish):
    publish("20151101T120000", png())
    mailed = tmp_path / "mailed"
    program(f'echo "$@" > {mailed}; cat >> {mailed}', "sendmail")
    assert sender.send(ME) == []
    arguments, _, text = mailed.read_text().partition("\n")
    assert arguments == "-i -- me@example.org"
    assert "To: me@example.org" in text
    assert "image/png" in text


def test_a_machine_without_sendmail_is_reported_with_what_to_do(sender, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(mail, "SENDMAIL", ())
    (alarm,) = sender.send(ME)
    assert "there is no sendmail" in alarm
    assert "smtp" in alarm


def test_a_title_with_newlines_adds_no_header_and_no_recipient(sender, smtp, config, run_dir):
    config(f'[notify]\nsmtp = "{smtp.place}"\n')
    hostile = "x\r\nBcc: all@example.org\r\n\r\n.\r\nRCPT TO:<a@b>"
    word = end_word(run_dir, hostile, Outcome("failed", 1, hostile, hostile), 1)
    word = Word(word.key, word.kinds, word.text, hostile, None, (hostile,))
    assert sender.send(ME, word=word) == []
    ((_, to, message),) = smtp.arrived
    assert to == ["me@example.org"]
    assert message["Bcc"] is None
    assert "Bcc: all@example.org" in message["Subject"]


def test_a_webhook_gets_the_facts_and_the_picture_as_json(sender, web, publish, run_dir):
    content = png()
    publish("20151101T120000", content)
    assert sender.send(Way("webhook", (f"{web.url}/hook",))) == []
    ((path, headers, body),) = web.posted
    assert (path, headers["Content-Type"]) == ("/hook", "application/json")
    facts = json.loads(body)
    assert next(iter(facts)) == "text"
    assert (facts["run"], facts["event"], facts["more"]) == ("storm-1", "failed", ["log line"])
    picture = facts["picture"]
    assert base64.b64decode(picture.pop("data")) == content
    assert picture == {
        "name": "t2_20151101T120000.png", "product": "t2", "time": "20151101T120000",
        "media_type": "image/png", "bytes": len(content),
    }  # fmt: skip


def test_a_picture_that_is_missing_is_passed_over_for_the_one_before_it(sender, web, publish):
    publish("20151101T120000", png())
    publish("20151101T180000")
    assert sender.send(Way("webhook", (web.url,))) == []
    assert web.facts()[0]["picture"]["time"] == "20151101T120000"


def test_a_run_without_any_picture_sends_its_word_all_the_same(sender, web):
    assert sender.send(Way("webhook", (web.url,))) == []
    assert "picture" not in web.facts()[0]


def test_a_file_outside_of_the_products_is_never_sent(sender, web, publish, tmp_path):
    secret = tmp_path / "secret.png"
    secret.write_bytes(png())
    Path(publish("20151101T120000")).symlink_to(secret)
    assert sender.send(Way("webhook", (web.url,))) == []
    assert "picture" not in web.facts()[0]


def test_a_picture_of_20_MB_is_named_and_not_sent(sender, web, smtp, config, publish):  # noqa: N802
    huge = png(2600, noise=True)
    assert len(huge) > 20_000_000
    path = publish("20151101T120000", huge)
    config(f'[notify]\nsmtp = "{smtp.place}"\n')
    assert sender.send(ME, Way("webhook", (web.url,))) == []
    picture = web.facts()[0]["picture"]
    assert picture["bytes"] == len(huge)
    assert "data" not in picture
    assert len(web.posted[0][2]) < 2000
    (message,) = [message for _, _, message in smtp.arrived]
    assert f"MiB and is not sent: {path}" in " ".join(message.get_content().split("\n"))


@pytest.mark.parametrize(
    ("path", "said", "posts"),
    [
        ("/no", "HTTP Error 500", 3),
        ("/gone", "HTTP Error 410", 1),
        ("/away", "HTTP Error 302", 1),
        ("/closes", "20", 1),
        ("/silent", "closed connection", 1),
    ],
)
def test_a_webhook_that_refuses_redirects_or_breaks_off_is_reported_and_not_followed(
    sender, web, path, said, posts
):
    (alarm,) = sender.send(Way("webhook", (f"{web.url}{path}",)))
    assert said in alarm
    assert [posted for posted, _, _ in web.posted] == [path] * posts


@pytest.mark.parametrize("answer", ["421 4.3.2 closing", "500 what?"])
def test_a_mail_that_was_accepted_is_sent_once_whatever_the_server_says_then(
    sender, smtp, config, answer
):
    config(f'[notify]\nsmtp = "{smtp.place}"\n')
    smtp.farewell = answer
    assert sender.send(ME) == []
    assert len(smtp.arrived) == 1


def test_a_server_that_takes_mail_at_the_second_try_is_asked_again(sender, smtp, config):
    config(f'[notify]\nsmtp = "{smtp.place}"\n')
    smtp.greylisted = "451 4.7.1 try again later"
    assert sender.send(ME) == []
    assert len(smtp.arrived) == 1


def test_a_run_whose_path_is_not_text_has_its_mail(sender, smtp, config, tmp_path):
    config(f'[notify]\nsmtp = "{smtp.place}"\n')
    path = tmp_path / os.fsdecode(b"r\xff")
    sender.run.path.rename(path)
    assert Sender(RunDir(path)).send(ME) == []
    assert "Status: burstlens status r" in smtp.arrived[0][2].get_content()


def test_a_server_that_is_busy_is_asked_again_with_the_same_mark(sender, web):
    assert sender.send(Way("webhook", (f"{web.url}/busy",))) == []
    marks = [headers["Idempotency-Key"] for _, headers, _ in web.posted]
    assert len(marks) == 2
    assert len(set(marks)) == 1


def test_a_webhook_that_hangs_or_is_absent_is_reported(sender, web, monkeypatch):
    monkeypatch.setattr(delivery, "WEBHOOK_S", 0.5)
    (slow,) = sender.send(Way("webhook", (f"{web.url}/slow",)))
    assert "timed out" in slow
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    sender.run.journal.unlink()
    (absent,) = sender.send(Way("webhook", (f"http://127.0.0.1:{port}/",)))
    assert "refused" in absent


@pytest.mark.parametrize(
    "address", ["{}/no?key=hook-Key-1", "{}/hook-Key-1 cd", "{}/hook-Key-1\u00e9", "{}x/hook-Key-1"]
)
def test_the_key_in_a_webhooks_address_appears_in_no_record(sender, web, run_dir, address):
    (alarm,) = sender.send(Way("webhook", (address.format(web.url),)))
    assert "hook-Key" not in alarm + run_dir.journal.read_text()
    assert alarm.startswith("webhook ")


def test_the_desktop_shows_text_and_picture_and_takes_neither_for_an_option(
    sender, program, tmp_path, publish
):
    picture = publish("20151101T120000", png())
    said = tmp_path / "said"
    program(f'for word; do echo "[$word]"; done > {said}', "notify-send")
    word = Word("end 1", ("done",), "--help <b>storm</b>", "done")
    assert sender.send(Way("desktop"), word=word) == []
    words = said.read_text()
    assert f"[--icon={picture}]\n[--]\n[Burstlens: storm-1]\n" in words
    assert "[--help &lt;b&gt;storm&lt;/b&gt;" in words


def test_why_notify_send_or_sendmail_fails_is_reported_with_its_last_line(sender, program):
    program("echo 1; echo 'Cannot autolaunch D-Bus' >&2; exit 1", "notify-send")
    program("echo queue is full; exit 75", "sendmail")
    first, second = sorted(sender.send(Way("desktop"), ME))
    assert first.endswith("notify-send ended with exit code 1: Cannot autolaunch D-Bus")
    assert second.endswith("sendmail ended with exit code 75: queue is full")


def test_a_machine_without_a_desktop_is_reported(sender, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    (alarm,) = sender.send(Way("desktop"))
    assert alarm == "desktop failed: there is no notify-send on this machine"


def test_nothing_of_a_recipe_is_run_or_contacted_unless_the_user_allows_it(
    sender, config, program, web, run_dir
):
    config("")
    ways = [
        Way("run", (program("touch ran"),), "recipe"),
        Way("webhook", (web.url,), "W", guard=True),
    ]
    first, second = sender.send(*ways)
    assert first.startswith("the recipe may not run")
    assert second.startswith('guard "W" may not post to')
    assert all("allow" in alarm and "config.toml" in alarm for alarm in (first, second))
    assert not (run_dir.path / "ran").exists()
    config('[guards]\nallow = ["webhook"]\n')
    assert len(sender.send(*ways)) == 1
    assert len(web.posted) == 1


def test_what_the_user_asks_for_needs_no_permission(sender, config, web):
    config(f'[notify]\nwebhook = "{web.url}"\n')
    assert sender.send() == []
    assert len(web.posted) == 1


def test_a_faulty_configuration_is_reported_and_nothing_of_a_recipe_is_done(
    sender, config, program, run_dir
):
    config("[guards]\nallow = true\n")
    (alarm,) = sender.send(Way("run", (program("touch ran"),), "recipe"))[:1]
    assert "guards.allow is a list" in alarm
    assert not (run_dir.path / "ran").exists()


def test_a_password_that_others_may_read_is_reported(sender, config):
    path = config('[notify]\nsmtp = "a.b:25"\nsmtp_user = "u"\nsmtp_password = "s3cret-Pa55"\n')
    sender.driver().begin()
    assert sender.alarms == []
    path.chmod(0o644)
    sender.driver().begin()
    assert sender.alarms == [f"others may read the password in {path}: chmod 600 {path}"]


def test_a_wrong_key_of_the_configuration_is_reported_before_the_end(sender, config):
    config(ALLOW + 'mial = "me@example.org"\n')
    sender.driver().begin()
    (alarm,) = sender.alarms
    assert "mial" in alarm
    assert "mail" in alarm


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_the_environment_of_a_program_is_the_drivers(sender, program, run_dir, monkeypatch):
    monkeypatch.setenv("MINE", "kept")
    assert sender.send(Way("run", (program('echo "$MINE" > said'),))) == []
    assert (run_dir.path / "said").read_text() == "kept\n"
    assert "BURSTLENS_TEXT" not in os.environ
