"""Files that are written again: by a rerun, by a ``touch``, or on and on by a restarted job."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest
from look_case import CHAINED, TESTS, LookCase

pytestmark = pytest.mark.integration
FRAMES = 4


@pytest.fixture
def cf(case: LookCase) -> Callable[..., None]:
    """Writes CF files into the folder, to the end."""

    def write(*words: str) -> None:
        command = [sys.executable, TESTS / "cf_writer.py", case.model, *words]
        assert subprocess.run(command, check=False).returncode == 0

    return write


@pytest.fixture
def live(case: LookCase) -> Iterator[Callable[..., None]]:
    """Begins a look that goes on until the test ends it."""
    looks = []

    def begin(*words: str) -> None:
        looks.append(case.burstlens("look", str(case.model), "--detach", *words))
        assert case.end(looks[-1]) == 0

    yield begin
    if looks:
        case.stop()


def _settle(case: LookCase) -> None:
    """Wait for what a sweep and a comparison may find."""
    time.sleep(6.0)
    assert case.faults_so_far() == []


@pytest.mark.parametrize(
    "how",
    [
        pytest.param((), marks=pytest.mark.slow, id="in place"),
        pytest.param(("--rename",), marks=pytest.mark.fault, id="renamed"),
        pytest.param(("--growing",), marks=pytest.mark.fault, id="growing"),
    ],
)
def test_a_rerun_supersedes_and_a_rerun_with_equal_fields_does_not(
    case: LookCase, cf: Callable[..., None], live: Callable[..., None], how: tuple[str, ...]
) -> None:
    cf(*how)
    live("--recipe", "content.toml")
    case.await_event("product.published", FRAMES)
    cf(*how)
    _settle(case)
    assert len(case.events("product.published")) == FRAMES
    assert [line["attempt"] for line in case.events("attempt.observed")] == [1]
    cf("--offset", "1", *how)
    case.await_event("product.superseded", FRAMES)
    case.await_event("product.published", 2 * FRAMES)
    _settle(case)
    assert len(case.events("product.published")) == 2 * FRAMES
    assert [line["attempt"] for line in case.events("attempt.observed")] == [1, 2]
    assert "written anew" in case.events("attempt.observed")[-1]["evidence"]
    assert {line["attempt"] for line in case.newest().values()} == {2}


@pytest.mark.fault
def test_a_touched_folder_is_not_a_rerun_and_a_second_look_finds_what_changed(
    case: LookCase, cf: Callable[..., None]
) -> None:
    cf()
    quiet = "--recipe", "content.toml", "--quiet-after", "4s"
    assert case.look(*quiet) == 0
    for path in case.model.iterdir():
        os.utime(path)
    assert case.look(*quiet) == 0
    assert case.faults() == []
    assert len(case.events("product.published")) == FRAMES
    assert len(case.events("attempt.observed")) == 1
    cf("--first", "2", "--frames", "3", "--offset", "1")
    assert case.look(*quiet) == 0
    assert case.faults() == []
    assert len(case.events("product.published")) == FRAMES + 3
    assert {line["time"][-6:] for line in case.events("product.superseded")} == {"020000", "030000"}
    assert [line["attempt"] for line in case.events("attempt.observed")] == [1, 2]


@pytest.mark.fault
def test_a_job_that_goes_on_later_in_time_continues_the_series(
    case: LookCase, cf: Callable[..., None]
) -> None:
    case.recipe("chain.toml", CHAINED)
    cf("--frames", "2")
    model = case.writer(
        sys.executable, TESTS / "cf_writer.py", case.model, "--first", "2", "--frames", "3",
        "--interval", "3",
    )  # fmt: skip
    assert case.look("--recipe", "chain.toml", "--quiet-after", "15s") == 0
    assert model.wait() == 0
    assert case.faults() == []
    _chain_is_whole(case, 5)
    assert len(case.events("attempt.observed")) == 1


@pytest.mark.fault
def test_a_wrf_restart_with_a_new_log_is_another_attempt_of_one_series(
    case: LookCase, live: Callable[..., None]
) -> None:
    case.recipe("chain.toml", CHAINED)
    first = case.write("netcdf4_one", "--interval", "2", "--cut-at", str(case.frame_starts()[2]))
    live("--recipe", "chain.toml")
    first.wait()
    case.await_event("product.published", 2)
    (case.model / "rsl.error.0000").unlink()
    case.write("netcdf4_one", "--first", "2", "--speed", "0.3").wait()
    case.await_event("product.published", 3)
    _settle(case)
    assert [line["attempt"] for line in case.events("attempt.observed")] == [1, 2]
    assert case.events("product.superseded") == []
    assert [line["attempt"] for line in case.events("frame.ready")] == [1, 1, 2]
    _chain_is_whole(case, 3)


@pytest.mark.slow
def test_a_wrf_rerun_over_old_files_is_shown_as_it_comes_and_never_early(
    case: LookCase, live: Callable[..., None]
) -> None:
    case.written("netcdf4_one")
    old = time.time() - 7 * 86400
    for path in case.model.iterdir():
        os.utime(path, (old, old))
    live("--recipe", "content.toml")
    case.await_event("product.published", 3)
    (case.model / "rsl.error.0000").write_text("")  # as a shell's > does
    case.write("nest", "--interval", "4").wait()
    case.await_that(lambda: case.times(2) == ["000000", "000100"], "frames of the rerun")
    _settle(case)
    assert case.times(2) == ["000000", "000100"]
    newest = {key[2][-6:]: line["attempt"] for key, line in case.newest().items()}
    assert newest == {"000000": 2, "000100": 2, "000200": 1}
    assert case.faults_so_far() == []


@pytest.mark.fault
def test_of_two_files_with_one_valid_time_the_newer_one_counts(
    case: LookCase, cf: Callable[..., None], live: Callable[..., None]
) -> None:
    cf("--frames", "3")
    live("--recipe", "content.toml")
    case.await_event("product.published", 3)
    cf("--first", "2", "--frames", "3", "--offset", "2", "--growing", "--name", "out_1{:02d}.nc")
    case.await_event("product.published", 6)
    _settle(case)
    newest = {key[2][-6:]: line for key, line in case.newest().items()}
    assert sorted(newest) == ["000000", "010000", "020000", "030000", "040000"]
    files = {line["time"][-6:]: line["file"] for line in case.events("frame.ready")}
    assert files["020000"] == "out_102.nc"


def _chain_is_whole(case: LookCase, count: int) -> None:
    """The chained product of the last frame has seen all frames, each once, in order."""
    last = max(case.newest().items(), key=lambda item: item[0][2])[1]
    seen = json.loads((case.run / "products" / last["name"]).read_text())
    assert seen == sorted(set(seen))
    assert len(seen) == count
