"""A whole run: a real ``burstlens run`` in a process of its own, in folders of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

BURSTLENS = [sys.executable, "-m", "burstlens"]


@dataclass
class Scene:
    """A folder with inputs and a recipe, and what came of running it."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {
            "BURSTLENS_RUNS": str(self.folder / "runs"),
            "BURSTLENS_BUFFER": str(self.folder / "buffer"),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "XDG_STATE_HOME": str(self.folder / "state"),
        }

    @property
    def run_dir(self) -> Path:
        return self.folder / "runs" / "it"

    def start(self, *arguments: str, recipe: str = "recipe.toml") -> subprocess.Popen:
        (self.folder / "buffer").mkdir(exist_ok=True)
        return subprocess.Popen(
            [*BURSTLENS, "run", recipe, "--name", "it", *arguments],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def call(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [*BURSTLENS, *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def lines(self, name: str) -> list[dict]:
        path = self.run_dir / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def events(self, kind: str) -> list[dict]:
        return [event for event in self.lines("journal.jsonl") if event["event"] == kind]

    def index(self) -> list[dict]:
        return self.lines("products/index.jsonl")

    def on_buffer(self) -> list[Path]:
        return [path for path in (self.folder / "buffer").rglob("*") if path.is_file()]
