"""Secrets masked in text: what is masked, what is left as it is."""

from __future__ import annotations

import pytest

from burstlens.core.redaction import (
    MASK,
    is_random,
    named_secrets,
    redacted,
    secrets_in,
    variables_in,
)

HIDDEN = "s3cr3t-Value-0123456789"


@pytest.mark.parametrize(
    "text",
    [
        f"https://hooks.example.org/services/{HIDDEN}",
        f"see http://127.0.0.1:8080/abc/?token={HIDDEN} now",
        f"ftp://user:{HIDDEN}@host",
        f"ssh://{HIDDEN}@host:22/path",
        f"export API_TOKEN={HIDDEN}",
        f"password: {HIDDEN}",
        f'"db_password": "{HIDDEN}"',
        f'{{\\"api_key\\": \\"{HIDDEN}\\"}}',
        f"secret-key = '{HIDDEN}'",
        f"Authorization: Bearer {HIDDEN}",
        f'["curl", "-H", "Authorization: Basic {HIDDEN}"]',
        f"./post --token {HIDDEN} file",
        f'["./post", "--access-token", "{HIDDEN}"]',
        f"./post --password={HIDDEN}",
        f"-----BEGIN OPENSSH PRIVATE KEY-----\n{HIDDEN}\n-----END OPENSSH PRIVATE KEY-----",
        f"-----BEGIN PRIVATE KEY-----\n{HIDDEN}\n",
    ],
)
def test_a_secret_is_masked(text):
    assert HIDDEN not in redacted(text)
    assert MASK in redacted(text)


@pytest.mark.parametrize(
    "token", ["ghp_" + "a1" * 18, "glpat-" + "x" * 20, "xoxb-1234567890-abc", "AKIA" + "Z9" * 8,
              "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.c2lnbmF0dXJl"],
)  # fmt: skip
def test_a_token_of_a_known_form_is_masked_wherever_it_stands(token):
    assert redacted(f"the header was {token}, refused") == f"the header was {MASK}, refused"


@pytest.mark.parametrize(
    "text",
    [
        "wrfout_d01_0001-01-01_00:01:00 record 0 (00010101T000100) is whole: log",
        "tcp://10.0.0.1:54321",
        "the token file is missing",
        "export OMP_NUM_THREADS=4",
        "author = me",
        "a basic sanity check",
        "/lustre/project/tokens/run.nc",
    ],
)
def test_other_text_is_left_as_it_is(text):
    assert redacted(text) == text


def test_known_secrets_are_masked_wherever_they_stand():
    assert redacted("it said: hunter2!", ["hunter2"]) == f"it said: {MASK}!"


def test_secrets_of_a_parsed_file_are_found_by_their_keys():
    table = {
        "simulation": {"environment": {"OMP_NUM_THREADS": "4", "MY_PAT": "abcd-1", "FAST": "yes"}},
        "guard": [{"webhook": "https://hooks.example.org/x", "run": ["post", "--token", "tk-99"]}],
        "parameters": {"password": {"default": "hunter2", "type": "path", "help": "yours"}},
        "title": "Storm",
    }
    assert set(secrets_in(table)) == {"https://hooks.example.org/x", "tk-99", "hunter2"}
    assert set(variables_in(table)) == {"abcd-1"}


@pytest.mark.parametrize(
    ("value", "random"), [("hunter2", True), ("a1b2c3", True), ("close", False), ("1234567", False),
                          ("/lustre/p1/run", False), ("v1 of the run", False)]
)  # fmt: skip
def test_a_variable_like_a_password_is_known_as_one(value, random):
    assert is_random(value) is random


def test_secrets_of_an_environment_are_found_by_their_names():
    environment = {"GITLAB_TOKEN": "abcdef", "HOME": "/home/me", "TOKEN_COUNT": "12"}
    assert list(named_secrets(environment)) == ["abcdef"]
