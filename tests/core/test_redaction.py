"""Secrets masked in text: what is masked, what is left as it is."""

from __future__ import annotations

import json
import time
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burstlens.core.redaction import (
    MASK,
    is_random,
    named_secrets,
    redacted,
    secrets_in,
    variables_in,
)

HIDDEN = "s3cr3t-Value-0123456789"
NAMES = ("password", "DB_PASSWD", "userpwd", "MY_SECRET_VALUE", "api-key", "apiKey", "API_TOKEN",
         "private_key", "aws_secret_access_key", "credentials")  # fmt: skip
HEADERS = ("Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key",
           "X-Auth-Token")  # fmt: skip
WORDS = "correct horse; battery, (staple) [paper] {clip} end-9"
"""A secret with blanks and everything else at which a value could seem to end."""


def spellings(name, secret):
    """The secret as the value of that name, as languages, shells and formats write it."""
    quoted, single, xml = json.dumps(secret), repr(secret), escape(secret)
    both = json.dumps({name: secret})
    yield from (f"{name}{sign}{quoted}" for sign in ("=", " = ", ": ", " := ", " => ", " -> "))
    yield from (f"INFO it has {name}{sign}{secret}\nnext" for sign in (
        " = ", ": ", ":", " := ", " => ", " -> ", "\t", "\t=\t", " : "
    ))  # fmt: skip
    yield from (
        both, json.dumps(both), json.dumps({"a": json.dumps({"b": both})}),
        json.dumps({name: {"a": secret, "b": [secret]}, "c": 1}), json.dumps({name: [secret]}),
        json.dumps({name: secret}, indent=2), json.dumps({"text": f"it was {name}: {secret}"}),
        json.dumps({"name": name, "value": secret}), json.dumps(["x", f"--{name}", secret, "f"]),
        json.dumps(["x", f"--{name}={quoted}", "f"]), repr(["x", f"--{name}", secret]),
        f"{{'{name}': {single}, 'user': 'me'}}", f"os.environ[{name!r}] = {single}",
        f"Settings({name}={single}, nodes=4)", f"{name}: str = {single}",
        f"{name} = SecretStr({single})", f"setenv({json.dumps(name)}, {quoted})",
        f"{name} = [\n  {quoted},\n  {quoted},\n]\n", f"{name}: [{quoted}, {quoted}]",
        f'{name} = """\n{secret}\n{secret}"""', f"{name} = {{ default = {quoted}, help = 'x' }}",
        f"{name} = '''\n{secret}\n'''", f"{name} = '{secret.replace(chr(39), chr(39) * 2)}'",
        f"{name}: |\n  {secret}\n  {secret}\nnext: 1", f"{name}: >-\n    {secret}\n",
        f"{name}:\n  - {secret}\n  - {secret}\nnext: 1", f"{name}: x\n  {secret}\nnext: 1",
        f"- name: {name}\n  value: {secret}\n", f"setenv {name} {secret}", f"set {name} = {secret}",
        f"export {name}={quoted}", f"./run --{name} {quoted} file", f"./run --{name}={quoted} f",
        f"${{{name}:-{secret}}}", f"<{name}>{xml}</{name}>",
        f"<{name}><![CDATA[{secret}]]></{name}>",
        f"<ns:{name} a='b'>\n{xml}\n</ns:{name}>", f'<entry key="{name}">{xml}</entry>',
        f'<p name="{name}" value={quoteattr(secret)}/>', f"<x {name}={quoteattr(secret)}>",
    )  # fmt: skip


def words(name, secret):
    """The same where the secret is one word."""
    yield from (
        f"export {name}={secret}", f"{name}={secret} ./run", f"./run --{name} {secret} file",
        f"./run --{name}={secret} file", f"GET /x?{name}={secret}&b=2", f"{name}   {secret}\n",
        f"machine host login me password {secret}\n", f"#define {name} {secret}",
        f"machine host\n login me\n password {secret}\n",
    )  # fmt: skip


def headers(name, secret):
    """The secret in a header of HTTP, in whatever scheme, as programs and logs write it."""
    yield from (
        f"{name}: {secret}", f"> {name}: Token {secret}\r\n> Accept: */*",
        f"{name}: a={secret}; b={secret}; Path=/", f"{name}: Digest user=me,\n   answer={secret}",
        f"curl -H '{name}: Token {secret}' http://x", json.dumps({name: f"Token {secret}"}),
        json.dumps(["curl", "-H", f"{name}: Token {secret}", "x"]), repr({name: f"Any {secret}"}),
    )  # fmt: skip


def left_of(secret, text):
    """What is left of the secret in the masked text: runs of four characters."""
    clean, around = redacted(text), text.replace(secret, "").replace(escape(secret), "")
    runs = {secret[n : n + 4] for n in range(len(secret) - 3)}
    return sorted(run for run in runs if run.strip() and run in clean and run not in around)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_a_value_is_left_however_it_is_written(name):
    for secret in (HIDDEN, WORDS):
        for text in spellings(name, secret):
            assert not left_of(secret, text), (text, redacted(text))
    for text in words(name, HIDDEN):
        assert not left_of(HIDDEN, text), (text, redacted(text))


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_is_masked_to_its_end_whatever_its_scheme(name):
    for secret in (HIDDEN, WORDS):
        for text in headers(name, secret):
            assert not left_of(secret, text), (text, redacted(text))


