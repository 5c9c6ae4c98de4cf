"""What goes wrong between two attempts, and within one: the end result is that of the run in one
piece, no frame is lost, none comes twice. ``TEST_SEED`` draws other moments."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from parts_case import MODEL, prepare, results
from run_checker import live_processes
from scene_case import BURSTLENS, Scene

pytestmark = pytest.mark.slow

LIMIT_S = 200.0
SLOWER = (
    MODEL.replace("nx = 32", "nx = 72").replace("ny = 28", "ny = 64").replace("nz = 24", "nz = 64")
)
EVERY = '[checkpoint]\nevery = "{every} s"\nkeep = {keep}\n'


@pytest.fixture(scope="module")
def whole(scene) -> dict[str, bytes]:
    """The products of the run in one piece."""
    run = prepare(scene("whole"), model=SLOWER)
    output, _ = (process := run.start()).communicate(timeout=LIMIT_S)
    assert process.returncode == 0, output
    return results(run.run_dir)


@pytest.fixture
def make(scene) -> Iterator[Callable[..., Scene]]:
    """Makes a run whose processes are gone after the test."""
    made: list[Scene] = []

    def of(name: str, keys: str = "", checkpoints: str = "") -> Scene:
        made.append(prepare(scene(name), keys, model=SLOWER))
        with (made[-1].folder / "recipe.toml").open("a") as recipe:
            recipe.write(checkpoints)
        return made[-1]

    yield of
    for run in made:
        for pid in live_processes(run.folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def resume(run: Scene) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*BURSTLENS, "resume", "it"], cwd=run.folder, env=run.environment,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def until(holds: Callable[[], object], driver: subprocess.Popen[str], what: str) -> None:
    """Look again and again, while the driver lives."""
    end = time.monotonic() + LIMIT_S
    while not holds():
        assert time.monotonic() < end, f"{what} did not come"
        assert driver.poll() is None, f"{what} did not come: {driver.stdout.read()}"
        time.sleep(0.001)


def kill(driver: subprocess.Popen[str]) -> None:
    driver.kill()
    driver.communicate()


def ended(run: Scene, attempt: int) -> bool:
    return (run.run_dir / "attempts" / str(attempt) / "ended.json").exists()


def folder(run: Scene, attempt: int) -> Path:
    """The model's folder on the buffer."""
    found = [path for path in run.folder.glob(f"buffer/*/*/{attempt}") if path.is_dir()]
    return found[0] if found else run.folder / "none"


def model_of(run: Scene, attempt: int) -> int | None:
    """The process of the model of that attempt."""
    place = str(folder(run, attempt))
    for pid in live_processes(run.folder):
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
            if os.readlink(f"/proc/{pid}/cwd") == place and b"awm" in words:
                return pid
    return None


def checkpoints(run: Scene) -> dict[str, list[str]]:
    """The files of each checkpoint that is known, by its time."""
    return {one["time"]: one["files"] for one in run.events("checkpoint.whole")}


def is_whole(run: Scene, driver: subprocess.Popen[str], whole: dict[str, bytes]) -> None:
    """The run ends well, with the products of the run in one piece, each published once."""
    output, _ = driver.communicate(timeout=LIMIT_S)
    assert driver.returncode == 0, output
    assert results(run.run_dir) == whole
    keys = ("product", "stream", "time", "attempt")
    published = Counter(tuple(map(one.get, keys)) for one in run.events("product.published"))
    assert max(published.values()) == 1, "published twice"
    frames = Counter(
        (one["stream"], one["time"], one["attempt"]) for one in run.events("frame.ready")
    )
    assert max(frames.values()) == 1


def test_a_driver_killed_as_one_attempt_follows_another_is_followed_by_one_that_goes_on(
    make, whole
):
    draw = random.Random(os.environ.get("TEST_SEED", "1"))
    run = make("changes")
    driver = run.start("--set", "segments=4")
    for attempt in (1, 2, 3):
        until(lambda: ended(run, attempt), driver, f"the end of attempt {attempt}")  # noqa: B023
        time.sleep(draw.uniform(0.0, 0.6))
        if attempt == 2:  # a second driver at the change is refused
            refused = run.call("resume", "it")
            assert refused.returncode != 0
            assert "driver" in refused.stderr
        kill(driver)
        driver = resume(run)
    is_whole(run, driver, whole)
    begins = [one["attempt"] for one in run.events("simulation.submitted")]
    assert sorted(set(begins)) == [1, 2, 3, 4]
    assert len(begins) == len(set(begins)), "an attempt was started twice"


def test_a_model_killed_while_it_writes_a_checkpoint_resumes_from_the_one_before(make, whole):
    run = make("writing", "retries = 1", EVERY.format(every=0.015, keep=2))
    driver = run.start()
    for _ in range(20):
        until(lambda: list(folder(run, 1).glob(".checkpoint_*.part")), driver, "a checkpoint")
        pid = model_of(run, 1)
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        known = {one["time"] for one in run.events("checkpoint.whole")}
        if known and list(folder(run, 1).glob(".checkpoint_*.part")):
            break
        os.kill(pid, signal.SIGCONT)
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    is_whole(run, driver, whole)
    second = run.events("simulation.submitting")[1]
    assert second["checkpoint"] == max(
        one["time"] for one in run.events("checkpoint.whole") if one["attempt"] == 1
    )
    alarms = [one["text"] for one in run.events("alarm")]
    assert any("ended by SIGKILL" in text and "the next one resumes" in text for text in alarms)


def test_a_foreign_checkpoint_and_a_damaged_one_are_suspect_and_the_one_before_is_taken(
    make, whole
):
    run = make("damaged", "retries = 3", EVERY.format(every=0.06, keep=4))
    driver = run.start()
    until(lambda: len(run.events("checkpoint.whole")) > 3, driver, "some checkpoints")
    pid = model_of(run, 1)
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    *_, before, newest = (
        f"t{0.0075 * int(path.stem[-7:]):012.3f}"
        for path in sorted(folder(run, 1).glob("checkpoint_*.awm"))
    )
    until(lambda: newest in checkpoints(run), driver, "word of the newest")
    (folder(run, 1) / "checkpoint_0000090.awm").write_bytes(b"of another program" * 9999)
    foreign = "t00000000.675"
    until(lambda: foreign in checkpoints(run), driver, "word of the foreign one")
    kill(driver)
    damaged = folder(run, 1) / checkpoints(run)[newest][0]
    data = bytearray(damaged.read_bytes())
    data[len(data) // 2] ^= 1
    damaged.write_bytes(data)
    os.kill(pid, signal.SIGKILL)
    is_whole(run, resume(run), whole)
    suspects = [one["time"] for one in run.events("checkpoint.suspect")]
    assert suspects == [foreign, newest]
    begins = {one["attempt"]: one.get("checkpoint") for one in run.events("simulation.submitting")}
    assert begins == {1: None, 2: foreign, 3: newest, 4: before}
    alarms = [one["text"] for one in run.events("alarm")]
    assert any("the next one resumes from" in text for text in alarms)
