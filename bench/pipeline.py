"""A real run of the pipeline, started as a user starts it, and its journal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.census import MARK, Census
from burstlens.core.run.journal import read_records
from burstlens.core.valid_time import elapsed_key

WRITER = Path(__file__).with_name("writer.py")
POLL_S = 0.1
MAP = """
[[product]]
name = "map"
kind = "map"
variable = "v0"
level = 10
limits = [-13.0, 13.0]
"""


@dataclass(frozen=True, slots=True)
class Scratch:
    """Where a bench works: ``buffer`` in memory where there is room, ``runs`` on a disk."""

    buffer: Path
    runs: Path

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a ``burstlens`` command that works there."""
        return {
            **os.environ,
            "BURSTLENS_BUFFER": str(self.buffer),
            "BURSTLENS_RUNS": str(self.runs),
            "BURSTLENS_SITES": str(self.runs / "sites"),
            "OMP_NUM_THREADS": "1",
        }


@dataclass(frozen=True)
class Ran:
    """A run that has ended well. ``closed`` gives the Unix second of the close of each frame."""

    path: Path
    census: Census
    events: list[dict[str, Any]]

    @cached_property
    def notes(self) -> list[dict[str, Any]]:
        """What the writer has noted of each frame."""
        lines = (self.path / "output" / "closed.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    @cached_property
    def closed(self) -> dict[str, float]:
        """The closes by valid-time key."""
        return {elapsed_key(note["elapsed_s"]): float(note["closed"]) for note in self.notes}

    @cached_property
    def followed(self) -> dict[str, float]:
        """When the next frame was begun, by valid-time key."""
        return {
            elapsed_key(note["elapsed_s"]): float(after["begun"])
            for note, after in pairwise(self.notes)
        }

    @cached_property
    def published(self) -> list[dict[str, Any]]:
        """The journal's ``product.published`` events, in order."""
        return [event for event in self.events if event["event"] == "product.published"]

    def latencies(self, skip: int = 1) -> dict[str, list[float]]:
        """Seconds from close to published, by the signal that decided; ``skip`` first frames."""
        found: dict[str, list[float]] = {}
        for event in self.published:
            if event["time"] >= elapsed_key(skip):
                latency = float(event["t"]) - self.closed[event["time"]]
                found.setdefault(str(event["facts"]["signal"]), []).append(latency)
        return found

    def after_the_next(self, skip: int = 1) -> list[float]:
        """Seconds from the next frame's beginning to published, where that decided."""
        return [
            float(event["t"]) - self.followed[event["time"]]
            for event in self.published
            if event["time"] >= elapsed_key(skip) and event["facts"]["signal"] == "later"
        ]


def burstlens(*words: str) -> list[str]:
    """The command as the environment of this Python has it."""
    return [sys.executable, "-m", "burstlens", *words]


def run(
    scratch: Scratch,
    name: str,
    writer: Mapping[str, object],
    product: str = MAP,
    *,
    workers: int = 1,
    log: bool = True,
    files: Mapping[str, str] | None = None,
    expected: int = 0,
) -> Ran:
    """Run the writer, with these options, under the pipeline.

    RuntimeError when it ends with another exit code than the ``expected`` one.
    """
    argv = writer_argv(**writer, **({"log": True} if log else {}))
    return run_model(scratch, name, argv, product, workers=workers, files=files, expected=expected)


def writer_argv(**options: object) -> list[str]:
    """The writer's argument list; an option that is True is a switch, a list several words."""
    words = [sys.executable, str(WRITER)]
    for key, value in options.items():
        words.append(f"--{key}")
        if value is not True:
            words += [str(v) for v in (value if isinstance(value, list) else [value])]
    return words


def run_model(
    scratch: Scratch,
    name: str,
    argv: Sequence[str],
    product: str,
    *,
    frames: str | Mapping[str, str] = "frame_*.nc",
    written: str = r"wrote (?P<file>\S+)",
    workers: int = 1,
    files: Mapping[str, str] | None = None,
    inputs: Mapping[str, str] | None = None,
    keep: str = "closed.jsonl",
    expected: int = 0,
) -> Ran:
    """Run any program that writes frames.

    ``files`` go beside the recipe and ``inputs`` among the model's, text by name.
    """
    folder = scratch.runs / "recipes" / name
    (folder / "inputs").mkdir(parents=True)
    for place, texts in ((folder, files), (folder / "inputs", inputs)):
        for file, text in (texts or {}).items():
            (place / file).write_text(text)
    write_site(scratch, workers)
    recipe = folder / "recipe.toml"
    # A JSON string or list of strings is one of TOML too.
    recipe.write_text(
        f'title = "{name}"\n[simulation]\nmodel = "command"\ninputs = "inputs"\n'
        f"command = {json.dumps(list(argv))}\nframes = {_toml(frames)}\n"
        f"written = {json.dumps(written)}\ndone = {json.dumps('done')}\n"
        f'[buffer]\ncapacity = "6 GiB"\nraw = "release"\n'
        f"[stage_out]\nkeep = {json.dumps([keep])}\n{product}"
    )
    mark = uuid.uuid4().hex
    words = burstlens("run", str(recipe), "--site", f"bench-{workers}", "--name", name, "--json")
    with Census(mark) as census:
        ended = subprocess.run(
            words,
            env={**scratch.environment, MARK: mark},
            capture_output=True,
            text=True,
            check=False,
        )
    if ended.returncode != expected:
        said = ended.stderr or ended.stdout  # with --json only an outcome is printed
        raise RuntimeError(f"{name}: exit code {ended.returncode}: {said[-2000:]}")
    path = scratch.runs / name
    return Ran(path, census, list(read_records(path / "journal.jsonl")))


def _toml(value: str | Mapping[str, str]) -> str:
    if isinstance(value, str):
        return json.dumps(value)
    return "{ " + ", ".join(f"{key} = {json.dumps(text)}" for key, text in value.items()) + " }"


def write_site(scratch: Scratch, workers: int) -> None:
    """A site ``bench-WORKERS``, with its buffer in the scratch's."""
    folder = scratch.runs / "sites"
    folder.mkdir(exist_ok=True)
    (folder / f"bench-{workers}.toml").write_text(
        f'[buffer]\nfolders = ["$BURSTLENS_BUFFER"]\n'
        f"[viewing]\nworkers = {workers}\npoll_interval_s = {POLL_S}\n"
    )
