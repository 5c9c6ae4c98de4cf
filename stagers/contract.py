"""What every stager must do, as tests that each stager's test class subclasses.

Also for stagers of other packages: subclass :class:`StagerContract` in a pytest module and give
it the two fixtures it names. Needs pytest; nothing else imports this module.
"""

from __future__ import annotations

import errno
import os
import resource
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from burstlens.core.errors import StagingError
from burstlens.stagers.base import Stager, State, bring, bring_all, checksum, deliver


class StagerContract:
    """The contract. A subclass provides the fixtures ``stager`` and ``buffer``.

    ``stager`` makes a new stager at each call, as another process would; ``buffer`` is an empty
    folder on the buffer, ``tmp_path`` the parallel file system.
    """

    @pytest.fixture
    def stager(self) -> Callable[[], Stager]:
        """Makes the stager under test."""
        raise NotImplementedError

    @pytest.fixture
    def buffer(self) -> Path:
        """An empty folder on the buffer."""
        raise NotImplementedError

    @pytest.fixture
    def source(self, buffer: Path) -> Path:
        """A whole file on the buffer, larger than one block of any copy loop."""
        path = buffer / "frame.nc"
        path.write_bytes(os.urandom(9 << 20))
        return path

    def test_a_file_arrives_whole(
        self, stager: Callable[[], Stager], source: Path, tmp_path: Path
    ) -> None:
        """Out, under another name, and the source stays."""
        arrival = bring(stager(), source, tmp_path / "frame.out")
        assert arrival == checksum(source) == checksum(tmp_path / "frame.out")
        assert os.listdir(tmp_path) == ["frame.out"]

    def test_an_empty_file_arrives(
        self, stager: Callable[[], Stager], buffer: Path, tmp_path: Path
    ) -> None:
        """A ready flag has no bytes."""
        (buffer / "flag").touch()
        assert bring(stager(), buffer / "flag", tmp_path / "flag").bytes == 0
        assert (tmp_path / "flag").exists()

    def test_a_file_comes_in_through_a_link_and_replaces_what_was_there(
        self, stager: Callable[[], Stager], buffer: Path, tmp_path: Path
    ) -> None:
        """Inputs are often links to a shared data set."""
        (tmp_path / "data").write_bytes(b"new")
        (tmp_path / "input").symlink_to("data")
        (buffer / "input").write_bytes(b"older and longer")
        bring(stager(), tmp_path / "input", buffer / "input", inward=True)
        assert (buffer / "input").read_bytes() == b"new"
        assert not (buffer / "input").is_symlink()

    def test_a_stage_is_complete_when_its_wait_is_over(
        self, stager: Callable[[], Stager], source: Path, tmp_path: Path
    ) -> None:
        """Start, wait, query: the calls that ``bring`` makes."""
        one = stager()
        assert one.query(source) is State.ABSENT
        one.start_out(source, tmp_path / "out")
        one.wait(source)
        assert one.query(source) is State.COMPLETE
        assert checksum(tmp_path / "out") == checksum(source)

    def test_a_missing_source_is_reported_and_leaves_no_target(
        self, stager: Callable[[], Stager], buffer: Path, tmp_path: Path
    ) -> None:
        """The frame was released, or never was."""
        with pytest.raises(StagingError) as raised:
            bring(stager(), buffer / "gone.nc", tmp_path / "out")
        assert raised.value.errno == errno.ENOENT
        assert not raised.value.transient
        assert "gone.nc" in str(raised.value)
        assert os.listdir(tmp_path) == []

    def test_a_source_that_is_a_folder_is_refused(
        self, stager: Callable[[], Stager], buffer: Path, tmp_path: Path
    ) -> None:
        """One file at a time."""
        with pytest.raises(StagingError) as raised:
            bring(stager(), buffer, tmp_path / "out")
        assert raised.value.errno == errno.EISDIR

    def test_a_missing_target_folder_is_reported_and_not_made(
        self, stager: Callable[[], Stager], source: Path, tmp_path: Path
    ) -> None:
        """It may be an unmounted file system: nothing may be made below its mount point."""
        with pytest.raises(StagingError) as raised:
            bring(stager(), source, tmp_path / "absent" / "out")
        assert raised.value.errno == errno.ENOENT
        assert not (tmp_path / "absent").exists()

    def test_a_target_that_may_not_be_written_is_reported(
        self, stager: Callable[[], Stager], source: Path, tmp_path: Path
    ) -> None:
        """A folder has the target's name: root may not write it either."""
        (tmp_path / "out").mkdir()
        with pytest.raises(StagingError) as raised:
            bring(stager(), source, tmp_path / "out")
        assert raised.value.errno in {errno.EISDIR, errno.EACCES, errno.EEXIST}
        assert not raised.value.transient
        assert str(tmp_path / "out") in str(raised.value)

    def test_a_full_target_is_reported_and_no_partial_file_stays(
        self, stager: Callable[[], Stager], source: Path, tmp_path: Path
    ) -> None:
        """The limit on a file's size stops the copy half way, as a full disk does."""
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (5 << 20, before[1]))
        try:
            with pytest.raises(StagingError) as raised:
                bring(stager(), source, tmp_path / "out")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, handler)
        assert raised.value.errno in {errno.EFBIG, errno.ENOSPC, errno.EDQUOT}
        assert os.listdir(tmp_path) == []
        assert checksum(source).bytes == 9 << 20

    def test_a_stage_that_was_never_started_cannot_be_given_up(
        self, stager: Callable[[], Stager], source: Path
    ) -> None:
        """A stage that was started can be given up."""
        with pytest.raises(StagingError) as raised:
            stager().terminate(source)
        assert raised.value.errno == errno.EINVAL

    def test_a_stage_given_up_is_not_complete(
        self, stager: Callable[[], Stager], source: Path, tmp_path: Path
    ) -> None:
        """Whatever is at the target by then."""
        one = stager()
        one.start_out(source, tmp_path / "out")
        one.terminate(source)
        assert one.query(source) is not State.COMPLETE

    def test_many_files_arrive_each_under_its_own_name(
        self, stager: Callable[[], Stager], buffer: Path, tmp_path: Path
    ) -> None:
        """More files than stages in flight, and arrivals in the order that was asked for."""
        pairs = []
        for number in range(12):
            (buffer / f"{number}").write_bytes(os.urandom(1000 + number))
            pairs.append((buffer / f"{number}", tmp_path / f"{number}.out"))
        arrivals = bring_all(stager(), pairs, in_flight=3)
        assert arrivals == [checksum(source) for source, _ in pairs]
        assert arrivals == [checksum(target) for _, target in pairs]

    def test_a_file_that_fails_among_many_is_reported_by_its_own_name(
        self, stager: Callable[[], Stager], source: Path, tmp_path: Path
    ) -> None:
        """The others that were started come to their end."""
        pairs = [(source, tmp_path / "a"), (source.with_name("gone"), tmp_path / "b")]
        with pytest.raises(StagingError) as raised:
            bring_all(stager(), pairs, in_flight=1)
        assert "gone" in str(raised.value)
        assert os.listdir(tmp_path) == ["a"]

    def test_a_file_can_be_staged_again_elsewhere_and_by_another_process(
        self, stager: Callable[[], Stager], source: Path, tmp_path: Path
    ) -> None:
        """The record of the first stage does not prevent the second."""
        one = stager()
        for name, each in (("a", one), ("b", one), ("c", stager())):
            assert bring(each, source, tmp_path / name) == checksum(tmp_path / name)

    def test_two_workers_may_stage_one_file_at_once(
        self, stager: Callable[[], Stager], source: Path, tmp_path: Path
    ) -> None:
        """The second one waits for the first, or the stager lets both run."""
        with ThreadPoolExecutor(2) as pool:
            both = [pool.submit(bring, stager(), source, tmp_path / name) for name in "ab"]
        assert {one.result() for one in both} == {checksum(source)}
        assert checksum(tmp_path / "a") == checksum(tmp_path / "b") == checksum(source)

    def test_a_name_with_blanks_and_letters_beyond_ascii_arrives(
        self, stager: Callable[[], Stager], buffer: Path, tmp_path: Path
    ) -> None:
        """Names may have spaces, signs and any script."""
        (buffer / "Grüße 1 %.png").write_bytes(b"picture")
        bring(stager(), buffer / "Grüße 1 %.png", tmp_path / "日本 2.png")
        assert (tmp_path / "日本 2.png").read_bytes() == b"picture"

    def test_a_file_delivered_replaces_the_older_one_and_leaves_nothing_beside_it(
        self, stager: Callable[[], Stager], source: Path, tmp_path: Path
    ) -> None:
        """A file that cannot be brought leaves the older one as it is."""
        (tmp_path / "out").write_bytes(b"older")
        with pytest.raises(StagingError):
            deliver(stager(), source.with_name("gone"), tmp_path / "out")
        assert (tmp_path / "out").read_bytes() == b"older"
        assert deliver(stager(), source, tmp_path / "out") == checksum(tmp_path / "out")
        assert os.listdir(tmp_path) == ["out"]
