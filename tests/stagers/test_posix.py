from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from burstlens.core.errors import StagingError
from burstlens.stagers.base import bring, checksum
from burstlens.stagers.contract import StagerContract
from burstlens.stagers.posix import PosixStager

pytestmark = pytest.mark.integration


class TestPosix(StagerContract):
    @pytest.fixture
    def stager(self):
        return PosixStager

    @pytest.fixture
    def buffer(self, tmp_path_factory):
        return tmp_path_factory.mktemp("buffer")

    def test_a_target_has_the_mode_that_the_umask_gives(self, stager, source, tmp_path):
        source.chmod(0o700)
        before = os.umask(0o027)
        try:
            bring(stager(), source, tmp_path / "out")
        finally:
            os.umask(before)
        assert (tmp_path / "out").stat().st_mode & 0o777 == 0o640

    def test_a_folder_without_permission_is_reported(self, source, tmp_path, ordinary):
        closed = tmp_path / "closed"
        closed.mkdir(mode=0o555)
        code = f"""
import sys
from pathlib import Path
from burstlens.core.errors import StagingError
from burstlens.stagers.base import bring
from burstlens.stagers.posix import PosixStager
try:
    bring(PosixStager(), Path({str(source)!r}), Path({str(closed / "out")!r}))
except StagingError as error:
    sys.exit(error.errno)
"""
        done = subprocess.run([*ordinary, sys.executable, "-c", code])
        assert done.returncode == errno.EACCES


class Flipping(PosixStager):
    """Damages one byte of what it stages: as a bad file server would, which reads nothing back."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times
        self.starts = 0

    def arrived(self, path: Path) -> None:
        return None

    def start_out(self, source: Path, target: Path) -> None:
        super().start_out(source, target)
        self.starts += 1
        if self.starts <= self.times:
            with target.open("r+b") as stream:
                stream.seek(source.stat().st_size // 2)
                byte = stream.read(1)[0]
                stream.seek(-1, os.SEEK_CUR)
                stream.write(bytes([byte ^ 1]))


class Busy(PosixStager):
    """Says EBUSY a number of times, after it has left half a file."""

    def __init__(self, times: int, number: int = errno.EBUSY) -> None:
        super().__init__()
        self.times, self.number, self.starts = times, number, 0

    def start_out(self, source: Path, target: Path) -> None:
        self.starts += 1
        if self.starts <= self.times:
            target.write_bytes(source.read_bytes()[: source.stat().st_size // 2])
            raise StagingError("cannot stage", path=str(source), number=self.number)
        super().start_out(source, target)


@pytest.fixture
def source(tmp_path):
    (tmp_path / "frame.nc").write_bytes(bytes(range(256)) * 64)
    return tmp_path / "frame.nc"


@pytest.fixture
def target(tmp_path):
    (tmp_path / "target").mkdir()
    return tmp_path / "target" / "out"


def test_one_changed_byte_is_noticed_and_the_file_brought_again(source, target):
    stager = Flipping(times=1)
    assert bring(stager, source, target) == checksum(source)
    assert stager.starts == 2


def test_a_byte_that_always_changes_is_reported_and_leaves_nothing(source, target):
    with pytest.raises(StagingError, match="differs from what was sent"):
        bring(Flipping(times=9), source, target, tries=2)
    assert not target.exists()


def test_a_byte_that_changes_while_it_is_copied_is_noticed_and_the_file_brought_again(
    source, target, monkeypatch
):
    real, calls = os.write, []

    def flipping(file, block):
        calls.append(file)
        content = bytearray(block)
        content[0] ^= len(calls) == 1
        return real(file, content)

    monkeypatch.setattr(os, "write", flipping)
    assert bring(PosixStager(), source, target) == checksum(source) == checksum(target)
    assert len(calls) == 2


@pytest.mark.parametrize("inward", [False, True])
def test_a_file_that_is_shortened_after_its_copy_is_noticed(inward, source, target):
    class Shortening(PosixStager):
        def wait(self, path: Path) -> None:
            os.truncate(target, 7)

    with pytest.raises(StagingError, match="differs from what was sent"):
        bring(Shortening(), source, target, inward=inward, tries=1)
    assert not target.exists()


def test_a_busy_buffer_is_asked_again(source, target):
    stager = Busy(times=2)
    assert bring(stager, source, target) == checksum(source)
    assert stager.starts == 3


def test_patience_ends_with_the_error_and_without_a_partial_file(source, target):
    stager = Busy(times=9)
    with pytest.raises(StagingError) as raised:
        bring(stager, source, target, tries=2)
    assert (raised.value.errno, stager.starts) == (errno.EBUSY, 2)
    assert not target.exists()


def test_an_error_that_stays_is_not_tried_again(source, target):
    stager = Busy(times=9, number=errno.ENOSPC)
    with pytest.raises(StagingError):
        bring(stager, source, target)
    assert stager.starts == 1
    assert not target.exists()


def test_an_error_names_the_side_that_it_is_about(tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    with pytest.raises(StagingError) as missing:
        PosixStager().start_out(source, target)
    assert missing.value.path == str(source)
    source.write_bytes(bytes(1 << 16))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(StagingError) as full:
            PosixStager().start_out(source, target)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert full.value.path == str(target)
    assert str(full.value).startswith(f"cannot stage {source} to: {target} (")
