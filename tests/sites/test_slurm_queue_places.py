"""Places in Slurm's queue, from what squeue printed; and how often it is asked."""

from __future__ import annotations

import threading
import time

import pytest

from burstlens.cluster_configs import polling
from burstlens.cluster_configs.scheduler import (
    BatchSite,
    JobState,
    Phase,
    QueuePlace,
    SchedulerError,
)
from burstlens.cluster_configs.slurm import Slurm
from burstlens.cluster_configs.slurm_queue_places import places

LISTED = """\
11\tbatch\t500\t2026-11-23T14:20:00
12\tbatch\t900\tN/A
13\tbatch,long\t700\tN/A
14\tlong\t100\tN/A
15\tbatch\t0\tN/A
16\tbatch\t500\tN/A
"""


def test_jobs_are_ranked_by_priority_then_by_id_within_their_partition():
    found = places(LISTED, "Slurm", ranked=True)
    ranks = {job: (place.partition, place.position, place.of) for job, place in found.items()}
    assert ranks["12"] == ("batch", 1, 4)
    assert ranks["11"] == ("batch", 3, 4)
    assert ranks["16"] == ("batch", 4, 4)
    assert ranks["14"] == ("long", 2, 2)


def test_a_job_in_two_partitions_has_its_better_place():
    found = places(LISTED, "Slurm", ranked=True)["13"]
    assert (found.partition, found.position, found.of) == ("long", 1, 2)


def test_a_held_job_has_no_place_and_does_not_count():
    found = places(LISTED, "Slurm", ranked=True)["15"]
    assert (found.position, found.of, found.partition) == (None, None, "batch")


def test_where_other_users_jobs_are_hidden_there_are_only_the_expected_starts():
    found = places(LISTED, "Slurm", ranked=False)
    assert {place.position for place in found.values()} == {None}
    assert found["12"].start is None
    begin = time.strptime("2026-11-23T14:20:00", "%Y-%m-%dT%H:%M:%S")
    assert found["11"].start == time.mktime(begin)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "squeue: error: x",
        "17",
        "17\tbatch",
        "x\tbatch\t5\tN/A",
        "17\tbatch\tlow\tN/A",
        "\t\t\t",
    ],
)
def test_a_line_that_is_not_of_a_job_is_skipped(line):
    assert set(places(f"{line}\n{LISTED}{line}", "Slurm", ranked=True)) == set(
        places(LISTED, "Slurm", ranked=True)
    )


def test_a_start_that_is_not_a_time_is_not_known():
    assert places("17\tbatch\t5\t2026-13-40", "Slurm", ranked=True)["17"].start is None


def test_ten_thousand_jobs_are_ranked_in_a_moment():
    many = "".join(f"{n}\tbatch\t{n % 977 + 1}\tN/A\n" for n in range(1, 10_001))
    begin = time.process_time()
    found = places(many, "Slurm", ranked=True)
    assert time.process_time() - begin < 2.0
    assert sorted(place.position for place in found.values()) == list(range(1, 10_001))


class Queue(Slurm):
    """A scheduler whose queue is a list in this process."""

    title = "Queue"
    submits = "true"

    def __init__(self) -> None:
        super().__init__(BatchSite(), patience_s=0.0)
        self.asked = 0
        self.error: SchedulerError | None = None
        self.held = threading.Event()
        self.held.set()

    def ask(self, job_id: str) -> JobState:
        return JobState(job_id, Phase.WAITING, "PENDING")

    def queue(self) -> list[tuple[JobState, str]]:
        return []

    def cancel(self, job_ids) -> None: ...

    def forecast(self):
        self.asked += 1
        self.held.wait(120)
        if self.error is not None:
            raise self.error
        return {"7": QueuePlace(by="Queue", position=self.asked, of=9)}


def test_the_queue_is_asked_for_once_a_minute_for_all_jobs(monkeypatch):
    queue = Queue()
    assert [queue.place(job) and queue.place(job).position for job in ("7", "7", "8")] == [
        1,
        1,
        None,
    ]
    assert queue.asked == 1
    monkeypatch.setattr(polling, "FORECAST_S", 0.0)
    queue._forecast_due = 0.0
    assert queue.place("7").position == 2


def test_a_queue_that_does_not_answer_leaves_no_old_place(monkeypatch):
    monkeypatch.setattr(polling, "FORECAST_S", 0.0)
    queue = Queue()
    assert queue.place("7") is not None
    queue.error = SchedulerError("timed out", passing=True)
    assert queue.place("7") is None
    queue.error = None
    assert queue.place("7") is not None


def test_who_asks_while_the_queue_hangs_is_not_held_up():
    queue = Queue()
    queue.held.clear()
    first = threading.Thread(target=queue.place, args=["7"])
    first.start()
    begin = time.monotonic()
    while not queue.asked and time.monotonic() - begin < 60:
        time.sleep(0.01)
    begin = time.monotonic()
    assert queue.place("7") is None
    assert time.monotonic() - begin < 60
    queue.held.set()
    first.join()
    assert queue.place("7").position == 1
