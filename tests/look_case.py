"""Looks at folders in which a recorded WRF or another writer writes, and the checks after them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from replay import Trace
from run_case import end_processes
from run_checker import live_processes

from burstlens.viz.frames.reader import FrameReader

TESTS = Path(__file__).parent
TRACES = TESTS / "data" / "traces"
LIMIT_S = 240.0
ENDS_S = 120.0
"""For processes to end, beside four other tests on two cores."""

CONTENT = '''\
"""A product that shows each bit of a frame: the CRC-32 of each of its fields."""
import json, zlib
import numpy as np

def content(frame, out):
    fields = {}
    for name in sorted(frame.names):
        values = np.ascontiguousarray(frame.read(name))
        fields[name] = zlib.crc32(values.tobytes())
    out.write_text(json.dumps(fields))

def chain(frame, out, state):
    seen = json.loads(frame.previous.read_text()) if frame.previous else []
    state.write_text(json.dumps([*seen, frame.time]))
    out.write_text(state.read_text())
'''
RECIPE = """\
title = "Each bit"
[simulation]
model = "wrf"
inputs = "."
"""
PRODUCT = """\
[[product]]
name = "content"
kind = "python"
function = "content.py:content"
extension = "json"
"""
EACH_STREAM = '[[product]]\nname = "content-{0}"\nstream = "{0}"\n' + PRODUCT.split("\n", 2)[2]
CHAINED = """\
[[product]]
name = "chain"
kind = "python"
function = "content.py:chain"
extension = "json"
chained = true
"""
FORBIDDEN = re.compile(
    r"^(?:\[pid +\d+\] |\d+ +)?(?:"
    r"(?:rename|unlink|rmdir|mkdir|chmod|fchmod|chown|fchown|lchown|mknod|link|symlink|truncate|"
    r"creat|utime|utimes|utimensat|futimesat|setxattr|lsetxattr|removexattr)\w*\(|"
    r"open\w*\(.*O_(?:WRONLY|RDWR|CREAT|TRUNC)|"
    r"(?:flock|fsetxattr|ftruncate|fallocate|pwrite64|write|writev|pwritev)\(|"
    r"fcntl\w*\(.*F_(?:OFD_)?(?:SETLKW?|SETLEASE))"
)
"""What nobody may call on a file below the folder, as strace prints it."""


@dataclass(frozen=True)
class Entry:
    """What is below a folder under one name: type and mode, size, mtime, inode, content."""

    mode: int
    bytes: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    content: str


def tree(folder: Path) -> dict[str, Entry]:
    """All that lies in a folder, the folder itself as well."""
    found = {}
    for path in [folder, *folder.rglob("*")]:
        stat = path.lstat()
        content = ""
        if path.is_symlink():
            content = os.readlink(path)
        elif path.is_file():
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        about = stat.st_mode, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino
        found[str(path.relative_to(folder))] = Entry(*about, content)
    return found


class LookCase:
    """A folder ``model`` in which a model writes, and looks at it."""

    def __init__(self, folder: Path, model: Path | None = None) -> None:
        self.folder = folder
        self.model = model or folder / "model"
        self.model.mkdir(parents=True, exist_ok=True)
        self.runs = folder / "runs"
        self.environment = {"BURSTLENS_RUNS": str(self.runs)}
        self.writers: list[subprocess.Popen[bytes]] = []
        (folder / "content.py").write_text(CONTENT)
        (folder / "content.toml").write_text(RECIPE + PRODUCT)

    def recipe(self, name: str, products: str) -> str:
        """Write a recipe with these products; returns its name."""
        (self.folder / name).write_text(RECIPE + products)
        return name

    def streams(self, *names: str) -> str:
        """The name of a recipe whose product ``content`` is made of each of these streams."""
        return self.recipe("streams.toml", "".join(map(EACH_STREAM.format, names)))

    # The model.

    def write(self, trace: str = "netcdf4_one", *words: str) -> subprocess.Popen[bytes]:
        """The recorded WRF begins to write into the folder."""
        namelist = self.model / "namelist.input"
        if not namelist.exists():
            text = (TRACES / "namelist.input").read_text()
            if trace == "nest":
                text = re.sub("max_dom .*", "max_dom = 2,", text)
            namelist.write_text(text)
        command = [sys.executable, TESTS / "replay.py", TRACES / trace, "--folder", self.model]
        return self.writer(*command, *words)

    def written(self, trace: str = "netcdf4_one", *words: str) -> None:
        """The recorded WRF has written all into the folder."""
        assert self.write(trace, "--speed", "1000", *words).wait(LIMIT_S) == 0

    def frame_starts(self, trace: str = "netcdf4_one") -> list[int]:
        """The calls at which the frames of a trace begin."""
        return Trace.load(TRACES / trace).frame_starts()

    def writer(self, *command: str | Path) -> subprocess.Popen[bytes]:
        """Another program begins to write."""
        self.writers.append(subprocess.Popen(command, cwd=self.folder))
        return self.writers[-1]

    # The looks.

    def start(self, *words: str | Path, prefix: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        """``burstlens look`` at the folder, without a page, with its output in a file."""
        return self.burstlens("look", self.model, "--no-page", *words, prefix=prefix)

    def burstlens(self, *words: str | Path, prefix: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        """``burstlens words``, with its output in a file, in a session of its own: as from another
        terminal, its workers then do not wait for CPU time until no other test needs any."""
        with (self.folder / "said").open("a") as said:
            return subprocess.Popen(
                [*prefix, sys.executable, "-m", "burstlens", *words],
                cwd=self.folder, env=os.environ | self.environment, text=True,
                stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True,
            )  # fmt: skip

    def end(self, look: subprocess.Popen[str], limit_s: float = LIMIT_S) -> int:
        """The exit code of a look. Fails if it takes longer, or shows a traceback."""
        try:
            code = look.wait(limit_s)
        except subprocess.TimeoutExpired:
            look.kill()
            pytest.fail(f"it still looks after {limit_s:.0f} s:\n{self.said()}")
        assert "Traceback" not in self.said(), self.said()
        return code

    def look(self, *words: str | Path) -> int:
        """A look at the folder to its end."""
        return self.end(self.start(*words))

    def leave(self, look: subprocess.Popen[str], limit_s: float = ENDS_S) -> int:
        """Ctrl-C; fails if it does not end in time."""
        look.send_signal(signal.SIGINT)
        return self.end(look, limit_s)

    def stop(self) -> None:
        """End a look that is detached."""
        assert self.end(self.burstlens("stop", self.run.name)) == 0
        self.await_that(lambda: not self.processes(), "end")

    def said(self) -> str:
        """The output of all looks so far."""
        return (self.folder / "said").read_text()

    # The run.

    @property
    def run(self) -> Path:
        """The only run directory."""
        found = list(self.runs.glob("look-*"))
        assert len(found) == 1, f"run directories: {found}\n{self.said()}"
        return found[0]

    def journal(self) -> list[dict[str, Any]]:
        """The journal's events so far."""
        texts = [path.read_text() for path in self.runs.glob("look-*/journal.jsonl")]
        return [json.loads(line) for text in texts for line in text.split("\n")[:-1]]

    def events(self, name: str) -> list[dict[str, Any]]:
        """The events of that name so far."""
        return [line for line in self.journal() if line["event"] == name]

    def times(self, attempt: int | None = None, stream: str = "d01") -> list[str]:
        """The end of the valid times of the frames of an attempt, in order of their time."""
        return sorted(
            line["time"][-6:] for line in self.events("frame.ready")
            if attempt in (None, line["attempt"]) and line["stream"] == stream
        )  # fmt: skip

    def await_that(self, holds: Any, what: str, limit_s: float = LIMIT_S) -> None:
        """Wait until ``holds()``."""
        end = time.monotonic() + limit_s
        while not holds():
            assert time.monotonic() < end, f"no {what} within {limit_s:.0f} s:\n{self.said()}"
            time.sleep(0.05)

    def await_event(self, name: str, count: int = 1, limit_s: float = LIMIT_S) -> None:
        """Wait until the journal has so many events of that name."""
        self.await_that(lambda: len(self.events(name)) >= count, f"{count} {name}", limit_s)

    def close(self) -> None:
        """End all that was started."""
        for writer in self.writers:
            with contextlib.suppress(ProcessLookupError):
                writer.kill()
            writer.wait()
        end_processes(self.folder)

    # What must hold after it.

    def faults(self) -> list[str]:
        """What is wrong with a look that has ended: nothing twice, nothing lost, nothing early."""
        return [*self.faults_so_far(), *self._left()]

    def faults_so_far(self) -> list[str]:
        """The same of a look that goes on."""
        return [*self._counts(), *self._files(), *self._early()]

    def _counts(self) -> Iterator[str]:
        frames = Counter(_about(line) for line in self.events("frame.ready"))
        states: defaultdict[Any, set[tuple[int, ...]]] = defaultdict(set)
        for line in self.events("frame.ready"):
            states[_about(line)].add(tuple(line["fingerprint"]))
        for about, count in frames.items():
            if count > len(states[about]):  # once more is for another fingerprint
                yield f"frame.ready {count} times: {about}"
        published = Counter(
            (line["product"], *_about(line)) for line in self.events("product.published")
        )
        yield from (f"published {n} times: {about}" for about, n in published.items() if n > 1)
        superseded = {(e["product"], e["stream"], e["time"]) for e in
                      self.events("product.superseded")}  # fmt: skip
        several = Counter(about[:3] for about in published)
        for about, count in several.items():
            if count > 1 and about not in superseded:
                yield f"published of several attempts, and not superseded: {about}"

    def newest(self) -> dict[tuple[str, str, str], dict[str, Any]]:
        """What is published, by product, stream and time: the latest event of each."""
        return {
            (line["product"], line["stream"], line["time"]): line
            for line in self.events("product.published")
        }

    def _files(self) -> Iterator[str]:
        products = self.run / "products"
        for line in self.newest().values():
            data = (products / line["name"]).read_bytes()
            if (len(data), zlib.crc32(data)) != (line["bytes"], line["crc32"]):
                yield f"{line['name']} is not what the journal says"
            if (line["facts"] or {}).get("placeholder"):
                yield f"{line['name']} is a placeholder"

    def _early(self) -> Iterator[str]:
        """Products ``content`` whose bits are not those of the final file."""
        frames = {(e["stream"], e["time"]): e for e in self.events("frame.ready")}
        for (product, stream, moment), line in self.newest().items():
            if not product.startswith("content"):
                continue
            seen = json.loads((self.run / "products" / line["name"]).read_text())
            frame = frames[stream, moment]
            name = frame["file"]
            whole = sorted(
                path.name for path in self.model.iterdir()
                if path.name == name or re.fullmatch(re.escape(name) + r"_\d{4}", path.name)
                or (re.fullmatch(r".*_\d{4}", name) and path.name[:-5] == name[:-5])
            )  # fmt: skip
            final = content(self.model, whole, stream, moment, frame["record"])
            if not seen or seen != final:
                differ = [name for name in final if seen.get(name) != final[name]]
                yield f"{stream} {moment} was read too early: {differ}"

    def _left(self) -> Iterator[str]:
        incoming = list((self.run / "products" / ".incoming").iterdir())
        if incoming:
            yield f"left in .incoming: {[path.name for path in incoming]}"
        end = time.monotonic() + ENDS_S
        while left := self.processes():
            if time.monotonic() > end:
                yield f"still alive {ENDS_S:.0f} s after the end: {left}"
                return
            time.sleep(0.1)

    def processes(self) -> dict[int, str]:
        """Live processes of the looks: neither writers nor file systems."""
        writers = {writer.pid for writer in self.writers}
        found = live_processes(self.folder)
        return {
            pid: text for pid, text in found.items()
            if pid not in writers and "fuse_folder.py" not in text
        }  # fmt: skip


