"""The checker of runs finds each kind of damage, and nothing in a run that is whole."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from run_case import TESTS, TIMES, TRACE
from run_checker import Evidence, violations

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def whole(standing: Any, tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """A run that is done, and what its model writes undisturbed."""
    ended = standing.done()
    folder = tmp_path_factory.mktemp("evidence")
    reference = folder / "reference"
    reference.mkdir()
    command = [sys.executable, TESTS / "replay.py", TRACE, "--speed", "1000"]
    command += ["--record", folder / "record"]
    subprocess.run(command, cwd=reference, check=True)
    record = folder / "record"
    record.write_text(record.read_text().replace(str(reference.resolve()), "/buffer/r/1"))
    return Evidence(
        run=standing.runs / "done",
        reference=reference,
        record=record,
        products={"w": "map", "core": "vtk"},
        exit_code=ended.returncode,
        said=ended.said,
    )


@pytest.fixture
def mine(whole: Evidence, tmp_path: Path) -> Evidence:
    """The same run, to be broken."""
    shutil.copytree(whole.run, tmp_path / "r", symlinks=True)
    return replace(whole, run=tmp_path / "r")


def test_nothing_is_wrong_with_a_run_that_is_whole(whole: Evidence) -> None:
    assert violations(whole) == []


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines(keepends=True)


def rewrite(path: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Change the JSON lines of a file."""
    lines = [json.loads(line) for line in lines_of(path)]
    change(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def without(run: Path, event: str) -> None:
    """Take the first such line out of the journal."""
    rewrite(
        run / "journal.jsonl",
        lambda lines: lines.remove(next(line for line in lines if line["event"] == event)),
    )


def twice(path: Path, place: int) -> None:
    lines = lines_of(path)
    path.write_text("".join([*lines, lines[place]]))


def change_product(run: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    """Give a product other bytes, and journal and index their checksum: only its sense is wrong."""
    path = run / "products" / name
    path.write_bytes(change(path.read_bytes()))
    data = path.read_bytes()
    facts = {"bytes": len(data), "crc32": zlib.crc32(data)}
    for file in (run / "journal.jsonl", run / "products" / "index.jsonl"):
        rewrite(file, lambda ls: [line.update(facts) for line in ls if line.get("name") == name])


W, CORE = (f"{name}/{name}_d01_{TIMES[1]}" for name in ("w", "core"))
OTHER = f"core/core_d01_{TIMES[2]}.vts"


def swap_frames(run: Path) -> None:
    """Show another frame's volume under this one's name."""
    other = (run / "products" / OTHER).read_bytes()
    change_product(run, f"{CORE}.vts", lambda _: other)


def as_of_another_attempt(run: Path) -> None:
    def change(lines: list[dict[str, Any]]) -> None:
        for line in lines:
            if line["event"] == "frame.ready":
                line["attempt"] = 2

    rewrite(run / "journal.jsonl", change)


def end_with(run: Path, **fields: object) -> None:
    def change(lines: list[dict[str, Any]]) -> None:
        next(line for line in lines if line["event"] == "run.ended").update(fields)

    rewrite(run / "journal.jsonl", change)


def status(run: Path, change: Callable[[dict[str, Any]], object]) -> None:
    found = json.loads((run / "status.json").read_text())
    change(found)
    (run / "status.json").write_text(json.dumps(found))


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a product is gone": (
        lambda run: (run / "products" / f"{W}.png").unlink(), "has 0 bytes"),
    "a bit of a product": (
        lambda run: flip(run / "products" / f"{CORE}.vts"), "are not the journal's"),
    "a bit of its values": (
        lambda run: flip(run / "products" / f"{W}.values.js"), "are not the journal's"),
    "a cut picture": (
        lambda run: change_product(run, f"{W}.png", lambda data: data[:-900]), "does not open"),
    "another frame": (swap_frames, "the model's is another"),
    "no publication": (lambda run: without(run, "product.published"), "never published"),
    "published out of nothing": (
        lambda run: without(run, "product.publishing"), "without product.publishing"),
    "published twice": (
        lambda run: rewrite(run / "journal.jsonl", lambda lines: lines.insert(-1, dict(
            next(line for line in lines if line["event"] == "product.published"), t=0))),
        "published 2 times"),
    "a line of the journal twice": (
        lambda run: twice(run / "journal.jsonl", 5), "journalled 2 times"),
    "half a line of the journal": (
        lambda run: append(run / "journal.jsonl", '{"t":1'), "half a line"),
    "a damaged line of the journal": (
        lambda run: append(run / "journal.jsonl", "{]\n"), "cannot be judged"),
    "a line of an earlier driver": (
        lambda run: rewrite(run / "journal.jsonl", lambda lines: lines[3].update(driver=2)),
        "of an earlier driver"),
    "a frame is missing": (lambda run: without(run, "frame.ready"), "never ready"),
    "a frame twice": (
        lambda run: rewrite(run / "journal.jsonl", lambda lines: lines.insert(-1, dict(
            next(line for line in lines if line["event"] == "frame.ready"), t=0))),
        "frame.ready 2 times"),
    "a damaged frame": (
        lambda run: rewrite(run / "journal.jsonl", lambda lines: lines.insert(-1, dict(
            lines[0], event="frame.damaged", attempt=1, time=TIMES[0], reason="cut"))),
        "damaged in attempt 1"),
    "a frame before it was written": (as_of_another_attempt, "not written whole in attempt 2"),
    "a line of the index twice": (
        lambda run: twice(run / "products" / "index.jsonl", 0), "listed 2 times"),
    "a line of the index is missing": (
        lambda run: rewrite(run / "products" / "index.jsonl", lambda lines: lines.pop(0)),
        "only in the index"),
    "a wrong count of the page": (
        lambda run: (run / "products" / "live" / "count.js").write_text("burstlensCount(2,7);"),
        "the page's count"),
    "a foreign product": (
        lambda run: (run / "products" / "w" / "w_d01_x.png").touch(), "unknown file"),
    "a file on its way": (
        lambda run: (run / "products" / ".incoming" / "w.d01.x").touch(), "unknown file"),
    "a temporary file": (lambda run: (run / ".status.json.1.part").touch(), "temporary file"),
    "a request": (lambda run: (run / "control" / "stop").touch(), "left in control"),
    "a raw file is missing": (
        lambda run: next((run / "output").iterdir()).unlink(), "missing, foreign"),
    "a bit of a raw file": (
        lambda run: flip(next((run / "output").iterdir())), "not the model's bytes"),
    "no log": (
        lambda run: (run / "logs" / "attempt-1" / "rsl.error.0000").unlink(), "is not home"),
    "another exit code in the journal": (
        lambda run: end_with(run, exit_code=4), "the journal ends with"),
    "another state in the journal": (
        lambda run: end_with(run, outcome="stopped"), "the journal ends with"),
    "another state in the status": (
        lambda run: status(run, lambda it: it.update(state="running")), "status.json says"),
    "another exit code in the status": (
        lambda run: status(run, lambda it: it["outcome"].update(exit_code=5)), "status.json says"),
    "something left by the status": (
        lambda run: status(run, lambda it: it["outcome"].update(left="buffer x")), "is left"),
    "two simulations in one attempt": (
        lambda run: rewrite(run / "journal.jsonl", lambda lines: lines.insert(-1, dict(
            next(line for line in lines if line["event"] == "simulation.submitted"), job_id="x"))),
        "2 simulations"),
    "a buffer given back twice": (
        lambda run: rewrite(run / "journal.jsonl", lambda lines: lines.insert(-1, dict(
            next(line for line in lines if line["event"] == "buffer.released"), t=0))),
        "released 2 times"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_found(mine: Evidence, name: str) -> None:
    damage, words = DAMAGE[name]
    damage(mine.run)
    found = violations(mine)
    assert any(words in one for one in found), found


def test_another_exit_code_and_a_traceback_are_found(whole: Evidence) -> None:
    said = "Traceback (most recent call last):\n  File ...\nKeyError: 'x'"
    assert violations(replace(whole, exit_code=1, said=said)) == [
        "exit code 1 of a run that is done",
        "a traceback: KeyError: 'x'",
    ]


def test_a_process_and_files_that_are_left_are_found(whole: Evidence, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    (scratch / "burstlens-1").mkdir(parents=True)
    left = replace(whole, marker=tmp_path, owned_folders=(scratch,))
    assert violations(left, ends_s=0) == []
    (scratch / "burstlens-1" / "r-0").mkdir()
    process = subprocess.Popen(["sleep", "60"], cwd=tmp_path)
    try:
        alive, files = violations(left, ends_s=0)
    finally:
        process.kill()
        process.wait()
    assert f"still alive 0 s after the end: {{{process.pid}: 'sleep 60 '}}" in alive
    assert files == "left in scratch: ['burstlens-1/r-0']"


def test_a_model_of_another_field_is_found(whole: Evidence, tmp_path: Path) -> None:
    """Frames are compared with the model's: a reference with other values condemns all."""
    import netCDF4

    shutil.copytree(whole.reference, tmp_path / "reference")
    for path in (tmp_path / "reference").glob("wrfout_*"):
        with netCDF4.Dataset(path, "r+") as file:
            file["W"][:] = file["W"][:] + 1
    found = violations(replace(whole, reference=tmp_path / "reference", kept=False))
    assert sum("the model's is another" in one for one in found) == len(TIMES)
    assert sum("the model has" in one for one in found) == len(TIMES)
