"""A watcher of files of a program that writes classic netCDF, called one scan at a time."""

from __future__ import annotations

from burstlens.workflows.models.command import Command

MODEL = Command(
    argv=["./model"],
    frames="out_*.nc",
    written=r"^wrote (?P<file>\S+)",
    trouble="^BAD",
    done="^bye$",
)


def look(watcher, elapsed_s=0.0, *, ended=False, now=100.0):
    return watcher.scan(elapsed_s=elapsed_s, now=now, ended=ended)


def times(report):
    return [frame.time[-5:] for frame in report.frames]