def content(
    folder: Path, files: list[str], stream: str, moment: str, record: int
) -> dict[str, int]:
    """What the product ``content`` shows of a frame of the final files."""
    reader = FrameReader([folder / name for name in files], record, stream, moment)
    try:
        return {
            name: zlib.crc32(np.ascontiguousarray(reader.read(name)).tobytes())
            for name in sorted(reader.names)
        }
    finally:
        reader.close()


def _about(line: dict[str, Any]) -> tuple[str, str, int]:
    return line["stream"], line["time"], line["attempt"]


def touched(log: Path, folder: Path) -> list[str]:
    """The lines of ``strace -y`` that change or lock what lies below a folder."""
    place = str(folder)
    return [
        line for line in log.read_text(errors="replace").splitlines()
        if place in line and FORBIDDEN.match(line) and not _is_elsewhere(line, place)
    ]  # fmt: skip


def _is_elsewhere(line: str, place: str) -> bool:
    """Whether the call is on another file: only its data or a link's target names the folder."""
    call, _, rest = line.partition("(")
    name = call.rsplit(" ", 1)[-1]
    if name in {"symlink", "symlinkat"}:
        return place not in rest.partition(", ")[2]
    if name in {"write", "writev", "pwrite64", "pwritev"}:
        return place not in rest.partition(">")[0]
    return False
