"""Whether a name is there: yes, no, or unknown."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from burstlens.core.existence import (
    Existence,
    check_existence,
    existence,
    surely_exists,
    surely_missing,
)
from burstlens.workflows.placement.job_folder import has_ended


def test_what_is_there_is_present_also_through_a_link(tmp_path: Path):
    (tmp_path / "link").symlink_to(tmp_path)
    for path in (tmp_path, tmp_path / "link", str(tmp_path)):
        assert existence(path) is Existence.PRESENT
        assert check_existence(path)
        assert surely_exists(path)
        assert not surely_missing(path)


def test_no_file_no_folder_and_a_link_to_nothing_are_absent(tmp_path: Path):
    (tmp_path / "file").touch()
    (tmp_path / "dead").symlink_to("nothing")
    (tmp_path / "loop").symlink_to("loop")
    for name in ("gone", "gone/deeper", "file/deeper", "dead", "loop", "x" * 300):
        assert existence(tmp_path / name) is Existence.ABSENT
        assert not check_existence(tmp_path / name)
        assert not surely_exists(tmp_path / name)
        assert surely_missing(tmp_path / name)


@pytest.mark.parametrize("number", [errno.ESTALE, errno.EIO, errno.ETIMEDOUT, errno.EACCES])
def test_any_other_error_makes_it_unknown(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def failing(path):
        raise OSError(number, os.strerror(number), path)

    monkeypatch.setattr(os, "stat", failing)
    assert existence(tmp_path) is Existence.UNKNOWN
    assert not surely_exists(tmp_path)
    assert not surely_missing(tmp_path)
    with pytest.raises(OSError, match=os.strerror(number)):
        check_existence(tmp_path)


def test_an_answer_of_three_values_is_no_truth():
    with pytest.raises(TypeError, match="three values"):
        bool(Existence.ABSENT)


@pytest.mark.parametrize("made", [True, False])
def test_the_end_of_a_job_is_asked_for_again_while_it_cannot_be_seen(
    made: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    if made:
        (tmp_path / "ended.json").touch()
    real, failed = os.stat, []

    def stale(path, **named):
        if str(path).endswith("ended.json") and len(failed) < 2:
            failed.append(path)
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), path)
        return real(path, **named)

    monkeypatch.setattr(os, "stat", stale)
    assert has_ended(tmp_path) is made
    assert len(failed) == 2
