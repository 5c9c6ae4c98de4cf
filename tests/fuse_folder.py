#!/usr/bin/env python3
"""A folder through FUSE that can hang, be slow, and notes each call that is not reading.

``python fuse_folder.py SOURCE PLACE CONTROL`` mounts ``SOURCE`` read-only at ``PLACE`` until it
is killed; readers then get ENOTCONN. While ``CONTROL/hang`` exists nothing is answered;
``CONTROL/slow`` holds seconds that each answer takes. ``CONTROL/calls`` gets the names of calls
that change or lock files, all of which are refused. Standard library only (linux/fuse.h, 7.31).
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
import time
from pathlib import Path

IN, OUT = struct.Struct("<IIQQIIII"), struct.Struct("<IiQ")
ATTRIBUTES, ENTRY = struct.Struct("<6Q10I"), struct.Struct("<4Q2I")
CHANGES = {
    4: "setattr", 6: "symlink", 8: "mknod", 9: "mkdir", 10: "unlink", 11: "rmdir", 12: "rename",
    13: "link", 16: "write", 21: "setxattr", 24: "removexattr", 32: "setlk", 33: "setlkw",
    35: "create", 43: "fallocate", 45: "rename2",
}  # fmt: skip
FORGET, BATCH_FORGET, INTERRUPT, DESTROY = 2, 42, 36, 38


class Folder:
    """The calls, each by its number in the protocol; nodes are paths in order of their look-up."""

    def __init__(self, source: str) -> None:
        self.nodes = {1: source}
        self.numbers = {source: 1}
        self.open: dict[int, list[os.DirEntry[str]]] = {}

    def answer(self, call: int, node: int, data: bytes) -> bytes:
        """The answer. Raises OSError."""
        known = {
            1: self.lookup, 3: self.getattr, 5: self.readlink, 14: self.open_file, 15: self.read,
            17: self.statfs, 18: self.release, 25: self.nothing, 26: self.init,
            27: self.open_folder, 28: self.readdir, 29: self.nothing, 34: self.nothing,
        }  # fmt: skip
        if call not in known:
            raise OSError(errno.EROFS if call in CHANGES else errno.ENOSYS, "")
        return known[call](self.nodes.get(node, ""), data)

    def init(self, _: str, data: bytes) -> bytes:
        readahead = struct.unpack_from("<4I", data)[2]
        return struct.pack("<4I2H2I2H8I", 7, 31, readahead, 0, 12, 9, 65536, 1, 0, 0, *[0] * 8)

    def lookup(self, path: str, data: bytes) -> bytes:
        found = f"{path}/{os.fsdecode(data[:-1])}"
        attributes = self._attributes(found)
        number = self.numbers.setdefault(found, len(self.numbers) + 1)
        self.nodes[number] = found
        return ENTRY.pack(number, 0, 0, 0, 0, 0) + attributes

    def getattr(self, path: str, _: bytes) -> bytes:
        return struct.pack("<QII", 0, 0, 0) + self._attributes(path)

    def readlink(self, path: str, _: bytes) -> bytes:
        return os.fsencode(os.readlink(path))

    def open_file(self, path: str, data: bytes) -> bytes:
        flags = struct.unpack_from("<I", data)[0]
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_TRUNC):
            raise OSError(errno.EROFS, "open for writing")
        return struct.pack("<QII", os.open(path, os.O_RDONLY), 1, 0)  # 1: no cache

    def read(self, _: str, data: bytes) -> bytes:
        descriptor, offset, size = struct.unpack_from("<QQI", data)
        return os.pread(descriptor, size, offset)

    def release(self, _: str, data: bytes) -> bytes:
        os.close(struct.unpack_from("<Q", data)[0])
        return b""

    def open_folder(self, path: str, _: bytes) -> bytes:
        number = len(self.open) + 1
        self.open[number] = list(os.scandir(path))
        return struct.pack("<QII", number, 0, 0)

    def readdir(self, _: str, data: bytes) -> bytes:
        number, first, size = struct.unpack_from("<QQI", data)
        found = b""
        for place, entry in enumerate(self.open[number][first:], first + 1):
            name = os.fsencode(entry.name)
            kind = 4 if entry.is_dir() else 8
            line = struct.pack("<QQII", entry.inode(), place, len(name), kind) + name
            line += bytes(-len(line) % 8)
            if len(found) + len(line) > size:
                break
            found += line
        return found

    def statfs(self, path: str, _: bytes) -> bytes:
        return struct.pack("<5Q4I6I", 10**6, 10**6, 10**6, 10**6, 10**6, 4096, 255, 4096, *[0] * 7)

    def nothing(self, *_: object) -> bytes:
        return b""

    def _attributes(self, path: str) -> bytes:
        s = os.lstat(path)
        times = s.st_atime_ns, s.st_mtime_ns, s.st_ctime_ns
        return ATTRIBUTES.pack(
            s.st_ino, s.st_size, s.st_blocks, *(t // 10**9 for t in times),
            *(t % 10**9 for t in times), s.st_mode, s.st_nlink, s.st_uid, s.st_gid, 0, 4096, 0,
        )  # fmt: skip


def mount(place: str) -> int:
    """Mounts; the descriptor to serve. Raises OSError without permission."""
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
    libc = ctypes.CDLL(None, use_errno=True)
    words = (b"burstlens-test", os.fsencode(place), b"fuse.test", 0, f"{options},allow_other")
    if libc.mount(*words[:4], words[4].encode()):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), place)
    return device


def serve(device: int, folder: Folder, control: Path) -> None:
    """Answer until the folder is unmounted."""
    while True:
        try:
            request = os.read(device, 1 << 18)
        except OSError as error:
            if error.errno == errno.ENODEV:
                return
            continue  # the caller has given up
        _, call, unique, node, *_ = IN.unpack_from(request)
        if call in (FORGET, BATCH_FORGET, INTERRUPT):
            continue
        while (control / "hang").exists():
            time.sleep(0.05)
        if (control / "slow").exists():
            time.sleep(float((control / "slow").read_text()))
        data = request[IN.size :]
        writes = call == 14 and struct.unpack_from("<I", data)[0] & (os.O_WRONLY | os.O_RDWR)
        if call in CHANGES or writes:
            with (control / "calls").open("a") as calls:
                calls.write(f"{CHANGES.get(call, 'open')} {folder.nodes.get(node)}\n")
        try:
            answer, code = folder.answer(call, node, data), 0
        except OSError as error:
            answer, code = b"", -(error.errno or errno.EIO)
        try:
            os.write(device, OUT.pack(OUT.size + len(answer), code, unique) + answer)
        except OSError:  # the caller has given up
            continue
        if call == DESTROY:
            return


if __name__ == "__main__":
    source, place, control = sys.argv[1:]
    serve(mount(place), Folder(os.path.abspath(source)), Path(control))
