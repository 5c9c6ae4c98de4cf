"""The stager over libdatawarp: the contract, and what goes wrong on a buffer."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import warnings
from types import SimpleNamespace
from typing import ClassVar

import pytest

from burstlens.core.allowance import time_limit
from burstlens.core.errors import FrameError, SiteError, StagingError
from burstlens.stagers.base import Stager, State, bring, bring_all, checksum
from burstlens.stagers.contract import StagerContract
from burstlens.stagers.datawarp import DataWarpStager
from burstlens.stagers.libdatawarp import Counts, File
from burstlens.stagers.posix import PosixStager
from burstlens.stagers.registry import stager

pytestmark = pytest.mark.integration

# Starts a stage, says so, and lives until it is killed: a worker in mid-stage.
WORKER = """
import sys, time
from pathlib import Path
from burstlens.stagers.datawarp import DataWarpStager
one = DataWarpStager()
getattr(one, sys.argv[1])(Path(sys.argv[2]), Path(sys.argv[3]))
print("started", flush=True)
time.sleep(600)
"""


class TestDataWarp(StagerContract):
    @pytest.fixture(autouse=True)
    def _emulated(self, emulator):
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # none of it may be a plain copy
            yield

    @pytest.fixture
    def stager(self):
        return DataWarpStager

    @pytest.fixture
    def buffer(self, buffer):
        return buffer


class TestWithoutDataWarp(StagerContract):
    """On a path that is not on a buffer, and without the library."""

    pytestmark: ClassVar = [pytest.mark.filterwarnings("ignore:.*is not on a DataWarp buffer")]

    @pytest.fixture(autouse=True)
    def _no_library(self, libdatawarp_at):
        libdatawarp_at("/nowhere/libdatawarp.so")

    @pytest.fixture
    def stager(self):
        return DataWarpStager

    @pytest.fixture
    def buffer(self, tmp_path_factory):
        return tmp_path_factory.mktemp("plain")


@pytest.fixture
def frame(buffer, emulator):
    path = buffer / "frame.nc"
    path.write_bytes(os.urandom(3 << 20))
    return path


@pytest.fixture
def pfs(tmp_path):
    (tmp_path / "pfs").mkdir()
    return tmp_path / "pfs"


def killed_worker(call, source, target):
    words = [sys.executable, "-c", WORKER, call, source, target]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout.readline() == "started\n"
        worker.kill()


class TestFailedStages:
    def test_eio_on_the_third_of_five_is_tried_again(self, frame, pfs, fault):
        fault("EIO", "2.nc", times=1)
        pairs = []
        for number in range(5):
            source = frame.with_name(f"{number}.nc")
            source.write_bytes(os.urandom(1000))
            pairs.append((source, pfs / source.name))
        arrivals = bring_all(DataWarpStager(), pairs)
        assert arrivals == [checksum(target) for _, target in pairs]

    def test_eio_that_stays_is_reported_with_the_errno_on_record(self, frame, pfs, fault):
        fault("EIO", "frame.nc")
        with pytest.raises(StagingError, match="failed") as raised:
            bring(DataWarpStager(), frame, pfs / "out", tries=2)
        assert raised.value.errno == errno.EIO
        assert str(frame) in str(raised.value)
        assert os.listdir(pfs) == []
        assert File(frame).query() == Counts(0, 0, 0, 1)  # still there for a later query

    def test_a_full_target_is_reported_at_once(self, frame, pfs, fault):
        fault("ENOSPC", "frame.nc", times=1)
        with pytest.raises(StagingError) as raised:
            bring(DataWarpStager(), frame, pfs / "out")
        assert raised.value.errno == errno.ENOSPC
        assert os.listdir(pfs) == []

    def test_half_a_file_said_to_be_complete_is_brought_again(self, frame, pfs, fault):
        fault("short", "frame.nc", times=1)
        assert bring(DataWarpStager(), frame, pfs / "out") == checksum(frame)
        assert checksum(pfs / "out") == checksum(frame)

    def test_half_a_file_time_and_again_is_reported_and_not_left(self, frame, pfs, fault):
        fault("short", "frame.nc")
        with pytest.raises(StagingError, match="differs from what was sent"):
            bring(DataWarpStager(), frame, pfs / "out", tries=2)
        assert os.listdir(pfs) == []

    def test_a_copier_that_is_killed_is_noticed_and_its_file_brought_again(self, frame, pfs, fault):
        fault("kill", "frame.nc", times=1)
        assert bring(DataWarpStager(), frame, pfs / "out") == checksum(pfs / "out")

    def test_a_busy_buffer_is_asked_again(self, frame, pfs, fault):
        fault("EBUSY", "frame.nc", times=2)
        assert bring(DataWarpStager(), frame, pfs / "out") == checksum(pfs / "out")


class TestStagesThatDoNotEnd:
    def test_one_is_given_up_terminated_and_reported(self, frame, pfs, fault):
        fault("hang", "frame.nc")
        with pytest.raises(StagingError, match=r"no progress in 0\.3 s.*terminated") as raised:
            bring(DataWarpStager(limit_s=0.3), frame, pfs / "out", tries=1)
        assert raised.value.errno == errno.ETIMEDOUT
        assert DataWarpStager().query(frame) is State.ABSENT
        assert os.listdir(pfs) == []

    def test_the_next_try_may_do_better(self, frame, pfs, fault):
        fault("hang", "frame.nc", times=1)
        assert bring(DataWarpStager(limit_s=0.3), frame, pfs / "out") == checksum(pfs / "out")

    def test_a_slow_one_that_makes_progress_is_not_given_up(self, frame, pfs, monkeypatch):
        monkeypatch.setenv("DW_EMULATOR_BANDWIDTH", "3000000")
        assert bring(DataWarpStager(limit_s=0.3), frame, pfs / "out", tries=1) == checksum(frame)

    def test_an_interrupted_wait_ends_at_once_and_leaves_no_active_stage(self, frame, pfs, fault):
        fault("hang", "frame.nc")
        with pytest.raises(FrameError, match="took longer"), time_limit(0.3):
            bring(DataWarpStager(), frame, pfs / "out")
        assert DataWarpStager().query(frame) is State.ABSENT
        assert os.listdir(pfs) == []

    def test_the_limit_is_taken_from_the_environment(self, monkeypatch):
        monkeypatch.setenv("BURSTLENS_STAGE_LIMIT_S", "7.5")
        assert DataWarpStager().limit_s == 7.5


class TestAdoption:
    def test_the_stage_of_a_killed_worker_is_over_before_the_file_is_staged_again(
        self, frame, pfs, monkeypatch
    ):
        monkeypatch.setenv("DW_EMULATOR_BANDWIDTH", "3000000")
        killed_worker("start_out", frame, pfs / "first")
        assert DataWarpStager().query(frame) is State.PENDING
        # One try: a second stage beside the first would be refused as busy.
        arrival = bring(DataWarpStager(), frame, pfs / "second", tries=1)
        assert arrival == checksum(pfs / "second") == checksum(pfs / "first")

    def test_one_that_never_ends_is_terminated_first(self, frame, pfs, fault):
        fault("hang", "frame.nc", times=1)
        killed_worker("start_out", frame, pfs / "first")
        arrival = bring(DataWarpStager(limit_s=0.3), frame, pfs / "second", tries=1)
        assert arrival == checksum(pfs / "second")

    def test_a_file_that_was_coming_in_comes_in_once_more(self, frame, pfs, monkeypatch):
        monkeypatch.setenv("DW_EMULATOR_BANDWIDTH", "3000000")
        (pfs / "input").write_bytes(os.urandom(3 << 20))
        target = frame.with_name("input")
        killed_worker("start_in", pfs / "input", target)
        arrival = bring(DataWarpStager(), pfs / "input", target, inward=True, tries=1)
        assert arrival == checksum(target)


class TestOtherPaths:
    def test_they_are_copied_and_one_warning_for_each_mount_says_so(self, tmp_path, libdatawarp_at):
        libdatawarp_at("/nowhere/libdatawarp.so")
        (tmp_path / "below").mkdir()
        pairs = [(tmp_path / "a", tmp_path / "a.out"), (tmp_path / "below/b", tmp_path / "b.out")]
        for source, _ in pairs:
            source.write_bytes(b"x")
        with pytest.warns(UserWarning, match="is not on a DataWarp buffer") as warned:
            bring_all(DataWarpStager(), pairs)
        assert len(warned) == 1
        assert (tmp_path / "a.out").read_bytes() == b"x"

    def test_a_buffer_whose_library_is_missing_is_not_a_plain_path(
        self, buffer, tmp_path, libdatawarp_at
    ):
        libdatawarp_at("/nowhere/libdatawarp.so")
        (buffer / "a").write_bytes(b"x")
        with pytest.raises(SiteError, match="libdatawarp is not here"):
            bring(DataWarpStager(), buffer / "a", tmp_path / "a")
        assert not (tmp_path / "a").exists()


class Tape(PosixStager):
    """A stager of another package."""

    name: ClassVar[str] = "tape"


class TestRegistry:
    @pytest.fixture(autouse=True)
    def _anew(self):
        stager.cache_clear()
        yield
        stager.cache_clear()

    @pytest.fixture
    def points(self, monkeypatch):
        def offer(**loaded):
            def load(value):
                if isinstance(value, Exception):
                    raise value
                return value

            found = [
                SimpleNamespace(name=name, load=lambda value=value: load(value))
                for name, value in loaded.items()
            ]
            monkeypatch.setattr("burstlens.core.plugins.points", lambda group: found)

        return offer

    def test_built_in_kinds_are_found_and_made_once_per_process(self):
        assert isinstance(stager("posix"), PosixStager)
        assert isinstance(stager("datawarp"), DataWarpStager)
        assert all(isinstance(stager(kind), Stager) for kind in ("posix", "datawarp"))
        assert stager("posix") is stager("posix")

    def test_an_unknown_kind_is_reported_with_near_names(self):
        with pytest.raises(SiteError, match="did you mean datawarp"):
            stager("datawrap")

    def test_a_plugin_is_found_and_broken_ones_warn(self, points):
        thief = type("Thief", (Tape,), {"name": "posix"})
        points(broken=ImportError("no tulip"), thief=thief, other=object, tape=Tape)
        with pytest.warns(UserWarning, match="is left out") as warned:
            assert isinstance(stager("tape"), Tape)
        text = " / ".join(str(one.message) for one in warned)
        assert "'broken' is left out: no tulip" in text
        assert "'thief' is left out: it takes the name 'posix'" in text
        assert "'other' is left out: it is not a stager" in text
        assert type(stager("posix")) is PosixStager
