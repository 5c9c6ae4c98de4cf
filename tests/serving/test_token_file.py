"""The token file: made once, kept, and refused when others may use it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from burstlens.clients.serving.access import TOKEN, kept_token
from burstlens.core.errors import RunError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "token"


def test_the_first_start_makes_it_for_its_owner_alone_and_later_ones_keep_it(path):
    before = os.umask(0o000)
    try:
        token = kept_token(path)
    finally:
        os.umask(before)
    assert TOKEN.fullmatch(token)
    assert path.stat().st_mode & 0o777 == 0o600
    assert kept_token(path) == token


def test_two_starts_of_a_server_print_one_link(serve, shelf, path):
    first = serve(shelf, "--token-file", path)
    (opened, port) = (first.url, first.port)
    first.end()
    assert serve(shelf, "--token-file", path, "--port", port).url == opened


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_one_that_others_may_use_is_refused_with_the_remedy(path, mode):
    kept_token(path)
    path.chmod(mode)
    with pytest.raises(RunError, match=f"chmod 600 {path}"):
        kept_token(path)


@pytest.mark.parametrize("text", ["", "short", "x" * 300, "a token with spaces in it, long enough"])
def test_one_without_a_token_is_refused_and_left(path, text):
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(RunError, match="holds no token"):
        kept_token(path)
    assert path.read_text() == text


def test_a_folder_a_fifo_and_a_place_that_is_not_there_are_refused(tmp_path, path):
    os.mkfifo(path, 0o600)
    for wrong in (path, tmp_path, tmp_path / "no" / "token"):
        with pytest.raises(RunError, match="the token file"):
            kept_token(wrong)


def test_the_command_refuses_it_in_one_line(shelf, path):
    path.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "burstlens", "serve", str(shelf), "--token-file", str(path)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("burstlens: the token file")
    assert len(done.stderr.splitlines()) == 1
