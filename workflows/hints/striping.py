"""Stripes of Lustre for the files of a folder: ``lfs setstripe`` before the files are made.

New files of a folder get its stripes; files that lie there keep theirs. Standard library alone: the
supervisor imports it, on any python3. Stripes make output faster and nothing else, so whatever
fails here is said and never keeps a model from starting.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

MOUNTS = Path("/proc/self/mounts")
LIMIT_S = 30.0
"""Limit for ``lfs`` on a metadata server that does not answer."""
_ESCAPES = {r"\040": " ", r"\011": "\t", r"\012": "\n", r"\134": "\\"}


def set_stripes(
    base: Path, stripes: Iterable[Mapping[str, Any]], mounts: Path = MOUNTS
) -> Iterator[tuple[bool, str]]:
    """Make the folders below ``base`` and set their stripes, one ``lfs setstripe`` each. Each has a
    ``folder`` relative to ``base``, a ``count`` of stripes (-1: all targets) and their ``size`` in
    bytes, or None. Yields for each whether it worked, and what was done or why not."""
    for one in stripes:
        folder = base / one["folder"]
        wanted = stripe_text(one["count"], one["size"])
        try:
            folder.mkdir(parents=True, exist_ok=True)
            kind = file_system(folder, mounts)
            if kind != "lustre":
                where = kind or "an unknown file system"
                yield False, f"{folder} is on {where}: {wanted} have no effect"
                continue
            held = len(os.listdir(folder))
            error = _lfs(folder, one["count"], one["size"])
        except OSError as failed:
            yield False, f"{folder} does not get {wanted}: {failed.strerror}"
            continue
        if error:
            yield False, f"{folder} does not get {wanted}: {error}"
        else:
            kept = f"; what it holds already, {held} entries, keeps its own" if held else ""
            yield True, f"new files of {folder} get {wanted}{kept}"


def stripe_text(count: int, size: int | None) -> str:
    """In words: ``64 stripes of 4 MiB``."""
    number = "stripes on all targets" if count == -1 else f"{count} stripe{'s' * (count != 1)}"
    if size is None:
        return number
    unit = "MiB" if size % 2**20 == 0 else "KiB"
    return f"{number} of {size // (2**20 if unit == 'MiB' else 2**10)} {unit}"


def _lfs(folder: Path, count: int, size: int | None) -> str:
    """Run ``lfs setstripe``; why it failed, empty if it did not."""
    program = shutil.which("lfs")
    if program is None:
        return "there is no lfs on PATH"
    words = [program, "setstripe", "-c", str(int(count))]
    words += [] if size is None else ["-S", str(int(size))]
    child = subprocess.Popen(
        [*words, str(folder)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        said = child.communicate(timeout=LIMIT_S)[0].decode(errors="replace").strip()
    except subprocess.TimeoutExpired:
        child.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(1.0)  # a process that hangs in the kernel cannot be killed
        return f"lfs setstripe did not end within {LIMIT_S:g} s"
    last = said.rpartition("\n")[2]
    return (last or f"lfs ended with {child.returncode}") if child.returncode else ""


def file_system(folder: str | Path, mounts: Path = MOUNTS) -> str:
    """The type of the mount that holds ``folder`` or would hold it: ``lustre``, ``ext4``. Empty
    where the kernel's table of mounts cannot be read."""
    path = os.path.realpath(folder)
    found, longest = "", -1
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    for line in lines:
        words = line.split(" ")
        if len(words) < 3:
            continue
        point = words[1]
        for escape, mark in _ESCAPES.items():
            point = point.replace(escape, mark)
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= longest:  # of two at one place the later one is on top
            found, longest = words[2], len(point)
    return found
