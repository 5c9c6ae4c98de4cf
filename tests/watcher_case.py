"""A watcher of files of a program that writes classic netCDF, called one scan at a time."""

from __future__ import annotations

from burstlens.workflows.frames.attached import AttachedEvidence, sweep
from burstlens.workflows.frames.evidence import EvidencePolicy
from burstlens.workflows.frames.listing import WatchedFolder
from burstlens.workflows.frames.watcher import Watcher
from burstlens.workflows.models.command import Command

MODEL = Command(
    argv=["./model"],
    frames="out_*.nc",
    written=r"^wrote (?P<file>\S+)",
    trouble="^BAD",
    done="^bye$",
)


def launched_watcher(root, folder, model, run, attempt, cursor, *, baseline=None, **keywords):
    place = WatchedFolder.of(root, folder, model)
    return Watcher(place, run, attempt, cursor, EvidencePolicy(place, baseline), **keywords)


def attached_watcher(
    root, folder, model, run, attempt, cursor, *, selection, stamp, declared=None, **keywords
):
    """One that looks again at the ``declared`` files first."""
    place = WatchedFolder.of(root, folder, model)
    policy = AttachedEvidence(place, selection, stamp)
    return Watcher(place, run, attempt, sweep(cursor, place, declared or {}), policy, **keywords)


def look(watcher, elapsed_s=0.0, *, ended=False, now=100.0):
    return watcher.scan(elapsed_s=elapsed_s, now=now, ended=ended)


def times(report):
    return [frame.time[-5:] for frame in report.frames]
