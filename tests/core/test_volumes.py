"""A long journal lies in volumes, is read as one, and survives a crash or an error at any call."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

import pytest

from burstlens.core.errors import RunError
from burstlens.core.run import events as ev
from burstlens.core.run.follow import FollowedJournal
from burstlens.core.run.history import History, replay
from burstlens.core.run.history_file import history_of, history_path, turn
from burstlens.core.run.journal import Journal, read, read_only, read_records
from burstlens.core.run.volumes import VOLUME_EVENTS, newest_volume, volume_numbers, volume_path

CALLS = ("open", "write", "fsync", "rename", "replace", "unlink", "stat", "fstat", "ftruncate")


class Case:
    """A journal with its history, which is continued in a new file when a test says so."""

    def __init__(self, folder: Path, epoch: int = 1) -> None:
        self.path = folder / "journal.jsonl"
        self.superseded = folder / f"driver-{epoch + 1}"
        self.history = history_of(self.path)
        self.journal = Journal(self.path, epoch, self.history.apply)

    def add(self, *texts: str) -> None:
        for text in texts:
            self.journal.append(
                ev.FrameReady(stream="d01", time=text, attempt=1, file=f"{text}.nc")
            )
            self.journal.append(ev.Alarm(text=text))

    def turn(self) -> bool:
        self.journal.events = VOLUME_EVENTS
        return turn(self.journal, self.history, self.superseded)

    @property
    def said(self) -> list[str]:
        return [event.text for event in read(self.path) if isinstance(event, ev.Alarm)]


@pytest.fixture
def case(tmp_path: Path):
    made = Case(tmp_path)
    yield made
    made.journal.close()


def test_a_short_journal_has_no_volume(case: Case):
    case.add("t1")
    assert not turn(case.journal, case.history, case.superseded)
    assert [path.name for path in case.path.parent.iterdir()] == ["journal.jsonl"]


def test_a_journal_of_many_events_goes_on_in_a_new_file(tmp_path: Path):
    case = Case(tmp_path)
    for number in range(VOLUME_EVENTS):
        case.journal.append(ev.Alarm(text=str(number)))
    assert turn(case.journal, case.history, case.superseded)
    case.add("after")
    case.journal.close()
    assert case.said == [*map(str, range(VOLUME_EVENTS)), "after"]
    first, *_ = case.path.read_text().splitlines()
    assert '"event":"journal.continued","volume":2,"format":2' in first
    assert volume_path(case.path, 1).read_bytes().count(b"\n") == VOLUME_EVENTS


def test_all_volumes_are_read_as_one(case: Case):
    for text in ("t1", "t2", "t3"):
        case.add(text)
        assert case.turn()
    case.add("t4")
    assert case.said == ["t1", "t2", "t3", "t4"]
    assert [line["text"] for line in read_records(case.path) if "text" in line] == case.said
    assert [event.text for event in read_only(case.path, ev.Alarm, after=2)] == ["t3", "t4"]
    assert (newest_volume(case.path), volume_numbers(case.path)) == (4, [1, 2, 3])


def same(found: History, other: History) -> bool:
    """But for what only says from where it came."""
    found.volume = other.volume = 0
    return found == other


def test_the_history_on_disk_and_what_follows_add_up_to_the_whole_journal(case: Case):
    for text in ("t1", "t2", "t3"):
        case.add(text)
        case.turn()
    case.add("t4")
    assert history_of(case.path).volume == 3
    assert same(history_of(case.path), replay(read(case.path)))
    assert len(history_of(case.path).frames) == 4


def test_two_histories_are_kept(case: Case):
    for text in ("t1", "t2", "t3", "t4"):
        case.add(text)
        case.turn()
    assert [history_path(case.path, n).exists() for n in (1, 2, 3, 4)] == [False, False, True, True]


@pytest.mark.parametrize("damage", ["missing", "torn", "empty", "foreign", "another", "flipped"])
def test_without_a_usable_history_the_journal_is_replayed(case: Case, damage: str):
    for text in ("t1", "t2"):
        case.add(text)
        case.turn()
    case.add("t3")
    whole = replay(read(case.path))
    for number in (1, 2):
        path = history_path(case.path, number)
        body = path.read_bytes()
        at = len(body) - 3
        changed = {
            "torn": body[:-5],
            "empty": b"",
            "foreign": b"{}\n\x00",
            "another": body.replace(b'"burstlens":"', b'"burstlens":"9', 1),
            "flipped": body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :],
        }
        path.unlink() if damage == "missing" else path.write_bytes(changed[damage])
    found = history_of(case.path)
    assert found.volume == 0
    assert same(found, whole)


def test_the_history_before_serves_where_the_newest_is_damaged(case: Case):
    for text in ("t1", "t2"):
        case.add(text)
        case.turn()
    history_path(case.path, 2).write_bytes(b"torn")
    assert history_of(case.path).volume == 1
    assert len(history_of(case.path).frames) == 2


def test_a_volume_that_was_written_to_afterwards_is_replayed(case: Case):
    case.add("t1")
    late = case.path.open("ab")  # a driver that was suspended before the next one went on
    case.turn()
    late.write(
        b'{"t":1.0,"driver":1,"event":"frame.ready","stream":"d01","time":"t0","attempt":1}\n'
    )
    late.close()
    assert {time for _, time, _ in history_of(case.path).frames} == {"t0", "t1"}


def test_a_missing_volume_is_an_error_unless_a_history_covers_it(case: Case):
    for text in ("t1", "t2", "t3"):
        case.add(text)
        case.turn()
    volume_path(case.path, 2).unlink()
    assert len(history_of(case.path).frames) == 3
    for number in (2, 3):
        history_path(case.path, number).unlink()
    with pytest.raises(RunError, match=r"journal-000002\.jsonl is missing, .*restore it"):
        history_of(case.path)
    with pytest.raises(RunError, match=r"journal-000002\.jsonl is missing"):
        list(read_records(case.path))


def test_a_driver_that_another_one_has_superseded_leaves_the_journal_as_it_is(case: Case):
    case.add("t1")
    case.superseded.touch()
    assert not case.turn()
    assert volume_numbers(case.path) == []


def test_two_drivers_lose_nothing_if_the_former_wakes_up_late(case: Case, tmp_path: Path):
    case.add("t1")
    later = Case(tmp_path, epoch=2)
    later.add("t2")
    assert later.turn()
    assert not case.turn()  # its file is a volume by now
    case.add("late")
    later.add("t3")
    assert later.said == ["t1", "t2", "late", "t3"]
    assert {time for _, time, _ in history_of(case.path).frames} == {"t1", "t2", "late", "t3"}
    later.journal.close()


def test_a_driver_whose_file_was_turned_by_another_goes_on_writing_to_it(
    case: Case, tmp_path: Path
):
    case.add("t1")
    later = Case(tmp_path, epoch=2)
    assert case.turn()  # it did not see the claim in time
    later.add("t2")
    assert not later.turn()
    later.journal.close()
    assert case.said == ["t1", "t2"]
    assert len(history_of(case.path).frames) == 2


class Killed(BaseException):
    """The process ends: none of its calls comes any more."""


def failing(monkeypatch: pytest.MonkeyPatch, at: int, error: BaseException) -> list[str]:
    """Let the call of that number, from 0 on, fail; after a kill all later ones. Returns the calls
    so far."""
    seen: list[str] = []

    def wrapped(name: str, call):
        def made(*args, **options):
            seen.append(name)
            if len(seen) == at + 1 or (len(seen) > at and isinstance(error, Killed)):
                raise error
            return call(*args, **options)

        return made

    for name in CALLS:
        monkeypatch.setattr(os, name, wrapped(name, getattr(os, name)))
    return seen


@pytest.mark.parametrize("at", range(30))
def test_an_error_at_any_call_loses_nothing_and_the_next_turn_succeeds(
    case: Case, monkeypatch: pytest.MonkeyPatch, at: int
):
    case.add("t1")
    case.turn()
    case.add("t2")
    with monkeypatch.context() as calls:
        failing(calls, at, OSError(errno.EIO, os.strerror(errno.EIO)))
        with suppress(OSError):
            case.turn()
    case.add("t3")
    case.journal.sync()
    assert case.said == ["t1", "t2", "t3"]
    assert same(history_of(case.path), replay(read(case.path)))
    assert case.turn()
    case.add("t4")
    assert case.said == ["t1", "t2", "t3", "t4"]
    assert not list(case.path.parent.glob(".*.part"))


@pytest.mark.parametrize("at", range(30))
def test_a_kill_at_any_call_loses_nothing(case: Case, monkeypatch: pytest.MonkeyPatch, at: int):
    case.add("t1")
    case.turn()
    case.add("t2")
    with monkeypatch.context() as calls:
        failing(calls, at, Killed())
        with suppress(Killed):
            case.turn()
    assert case.said == ["t1", "t2"]
    assert same(history_of(case.path), replay(read(case.path)))
    after = Case(case.path.parent, epoch=2)
    after.add("t3")
    assert after.turn()
    after.add("t4")
    after.journal.close()
    assert after.said == ["t1", "t2", "t3", "t4"]
    assert len(history_of(case.path).frames) == 4


def test_a_reader_follows_over_volumes_and_reads_nothing_twice(case: Case):
    reader = FollowedJournal(case.path, marks=(b'"frame.',))

    def times() -> list[str]:
        return [line["time"] for line in reader.look().lines]

    assert times() == []
    case.add("t1")
    assert times() == ["t1"]
    case.add("t2")
    case.turn()
    assert times() == ["t2"]
    case.add("t3")
    case.turn()
    case.add("t4")
    case.turn()
    assert times() == ["t3", "t4"]
    assert times() == []
    late = FollowedJournal(case.path, marks=(b'"frame.',))
    stretch = late.look()
    assert stretch.fresh
    assert [line["time"] for line in stretch.lines] == ["t1", "t2", "t3", "t4"]


def test_a_reader_begins_anew_when_the_journal_was_replaced(case: Case):
    reader = FollowedJournal(case.path)
    case.add("t1")
    case.turn()
    case.add("t2")
    assert len(reader.look().lines) == 5
    volume_path(case.path, 1).unlink()
    other = case.path.with_name("other")
    other.write_text('{"event":"alarm","text":"new"}\n')
    other.replace(case.path)
    stretch = reader.look()
    assert (stretch.fresh, [line["text"] for line in stretch.lines]) == (True, ["new"])


def test_a_missing_volume_is_reported_to_its_reader(case: Case):
    for text in ("t1", "t2"):
        case.add(text)
        case.turn()
    volume_path(case.path, 1).unlink()
    with pytest.raises(RunError, match=r"journal-000001\.jsonl is missing"):
        FollowedJournal(case.path).look()
