"""A look at a folder of somebody's files: its frames, its pictures, its values at places."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import program

LIMIT_S = 200.0
_LONG_AGO_S = 1_100_000_000
"""The files were written in 2004: nobody writes them any more."""


class Looked:
    """One look at a folder of files, to its end."""

    def __init__(self, folder: Path, words: tuple[str, ...] = ()) -> None:
        self._folder = folder
        files = folder / "in"
        for path in [*files.rglob("*"), files]:
            os.utime(path, (_LONG_AGO_S, _LONG_AGO_S))
        self.code, self.said = self.burstlens("look", files, "--no-page", "--all", *words)

    def burstlens(self, *words: str | Path) -> tuple[int, str]:
        """The exit code of ``burstlens words``, its errors and then its output; no traceback."""
        environment = os.environ | {"BURSTLENS_RUNS": str(self._folder / "runs")}
        done = program.burstlens(list(map(str, words)), self._folder, environment, LIMIT_S)
        said = (done.stderr + done.stdout).decode(errors="replace")
        assert "Traceback" not in said, said
        return done.returncode, said

    @property
    def run(self) -> Path:
        """The run directory."""
        found = list((self._folder / "runs").glob("look-*"))
        assert len(found) == 1, f"run directories: {found}\n{self.said}"
        return found[0]

    def events(self, name: str) -> list[dict[str, Any]]:
        """The journal's events of that name."""
        lines = (self.run / "journal.jsonl").read_text().splitlines()
        return [event for event in map(json.loads, lines) if event["event"] == name]

    def times(self) -> list[str]:
        """The keys of the frames' times, of all streams, in order; each once."""
        return sorted({event["time"] for event in self.events("frame.ready")})

    def times_of(self, stream: str) -> list[str]:
        """The keys of a stream's frames, in order; each once."""
        ready = self.events("frame.ready")
        return sorted({event["time"] for event in ready if event["stream"] == stream})

    def products(self) -> set[str]:
        """The names of the products that were made."""
        return {event["product"] for event in self.events("product.published")}

    def series(self, product: str, *place: str) -> dict[str, float | None]:
        """The values of ``burstlens series`` of a product at a place (``--at 46,0``), by time."""
        code, said = self.burstlens("series", self.run.name, product, *place, "--json")
        assert code == 0, said
        return {sample["time"]: sample["value"] for sample in json.loads(said)["samples"]}


@dataclass(frozen=True)
class Case:
    """Files that people have: what writes them into a folder, and what must hold of a look."""

    name: str
    write: Callable[[Path], None]
    check: Callable[[Looked], None]
    words: tuple[str, ...] = field(default=())
