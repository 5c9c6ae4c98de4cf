"""Folders are read in a child process, whose results and errors are those of the work itself."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from attach_case import NAMELIST

from burstlens.core.errors import AttachError, RunError, SeveralRunsError
from burstlens.workflows.look.folder_reader import FolderReader
from burstlens.workflows.look.preparation import AwayError, LookRequest, see_folder

pytestmark = pytest.mark.integration


@pytest.fixture
def reader() -> Iterator[FolderReader]:
    with FolderReader() as made:
        yield made


def test_a_folder_is_seen_as_this_process_would_see_it(
    reader: FolderReader, tmp_path: Path
) -> None:
    assert reader.is_empty(tmp_path)
    assert reader.see(tmp_path, LookRequest()) is None
    (tmp_path / "namelist.input").write_text(NAMELIST)
    assert not reader.is_empty(tmp_path)
    seen = reader.see(tmp_path, LookRequest())
    assert seen is not None
    assert seen.found.model == "wrf"
    assert seen == see_folder(tmp_path, LookRequest())


def test_an_error_comes_as_it_was_raised_and_the_next_question_is_answered(
    reader: FolderReader, tmp_path: Path
) -> None:
    with pytest.raises(AwayError, match="No such file"):
        reader.real_path(tmp_path / "none")
    with pytest.raises(AttachError, match="--model"):
        reader.see(tmp_path, LookRequest(model="none"))
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "namelist.input").write_text(NAMELIST)
    with pytest.raises(SeveralRunsError, match="holds 2 runs") as raised:
        reader.see(tmp_path, LookRequest())
    assert raised.value.folders == (str(tmp_path / "a"), str(tmp_path / "b"))
    assert reader.real_path(tmp_path / "a" / "..") == tmp_path


def test_a_child_that_was_killed_is_one_message(reader: FolderReader, tmp_path: Path) -> None:
    os.kill(reader.pid, signal.SIGKILL)
    with pytest.raises(RunError, match="the process that reads it ended"):
        reader.real_path(tmp_path)


def test_a_child_that_was_killed_while_it_answered_is_the_same_message(
    reader: FolderReader, tmp_path: Path
) -> None:
    assert reader._child.stdout is not None
    pipe = os.readlink(f"/proc/self/fd/{reader._child.stdout.fileno()}")
    os.kill(reader.pid, signal.SIGSTOP)
    own = [path for path in Path(f"/proc/{reader.pid}/fd").iterdir() if os.readlink(path) == pipe]
    own[0].write_bytes(pickle.dumps((tmp_path, None))[:-3])
    killing = threading.Timer(0.5, os.kill, (reader.pid, signal.SIGKILL))
    killing.start()
    with pytest.raises(RunError, match="the process that reads it ended"):
        reader.real_path(tmp_path)
    killing.join()
