import threading
from dataclasses import replace

import pytest

from burstlens.clients.opened.asked import Recalled
from burstlens.clients.opened.series import Gap, Sample
from burstlens.core.run.index import Published

FACTS = {"units": "K"}


class Reader:
    """Reads frames, and counts how often each was read."""

    def __init__(self, gap=Gap.NONE):
        self.read, self.gap = [], gap

    def __call__(self, entry):
        self.read.append(entry.time)
        return Sample(entry.time, 1.0, self.gap, facts=dict(FACTS))


def entry(time, crc32=1, attempt=1):
    name = f"t2/t2_d01_{time}.png"
    line = {"product": "t2", "stream": "d01", "time": time, "name": name, "crc32": crc32}
    return Published({**line, "attempt": attempt})


def test_a_picture_is_read_once_however_many_ask_at_the_place():
    recalled, read = Recalled(), Reader()
    found = [recalled.reading("here", read)(entry("t1")) for _ in range(3)]
    assert (read.read, found[0]) == (["t1"], found[2])


@pytest.mark.parametrize("newer", [{"crc32": 2}, {"attempt": 2}])
def test_a_picture_that_is_published_anew_is_read_anew(newer):
    recalled, read = Recalled(), Reader()
    recalled.reading("here", read)(entry("t1"))
    recalled.reading("here", read)(entry("t1", **newer))
    assert read.read == ["t1", "t1"]


def test_an_index_that_names_one_picture_for_several_times_keeps_the_times():
    here = Recalled().reading("here", Reader())
    lines = [entry("t1"), Published({**entry("t1").line, "time": "t2"})]
    assert [here(one).time for one in lines] == ["t1", "t2"]


def test_each_place_has_its_own_samples():
    recalled, read = Recalled(), Reader()
    recalled.reading("here", read)(entry("t1"))
    recalled.reading("there", read)(entry("t1"))
    assert read.read == ["t1", "t1"]


@pytest.mark.parametrize("gap", [Gap.UNREADABLE, Gap.FOREIGN])
def test_a_gap_that_may_be_filled_is_read_again(gap):
    recalled, read = Recalled(), Reader(gap)
    recalled.reading("here", read)(entry("t1"))
    read.gap = Gap.NONE
    assert recalled.reading("here", read)(entry("t1")).value == 1.0


def test_no_more_than_the_bound_is_held_and_the_place_asked_last_stays():
    recalled, read = Recalled(most=4), Reader()
    for where in ("old", "new"):
        for time in ("t1", "t2", "t3"):
            recalled.reading(where, read)(entry(time))
    read.read.clear()
    for time in ("t1", "t2", "t3"):
        recalled.reading("new", read)(entry(time))
    assert read.read == []
    recalled.reading("old", read)(entry("t1"))
    assert read.read == ["t1"]


def test_equal_facts_are_held_once():
    recalled, read = Recalled(), Reader()
    here = recalled.reading("here", read)
    here(entry("t1")), here(entry("t2"))
    assert here(entry("t1")).facts is here(entry("t2")).facts
    assert replace(here(entry("t2")), time="t1") == here(entry("t1"))


def test_threads_may_ask_at_once():
    recalled, read = Recalled(most=50), Reader()
    faults = []

    def ask(where):
        try:
            for number in range(300):
                assert recalled.reading(where, read)(entry(f"t{number % 40}")).value == 1.0
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=ask, args=(number % 3,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert recalled._count == sum(map(len, recalled._held.values())) <= 50
