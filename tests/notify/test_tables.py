"""``[notify]`` in recipes and in the configuration, and the ways of ``--notify``."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

import burstlens
from burstlens.clients.cli import app
from burstlens.clients.cli.arguments import complete_way
from burstlens.core.errors import RecipeError, RunError
from burstlens.workflows.notify.options import Notify, settings
from burstlens.workflows.notify.way import parse_way, require_here
from burstlens.workflows.recipe.preflight import preflight

RECIPE = """
title = "Any program"
[simulation]
model = "command"
command = ["./model.sh"]
frames = "out_*.nc"
inputs = "inputs"
[notify]
mail = "me@example.org"
webhook = ["https://example.org/a", "https://example.org/b"]
run = ["./tell", "now"]
on = ["failed"]
at = ["2015-11-01T12:00", 90]
every = "6h"
"""


def test_a_recipe_says_who_gets_word_and_when(recipe):
    found = recipe(text=RECIPE).notify
    assert [way.label.partition(" #")[0] for way in found.ways("recipe")] == [
        "mail me@example.org", "webhook example.org", "webhook example.org", "run ./tell",
    ]  # fmt: skip
    assert len({way.label for way in found.ways()}) == 4
    assert (found.at, found.every) == (("20151101T120000", "t00000090.000"), 6 * 3600.0)
    times = "at 2015-11-01 12:00:00 UTC, at t = 90 s, every 6 h 00 min of model time"
    assert found.when == f"failed, {times}"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('mail = "nobody"', "'nobody' is not an address"),
        ('mail = "-oQ/tmp@example.org"', "is not an address"),
        ('webhook = "ftp://example.org"', "is not an https:// or http:// address"),
        ('at = ["noon"]', "expected a time"),
        ('every = "-1 h"', "every"),
        ('on = ["ended"]', "'done', 'failed', 'stopped', 'trip' or 'needs-you'"),
        ('smtp_password = "s3cret"', "unknown key"),
    ],
)
def test_a_fault_of_the_table_is_reported_at_its_key(recipe, line, said):
    with pytest.raises(RecipeError) as caught:
        recipe(text=f"{RECIPE.partition('[notify]')[0]}[notify]\n{line}\n")
    assert said in str(caught.value)
    assert f"notify.{line.partition(' ')[0]}" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('smtp = "mail.example.org"', "expected host:port"),
        ('smtp_ca = "ca.pem"', "smtp_ca  expected a path from / or ~, got 'ca.pem'"),
        ('smtp = "a:25"\nsmtp_user = "u"', "smtp_user and smtp_password go together"),
        ('sender = "me"', "notify.sender  'me' is not an address"),
        ('allow = ["fax"]', "allow"),
    ],
)
def test_a_fault_of_the_configuration_names_its_file(config, text, said):
    path = config(f"[notify]\n{text}\n")
    with pytest.raises(RecipeError) as caught:
        settings()
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_mail_server_with_an_ipv6_address_is_understood(config):
    config('[notify]\nsmtp = "[::1]:2525"\n')
    assert settings().server == ("::1", 2525)


def test_a_password_of_digits_is_taken_and_never_shown(config):
    config('[notify]\nsmtp = "a:25"\nsmtp_user = "u"\nsmtp_password = 12345678\n')
    assert settings().smtp_password == "12345678"


def test_check_shows_what_a_recipe_would_contact_and_how_to_allow_it(recipe, config):
    config('[notify]\nallow = ["mail"]\n')
    found = {
        one.path: one.text
        for one in preflight(recipe(text=RECIPE), look=lambda *_: [])
        if one.level == "warning"
    }
    assert found["notify.mail"] == "notify: the run will write to me@example.org"
    assert found["notify.run"].startswith("notify: the run would run ./tell now; allow that in ")
    assert found["notify.run"].endswith('[notify] allow = ["run"]')


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("mail:me@example.org", "mail me@example.org"),
        ("desktop", "desktop"),
        ("https://example.org/key", "webhook example.org #d8a61d8f"),
        ("run:./tell --now", "run ./tell #9d6a4c88"),
    ],
)
def test_ways_of_the_command_line_have_labels_without_keys(text, label):
    assert parse_way(text).label.partition("#")[0] == label.partition("#")[0]
    assert "key" not in parse_way(text).label


@pytest.mark.parametrize(
    "text", ["", "me@example.org", "mail:", "mail:-x@a.b", "run:", "run:'", "x:y",
             "https://me:secret@example.org/hook", "https://example.org/a b",
             "https://example.org/\u00e9"]
)  # fmt: skip
def test_other_words_are_refused(text):
    with pytest.raises(ValueError, match=r"expected mail:ADDRESS|No closing quotation"):
        parse_way(text)


@pytest.mark.parametrize("start", [burstlens.launch, burstlens.look, burstlens.new_run])
def test_python_refuses_a_wrong_way_before_a_run_exists(start, tmp_path, monkeypatch):
    monkeypatch.setenv("BURSTLENS_RUNS", str(tmp_path / "runs"))
    with pytest.raises(RunError, match=r"notify: expected mail:ADDRESS, .*, got 'pigeon'"):
        start(tmp_path, notify=["desktop", "pigeon"])
    assert not (tmp_path / "runs").exists()


def test_a_machine_without_a_desktop_is_named_before_a_run_exists(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match=r"no notify-send .*; there are mail:ADDRESS, an https://"):
        require_here(parse_way("desktop"))
    (tmp_path / "notify-send").touch(0o755)
    require_here(parse_way("desktop"))


def test_completion_offers_the_users_own_addresses_first(config):
    config('[notify]\nmail = "me@example.org"\n')
    assert complete_way("mail:") == ["mail:me@example.org", "mail:"]
    assert complete_way("") == ["mail:me@example.org", "desktop", "mail:", "https://", "run:"]
    config("[notify\n")
    assert complete_way("d") == ["desktop"]


@pytest.mark.parametrize("command", ["run", "look", "resume"])
def test_commands_that_start_a_driver_take_the_option(command):
    said = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).output
    assert "--notify" in said


@pytest.mark.parametrize(
    ("since", "now", "holds"),
    [
        (None, "20151101T060000", True),
        (None, "20151101T050000", False),
        ("20151101T060000", "20151101T113000", False),
        ("20151101T060000", "20151101T180000", True),
        (None, "t00021600.000", False),
        (None, "n0000000012", False),
    ],
)
def test_multiples_count_from_midnight_and_not_with_the_first_frame(since, now, holds):
    first = now if now[0] in "tn" else "20151101T030000"
    assert Notify(every=6 * 3600.0).reaches(first, since, now) == holds


def test_a_time_of_another_calendar_is_never_reached():
    noon = Notify(at=("20151101T120000",))
    assert not noon.reaches("t00000001.000", None, "t00000900.000")
