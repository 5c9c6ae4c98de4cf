"""A damaged run directory is refused by name, and hides no other run, whatever the damage.

A seed determines the damage, and a failure prints it; ``BURSTLENS_DAMAGE_SEED=N`` repeats one seed,
``BURSTLENS_DAMAGE_SEEDS=N`` sets how many are tried.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from burstlens.clients.cli import app
from burstlens.core.errors import BurstlensError
from burstlens.core.run.directory import RunDir

pytestmark = pytest.mark.integration

SEEDS = int(os.environ.get("BURSTLENS_DAMAGE_SEEDS", "40"))
FEW = 10
"""The seeds of `make test`; `make test-slow` uses the rest."""
FILES = ("run.json", "status.json", "journal.jsonl", "products/index.jsonl", "recipe.toml",
         "start.json", "driver-1", "sentinel.jsonl", "attempts/1/ended.json",
         "attempts/1/started.json", "attempts/1/job.json")  # fmt: skip
COMMANDS = (
    ["status", "r"], ["status", "r", "--json"], ["list"], ["list", "--json"], ["stop", "r"],
    ["pause", "r"], ["resume-watching", "r"], ["resume", "r"], ["free", "r"], ["watch", "r"],
    ["report", "r"], ["movie", "r"], ["cinema", "r"], ["crate", "r"], ["add", "r", "more.toml"],
    ["buffers"], ["support", "r"],
)  # fmt: skip
ODD = (None, True, -1, 1.5, 10**30, 1e300, "", "x" * 50, "\x1b[2J\ud800", [], [[]], {}, {"a": {}},
       "../../etc", [1, "a"], float("nan"))  # fmt: skip


def places(value, at=()):
    """Paths to every member of a JSON value."""
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, one in inner:
        yield (*at, key)
        yield from places(one, (*at, key))


def changed(value, draw):
    """The value with one member dropped, or of another type, or with one more."""
    found = list(places(value))
    if not found:
        return draw.choice(ODD)
    *way, last = draw.choice(found)
    inner = value
    for key in way:
        inner = inner[key]
    if draw.random() < 0.4:
        del inner[last]
    else:
        inner[last] = draw.choice(ODD)
    return value


def newer(value, draw):
    value |= {"format": 99, "burstlens": "9.9"}
    return value


def rewritten(path, draw, change):
    """A JSON file, or one line of a file of them, changed."""
    if path.suffix != ".jsonl":
        path.write_text(json.dumps(change(json.loads(path.read_text()), draw)))
        return
    lines = path.read_text().splitlines()
    at = 0 if change is newer else draw.randrange(len(lines))  # a driver's first line has it
    lines[at] = json.dumps(change(json.loads(lines[at]), draw))
    path.write_text("\n".join(lines) + "\n")


def damage(path, draw):
    """Damage a file in one of many ways; returns which."""
    ways = {
        "gone": lambda: path.unlink(),
        "folder": lambda: (path.unlink(), path.mkdir()),
        "pipe": lambda: (path.unlink(), os.mkfifo(path)),
        "loop": lambda: (path.unlink(), path.symlink_to(path.name)),
        "empty": lambda: path.write_bytes(b""),
        "cut": lambda: os.truncate(path, draw.randrange(1 + path.stat().st_size)),
        "binary": lambda: path.write_bytes(
            draw.randbytes(2000) + b"\n" + draw.randbytes(50) + b"\n"
        ),
        "zeros": lambda: splice(path, draw, b"\0" * 100 + b"\n"),
        "huge": lambda: splice(path, draw, b'{"x":"' + b"y" * 3_000_000 + b'"}\n'),
        "deep": lambda: splice(path, draw, b"[" * 100_000 + b"\n"),
        "nested": lambda: path.write_text('{"a":' * 300 + "1" + "}" * 300 + "\n"),
        "list": lambda: path.write_text("[1]\n"),
    }
    if path.suffix != ".toml":
        ways["newer"] = lambda: rewritten(path, draw, newer)
        for number in range(8):
            ways[f"member {number}"] = lambda: rewritten(path, draw, changed)
    name = draw.choice(sorted(ways))
    ways[name]()
    return name


def splice(path, draw, line):
    lines = path.read_bytes().splitlines(keepends=True)
    lines.insert(draw.randrange(len(lines) + 1), line)
    path.write_bytes(b"".join(lines))


@pytest.fixture(scope="session")
def finished(standing):
    """The directory of a run that was stopped, with all files."""
    standing.stopped()
    return standing.runs / "stopped"


@pytest.fixture
def two_runs(finished, tmp_path, monkeypatch):
    """A folder with that run as ``r``, and another one, whole."""
    folder = tmp_path / "runs"
    monkeypatch.setenv("BURSTLENS_RUNS", str(folder))
    monkeypatch.setenv("BURSTLENS_BUFFER", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in ("r", "whole"):
        shutil.copytree(finished, folder / name)
    run = RunDir(folder / "r")
    (run.path / "sentinel.jsonl").write_text('{"t": 1.0, "guard": "g", "text": "x"}\n')
    Path("more.toml").write_text('[[product]]\nname = "u"\nkind = "map"\nvariable = "U"\n')
    # Nothing here may start a model: a resume that gets so far has read every file.
    monkeypatch.setattr("burstlens.clients.driving.drive", lambda run, **_: 0)
    return run


def said(words):
    """Exit code and output of a command, as ``main`` prints it; a traceback fails the test."""
    done = CliRunner().invoke(app, words)
    error = done.exception
    if isinstance(error, BurstlensError):
        return 1, str(error)
    if isinstance(error, OSError) and error.filename is not None:
        return 1, f"{error.filename}: {error.strerror}"
    if error is not None and not isinstance(error, SystemExit):
        raise error
    return done.exit_code, done.output


def check(run, name, words):
    code, text = said(words)
    assert code in (0, 1, 2), (words, code, text)
    assert "Traceback" not in text
    assert "\x1b" not in text
    if words[0] == "list":
        assert code == 0
        assert "whole" in text
    if code and words[0] in {"status", "resume"}:
        assert str(run.path) in text or f'no run "{run.id}"' in text, (words, text)
        if name.endswith(".jsonl") and name in text:
            assert ", line " in text or "cannot read" in text, (words, text)


def _seeds():
    one = os.environ.get("BURSTLENS_DAMAGE_SEED")
    if one:
        return [[int(one)]]
    return [range(FEW), pytest.param(range(FEW, SEEDS), marks=pytest.mark.slow)]


@pytest.mark.parametrize("seeds", _seeds())
def test_no_damage_leads_to_a_traceback_or_hides_another_run(two_runs, tmp_path, seeds):
    whole = tmp_path / "kept"
    shutil.copytree(two_runs.path, whole, symlinks=True)
    for seed in seeds:
        draw = random.Random(seed)
        shutil.rmtree(two_runs.path)
        shutil.copytree(whole, two_runs.path, symlinks=True)
        name = draw.choice([one for one in FILES if (two_runs.path / one).is_file()])
        way = damage(two_runs.path / name, draw)
        for words in (["status", "r"], ["list"], *draw.sample(COMMANDS, 4)):
            try:
                check(two_runs, name, words)
            except Exception as error:
                error.add_note(f"BURSTLENS_DAMAGE_SEED={seed}: {name}, {way}; {words}")
                raise
