"""A file that one process alone can make, whatever its file server reports."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from burstlens.core.durable import make_exclusive


@pytest.fixture
def claim(tmp_path: Path) -> Path:
    return tmp_path / "claim"


def test_it_is_made_once_and_whole(claim: Path):
    make_exclusive(claim, "one")
    with pytest.raises(FileExistsError):
        make_exclusive(claim, "two")
    assert claim.read_text() == "one"
    assert os.listdir(claim.parent) == ["claim"]


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.EEXIST])
def test_one_that_was_made_and_reported_as_failed_is_made(
    number: int, claim: Path, monkeypatch: pytest.MonkeyPatch
):
    real = os.link

    def late(one, other):
        real(one, other)
        raise OSError(number, os.strerror(number), other)

    monkeypatch.setattr(os, "link", late)
    make_exclusive(claim, "mine")
    assert claim.read_text() == "mine"
    assert os.listdir(claim.parent) == ["claim"]


def test_one_that_failed_is_an_error_and_leaves_nothing(
    claim: Path, monkeypatch: pytest.MonkeyPatch
):
    def failing(one, other):
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), other)

    with monkeypatch.context() as patch:
        patch.setattr(os, "link", failing)
        with pytest.raises(OSError, match="Stale"):
            make_exclusive(claim, "mine")
    assert os.listdir(claim.parent) == []
    make_exclusive(claim, "mine")


def test_a_retry_recognises_what_its_first_try_made(claim: Path, monkeypatch: pytest.MonkeyPatch):
    real = os.link

    def late(one, other):
        real(one, other)
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), other)

    def unread(path):
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), str(path))

    with monkeypatch.context() as patch:
        patch.setattr(os, "link", late)
        patch.setattr(Path, "read_bytes", unread)
        with pytest.raises(OSError, match="Stale"):  # whose it is is not known now
            make_exclusive(claim, "mine")
    make_exclusive(claim, "mine")
    with pytest.raises(FileExistsError):
        make_exclusive(claim, "another's")


def test_where_there_are_no_hard_links_the_first_one_wins_too(
    claim: Path, monkeypatch: pytest.MonkeyPatch
):
    def none(one, other):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM), other)

    monkeypatch.setattr(os, "link", none)
    make_exclusive(claim, "one")
    with pytest.raises(FileExistsError):
        make_exclusive(claim, "two")
    assert claim.read_text() == "one"
    assert os.listdir(claim.parent) == ["claim"]
