"""The places of waiting jobs in Slurm's queue, from one squeue."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping

from burstlens.cluster_configs.scheduler import QueuePlace

FORMAT = "%A\t%P\t%Q\t%S"
"""Of squeue: job, partitions, priority, expected start."""


def places(listed: str, title: str, *, ranked: bool) -> dict[str, QueuePlace]:
    """The place of each pending job in that output of squeue, by job id.

    A job that waits in several partitions gets its best position. Held jobs have priority 0: they
    have no position and do not count. ``ranked``: whether other users' jobs are listed too; without
    them there is no position. Lines that are not squeue's are skipped.
    """
    queues: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    jobs: dict[str, tuple[list[str], float | None]] = {}
    for line in listed.splitlines():
        job_id, _, rest = line.partition("\t")
        partitions, priority, start = [*rest.split("\t"), "", "", ""][:3]
        if not (job_id.isdecimal() and priority.isdecimal()):
            continue
        names = partitions.split(",")
        # The tasks of an array are one line until they begin; some of its tasks may have another.
        if job_id not in jobs and int(priority) > 0:
            for name in names:
                queues[name].append((-int(priority), int(job_id), job_id))
        jobs.setdefault(job_id, (names, _seconds(start)))
    ranks = _ranks(queues) if ranked else {}
    found = {}
    for job_id, (names, start_s) in jobs.items():
        best = min(
            ((ranks[name, job_id], len(queues[name]), name) for name in names
             if (name, job_id) in ranks),
            default=(None, None, names[0]),
        )  # fmt: skip
        position, of, partition = best
        found[job_id] = QueuePlace(
            by=title, partition=partition, position=position, of=of, start=start_s
        )
    return found


def _ranks(queues: Mapping[str, list[tuple[int, int, str]]]) -> dict[tuple[str, str], int]:
    return {
        (name, job_id): rank
        for name, queue in queues.items()
        for rank, (_, _, job_id) in enumerate(sorted(queue), start=1)
    }


def _seconds(text: str) -> float | None:
    """Slurm's local time, ``2026-11-23T14:20:00``, as Unix seconds; None for ``N/A``."""
    try:
        return time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))
    except (ValueError, OverflowError):
        return None
