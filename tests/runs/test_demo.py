"""The demo as another process sees it: inotify on the buffer and on the products."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import struct
import threading
import time
from pathlib import Path

import pytest
from PIL import Image

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

RECIPES = Path(__file__).parents[2] / "workflows" / "recipes"
CLOSE_WRITE, MOVED_TO, CREATE, MODIFY = 0x8, 0x80, 0x100, 0x2
_EVENT = struct.Struct("iIII")


class Observer:
    """Notes (time, event, path) of what happens in folders, also those made later."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None, use_errno=True)
        self._descriptor = self._library.inotify_init1(0)
        self._folders: dict[int, Path] = {}
        self.seen: list[tuple[float, int, Path]] = []
        threading.Thread(target=self._read, daemon=True).start()

    def add(self, folder: Path) -> None:
        number = self._library.inotify_add_watch(
            self._descriptor, os.fsencode(folder), CLOSE_WRITE | MOVED_TO | CREATE | MODIFY
        )
        self._folders[number] = folder

    def _read(self) -> None:
        while True:
            block = os.read(self._descriptor, 65536)
            now, at = time.monotonic(), 0
            while at < len(block):
                number, mask, _, length = _EVENT.unpack_from(block, at)
                name = block[at + 16 : at + 16 + length].rstrip(b"\0").decode()
                at += 16 + length
                self.seen.append((now, mask, self._folders[number] / name))


@pytest.fixture(scope="module")
def observed(scene):
    made = scene("demo")
    shutil.rmtree(made.folder / "inputs")
    shutil.copytree(RECIPES / "seismic-basin", made.folder, dirs_exist_ok=True)
    parameters = made.folder / "awm.toml"
    whole = parameters.read_text()
    assert "steps = 1200" in whole
    assert "surface_every = 20" in whole
    # 40 frames, each after 0.4 s of an idle machine: four other tests have the same two cores.
    whole = whole.replace("steps = 1200", "steps = 2400")
    parameters.write_text(whole.replace("surface_every = 20", "surface_every = 60"))
    observer = Observer()
    process = made.start()
    facts = made.run_dir / "run.json"
    while not facts.is_file():
        time.sleep(0.01)
    on_buffer = json.loads(facts.read_text())["buffer_folder"]
    waiting = {
        made.folder / "buffer" / f"burstlens-{os.getuid()}" / on_buffer / "1",
        made.run_dir / "products" / "ground",
    }
    while process.poll() is None and waiting:
        for folder in sorted(waiting):
            if folder.is_dir():
                observer.add(folder)
                waiting.discard(folder)
        time.sleep(0.002)
    output, _ = process.communicate(timeout=540)
    return made, process.returncode, output, observer.seen


def test_pictures_are_published_while_the_model_writes(observed):
    made, code, output, seen = observed
    assert code == 0, output
    closed: dict[int, float] = {}
    for when, mask, path in seen:
        match = re.fullmatch(r"surface_(\d+)\.nc", path.name)
        if match and mask & CLOSE_WRITE:
            closed[int(match[1])] = when
    published = {
        path.name: when for when, mask, path in seen if path.suffix == ".png" and mask & MOVED_TO
    }
    pictures = sorted(path.name for path in (made.run_dir / "products" / "ground").glob("*.png"))
    assert len(pictures) == len(closed) >= 40
    # How soon is measured in bench/: other tests have the same two cores.
    assert min(published.values()) < max(closed.values())


def test_nothing_partial_ever_stands_under_a_final_name(observed):
    made, _, _, seen = observed
    assert any(path.suffix == ".png" and mask & MOVED_TO for _, mask, path in seen)
    touched = {path for _, mask, path in seen if path.suffix == ".png" and not mask & MOVED_TO}
    assert touched == set()
    for picture in (made.run_dir / "products" / "ground").glob("*.png"):
        Image.open(picture).verify()
