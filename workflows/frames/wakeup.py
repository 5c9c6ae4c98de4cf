"""Wakes the watcher at once when something changes in its folders, where the kernel can know it.

inotify reports what is written through the kernel of this machine. So it is used where only this
machine can write, and never on Lustre, NFS, GPFS, DVS or FUSE, where other nodes' writes would be
missed. It is an alarm clock only: which event came is not even read, each leads to the usual scan,
and scans go on without any event, less often. docs/decisions/0052-wake-ups.md.
Source: inotify(7), statfs(2).
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import logging
import os
import select
from collections.abc import Iterable
from functools import cache
from itertools import islice

_log = logging.getLogger(__name__)

LOCAL = {
    0x01021994: "tmpfs",
    0x858458F6: "ramfs",
    0xEF53: "ext4",
    0x58465342: "xfs",
    0x9123683E: "btrfs",
    0xF2F52010: "f2fs",
    0x2FC12FC1: "zfs",
    0x794C7630: "overlay",
}
"""File systems of one machine by their magic number (``f_type``)."""
MOST_LOGS = 64
"""So many logs wake the watcher: a user's watches are limited."""
CREATE, MOVED, CLOSE_WRITE, MODIFY, GONE = 0x100, 0xC0, 0x8, 0x2, 0xC00
FOLDER, LOG = CREATE | MOVED | CLOSE_WRITE | GONE, MODIFY | GONE
"""What is waited for: not each write to a frame, of which there are thousands."""
_STATFS_BYTES = 256


class _SharedError(Exception):
    """Other nodes may write there."""


class Wakeup:
    """Waits for changes in some folders and logs. ``why``: the reason for which it cannot;
    ``fresh``: the latest :meth:`arm` found something new to watch."""

    def __init__(self) -> None:
        self.why, self.fresh = "", False
        self._queue: int | None = None
        self._events = select.poll()
        self._watches: dict[str, int] = {}
        self._folders: list[str] = []

    def arm(self, folders: Iterable[str], logs: Iterable[str]) -> bool:
        """Note every change from now on; returns False where only polling serves. Call it after
        each scan. What is new to it, as a folder that was replaced, is ``fresh``: it may have
        changed since that scan, and is to be scanned again. Folders and logs that are missing are
        passed over: the folder around them reports them."""
        self.fresh, wanted = False, [*folders]
        if new := wanted != self._folders:
            self._folders, self.why = wanted, ""
        if not self.why:
            masks = dict.fromkeys(wanted, FOLDER) | dict.fromkeys(islice(logs, MOST_LOGS), LOG)
            try:
                if self._queue is None:
                    self._queue = _call("inotify_init1", os.O_CLOEXEC | os.O_NONBLOCK)
                    self._events.register(self._queue, select.POLLIN)
                for path in masks.keys() | self._watches.keys():
                    self._watch(path, masks.get(path))
            except _SharedError as error:
                self._give_up(str(error))
            except OSError as error:
                self._give_up(f"inotify: {error.strerror}")
        if new and not self.why:
            _log.info("frames in %s are watched by inotify", wanted[0])
        return bool(self._watches)

    def wait(self, seconds: float) -> bool:
        """Wait for a change, so long at most; returns whether there was one."""
        if not self._events.poll(1000 * max(0.0, seconds)):
            return False
        if self._queue is not None:
            with contextlib.suppress(BlockingIOError):
                while os.read(self._queue, 1 << 16):  # what happened is the scan's to see
                    pass
        return True

    def close(self) -> None:
        queue, self._queue = self._queue, None
        self._watches.clear()
        if queue is not None:
            self._events.unregister(queue)
            os.close(queue)

    def _watch(self, path: str, mask: int | None) -> None:
        """Watch it for these events, or, without any, no more."""
        before, watch = self._watches.pop(path, None), None
        if mask is not None:
            with contextlib.suppress(FileNotFoundError):
                watch = _call("inotify_add_watch", self._queue, os.fsencode(path), mask)
                if watch != before and (kind := file_system(path)) not in LOCAL:
                    raise _SharedError(f"other nodes may write to its file system (type {kind:#x})")
        if before not in (None, watch):  # of what was replaced; it may be gone already
            with contextlib.suppress(OSError):
                _call("inotify_rm_watch", self._queue, before)
        if watch is not None:
            self._watches[path] = watch
            self.fresh |= watch != before

    def _give_up(self, why: str) -> None:
        self.why = why
        _log.info("frames in %s are watched by polling: %s", self._folders[0], why)
        self.close()

    def __del__(self) -> None:
        self.close()


def file_system(path: str) -> int:
    """The magic number of a file system, ``f_type`` of statfs(2). Raises OSError."""
    found = ctypes.create_string_buffer(_STATFS_BYTES)
    _call("statfs", os.fsencode(path), found)
    return ctypes.c_long.from_buffer(found).value


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(function: str, *arguments: object) -> int:
    """Call the C library. Raises OSError."""
    try:
        called = getattr(_library(), function)
    except AttributeError as error:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS)) from error
    result = int(called(*arguments))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
