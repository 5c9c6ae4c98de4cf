"""Text from outside on a terminal, and a terminal that takes none."""

from __future__ import annotations

import errno
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from burstlens.core.printable import printable, say


def test_what_moves_a_cursor_or_turns_the_writing_is_left_out():
    assert printable("done\x1b[2J\r\n\u202enow") == "done[2J  now"


def test_standard_output_that_cannot_be_written_is_named(monkeypatch):
    full = Path("/dev/full").open("w")  # noqa: SIM115 - closing it fails as well
    monkeypatch.setattr(sys, "stdout", full)
    with pytest.raises(OSError, match="standard output") as caught:
        say("a result")
    monkeypatch.undo()
    with suppress(OSError):
        full.close()
    assert caught.value.errno == errno.ENOSPC