@settings(max_examples=40, derandomize=True, deadline=None)
@given(
    st.sampled_from(NAMES),
    st.sampled_from(HEADERS),
    st.text("aZ09-_.;,()[]{}+/=!#%*:@ \\", min_size=8, max_size=24).map(lambda it: f"x{it}9"),
)
def test_nothing_of_any_secret_is_left(name, header, secret):
    for text in (*spellings(name, secret), *headers(header, secret)):
        assert not left_of(secret, text), (text, redacted(text))
        assert redacted(redacted(text)) == redacted(text)


@pytest.mark.parametrize("text", [
    f"postgres://me:{HIDDEN}@host/db", f"postgres://me:12/{HIDDEN}@host", f"me:{HIDDEN}@host",
    f"s3://KEY:{HIDDEN}/{HIDDEN}@bucket", f"curl -u me:{HIDDEN} x", f"sshpass -p {HIDDEN} ssh x",
    f"sshpass -p{HIDDEN} ssh x", f"docker login -u me -p {HIDDEN} host", f"mysql -u me -p{HIDDEN}",
    f'["curl", "--user", "me:{HIDDEN}"]', f"GET /x?sig={HIDDEN}&a=1", f"GET /x?a=1&key={HIDDEN}",
    f"smbclient -U me%{HIDDEN}", f"ldapsearch -x -w {HIDDEN}", f"the token is {HIDDEN}, refused",
    f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n{HIDDEN}\n-----END PGP PRIVATE KEY BLOCK-----",
    f"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{HIDDEN}\n---- END SSH2 PRIVATE KEY ----",
    f"{'Ab9/' * 16}\n{HIDDEN.replace('-', '')}\n-----END RSA PRIVATE KEY-----",
    f"Private-Lines: 2\n{HIDDEN}\n{HIDDEN}\nPrivate-MAC: {HIDDEN}", f"db.password.value = {HIDDEN}",
    f'{{"auths": {{"x": {{"auth": "{HIDDEN}"}}}}}}', f"password = abc\\\n{HIDDEN}",
    f'password = "abc" \\\n  "{HIDDEN}"', f"password = $(cat <<E\n{HIDDEN}\nE\n)",
    f"user=me pass={HIDDEN}", f"credentials = [=}}}}{HIDDEN}",
    f"&lt;password&gt;{HIDDEN}&lt;/password&gt;",
])  # fmt: skip
def test_further_places_of_a_secret_are_masked(text):
    clean = redacted(text)
    assert HIDDEN not in clean
    assert HIDDEN.replace("-", "") not in clean
    assert MASK in clean


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
        "key frames: 12, keys: 12",
        "unexpected token at line 4",
        "n_tokens = 123456789, tokens: 4096",
        "token 3 of 12",
        "pass: 3",
        "pass 2 of 3, first pass: 12 iterations",
        "lowpass = 0.5, bypass: true",
        "PWD=/home/me/x",
        "AuthType=auth/munge",
        "basic parameterisation of clouds",
        "cookie cutter",
        "password required",
        "Password:",
        '{"token": null, "x": 1}',
        '{"tokens": [1, 2, 3], "y": "z"}',
        '{"text": "Password: "}',
        "burstlens serve --token-file /home/me/t --port 4711",
        "docker run -u 1000:1000 x",
        "10:02:33.1234@node",
        "global-mean-surface-temperature",
        "file:///lustre/x/y.nc",
        "mailto:someone@example.org",
        "git@github.com:org/repo.git",
        "my_secret.nc: is whole",
        "tokenizer: bpe",
        "TOKEN_COUNT=12",
        "webhook hooks.example.org failed: timed out",
        "Timing for main: time 2001-10-24_00:00:30 on domain   1:    0.51234 elapsed seconds",
    ],
)
def test_other_text_is_left_as_it_is(text):
    assert redacted(text) == text


@pytest.mark.parametrize("piece", [
    "Timing for main: 0.5\n", "password = abc def\n", '"token": "abc", ', "password=[ ", "token",
    'password="a\n', 'password=\\"', ":abcdefg@", "<password>", '"token", ', "token ", "user:pass@",
    "password: |\n  x\n", 'token="a" ', "-----END RSA PRIVATE KEY-----", "http://a ",
    "eyJaaaaaaaa.",
])  # fmt: skip
def test_the_time_grows_with_the_text_and_no_faster(piece):
    def seconds(size):
        text = piece * (size // len(piece))
        begin = time.process_time()
        redacted(text)
        return time.process_time() - begin

    short = min(seconds(5_000) for _ in range(3))
    assert seconds(80_000) < 100 * short + 0.2  # 16 times the text; 256 times were it quadratic


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


def test_the_working_directories_of_a_shell_are_no_secrets():
    variables = {"PWD": "/home/me", "OLDPWD": "/scratch/me/runs", "DB_PWD": "/not-a-path7"}
    assert list(named_secrets(variables)) == ["/not-a-path7"]
