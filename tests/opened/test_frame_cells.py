"""Cells of thinned fields are read from frames' files where these are; else why not is known."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from model_grids import GRIDS
from place_truth import shown_field
from values_case import ValuesRun, degrees_grid, ramp

from burstlens.clients.opened import frame_cells
from burstlens.clients.opened.frame_cells import FrameCells
from burstlens.clients.opened.pictured import Pictured
from burstlens.clients.opened.points import Files, Grids
from burstlens.clients.opened.series import Sample, sample
from burstlens.clients.opened.spot import Spot
from burstlens.core.durable import write_json
from burstlens.core.run.index import Published
from burstlens.viz.values import frame_cell

pytestmark = pytest.mark.integration

TIME = "20050828T000000"
MAP = {"name": "t2", "kind": "map", "variable": "tas"}
SPOT = Spot.of(41.6, -3.1)


class ThinnedRun:
    """A run on a buffer, with a frame of which a picture keeps every fourth point."""

    def __init__(self, folder: Path, product: dict[str, Any]) -> None:
        self.made = ValuesRun(folder / "runs")
        self.run = self.made.run
        grid = GRIDS["regular"]()
        self.file = folder / "buffer" / "made" / "1" / "out.nc"
        self.file.parent.mkdir(parents=True)
        grid.write(self.file, grid.lat)
        shown = shown_field(self.file, "tas", 20)
        self.made.publish(0, (shown.values, shown.grid), stride=4)
        facts = {"run": "made", "created": 1.0, "table": {"product": [product]}}
        write_json(self.run.facts, facts)
        self.write_journal(folder)
        self.files, self.grids = Files(self.run.products), Grids()
        self.cells = FrameCells(self.run, "t2", self.files, SPOT, self.grids)

    def write_journal(self, folder: Path) -> None:
        ready = {"event": "frame.ready", "attempt": 1, "stream": "d01", "time": TIME, "record": 0,
                 "file": "out.nc"}  # fmt: skip
        buffer = {"event": "buffer.created", "path": str(folder / "buffer"), "folder": "made"}
        self.run.journal.write_text(json.dumps(buffer) + "\n" + json.dumps(ready) + "\n")

    def cell(self) -> Sample:
        """The sample of the frame."""
        (entry,) = Pictured(self.run, "t2").entries()
        return self.cells.cell(entry, sample(self.files, entry, SPOT, self.grids))


@pytest.fixture
def thinned(tmp_path: Path) -> Iterator[Callable[..., ThinnedRun]]:
    made: list[ThinnedRun] = []

    def make(**product: Any) -> ThinnedRun:
        made.append(ThinnedRun(tmp_path, MAP | product))
        return made[-1]

    yield make
    for one in made:
        one.cells.close()


def test_a_cell_is_read_from_the_buffer_and_from_what_came_home(thinned: Any) -> None:
    run = thinned()
    assert (run.cell().value, run.cell().from_frame) == (41.5, True)
    run.run.output.mkdir()
    run.file.rename(run.run.output / "out.nc")
    assert (run.cell().value, run.cell().from_frame) == (41.5, True)
    (run.run.output / "out.nc").unlink()
    kept = run.cell()
    assert (round(kept.value, 2), kept.from_frame) == (42.0, False)
    assert list(run.cells.reasons) == ["the frames' files are gone"]


def test_a_file_that_a_later_attempt_wrote_is_not_the_picture_s(thinned: Any) -> None:
    run = thinned()
    run.run.output.mkdir()
    run.file.rename(run.run.output / "out.nc")
    assert run.cell().from_frame
    with run.run.journal.open("a") as journal:
        ready = {"event": "frame.ready", "attempt": 2, "stream": "d01", "time": TIME,
                 "file": "out.nc"}  # fmt: skip
        journal.write(json.dumps(ready) + "\n")
    assert not run.cell().from_frame


def test_a_file_to_which_a_restart_appends_is_still_the_picture_s(thinned: Any) -> None:
    run = thinned()
    run.run.output.mkdir()
    run.file.rename(run.run.output / "out.nc")
    with run.run.journal.open("a") as journal:
        ready = {"event": "frame.ready", "attempt": 2, "stream": "d01", "time": "20050829T000000",
                 "record": 1, "file": "out.nc"}  # fmt: skip
        journal.write(json.dumps(ready) + "\n")
    assert (run.cell().value, run.cell().from_frame) == (41.5, True)


@pytest.mark.parametrize(("value", "columns"), [(None, range(64)), (5.0, range(64, 100))])
def test_the_second_point_is_of_the_same_block_where_it_has_other_values(
    value: float | None, columns: range, tmp_path: Path
) -> None:
    made = ValuesRun(tmp_path)
    field = ramp()
    if value is not None:
        field[:, :64] = value
    made.publish(0, (field, degrees_grid()), stride=4)
    files, grids, spot = Files(made.run.products), Grids(), Spot.of(29.0, -94.0)
    cells = FrameCells(made.run, "t2", files, spot, grids)
    (entry,) = Pictured(made.run, "t2").entries()
    kept = sample(files, entry, spot, grids)
    other = cells._other(entry, kept, grids.grid(files, kept.point.grid))
    (row, column), there, off = other
    assert column in columns
    assert there == pytest.approx(field[79 - row, column], abs=off)
    assert abs(there - kept.value) > 20


def test_a_picture_names_the_points_of_members_that_it_shows() -> None:
    facts = {"shown": {"t": {"points": {"number": 1}, "words": "number 1"}, "u": 3}}
    line = {"product": "t2", "stream": "d01", "time": TIME, "attempt": 1, "name": "a", "bytes": 1,
            "crc32": 1, "t": 1.0, "facts": facts}  # fmt: skip
    assert frame_cells._points(Published(line)) == (("t", (("number", 1),)),)


@pytest.mark.parametrize(
    ("product", "reason"),
    [
        ({"kind": "peak"}, "a peak shows no field of one file alone"),
        ({"variable": "rain_rate"}, "rain_rate is of the time between two frames"),
    ],
)
def test_what_no_file_holds_alone_is_that_of_a_kept_point(
    product: dict[str, Any], reason: str, thinned: Any
) -> None:
    run = thinned(**product)
    assert not run.cell().from_frame
    assert list(run.cells.reasons) == [reason]


def test_a_file_server_that_hangs_is_asked_once(
    thinned: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = thinned()
    assert run.cell().from_frame
    monkeypatch.setattr(frame_cells, "WAIT_S", 0.2)
    os.kill(run.cells._child.pid, signal.SIGSTOP)
    assert not run.cell().from_frame
    assert not run.cell().from_frame
    assert run.cells.reasons == {"the frames' file server does not answer": 2}


@pytest.mark.slow  # it waits longer than for a value
def test_the_start_of_the_child_is_no_wait_for_a_value(
    thinned: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_late = (
        "import time; from burstlens.viz.values.frame_cell import load_readers\n"
        "time.sleep(30.5); load_readers()"
    )
    monkeypatch.setattr(frame_cells, "WAIT_S", 30.0)
    monkeypatch.setattr(frame_cell, "load_readers", partial(exec, load_late, {}))
    assert thinned().cell().from_frame


def test_a_run_whose_journal_names_no_file_keeps_its_values(thinned: Any) -> None:
    run = thinned()
    run.run.journal.write_text("")
    assert not run.cell().from_frame
    assert list(run.cells.reasons) == ["the journal does not name the frames' files"]


@pytest.mark.parametrize("facts", [{}, {"table": 3}, {"table": {"product": [{"name": 3}]}}, []])
def test_a_damaged_run_keeps_its_values(facts: Any, thinned: Any) -> None:
    run = thinned()
    write_json(run.run.facts, facts)
    kept = run.cell()
    assert (round(kept.value, 2), kept.from_frame) == (42.0, False)
    assert run.cells.reasons.total() == 1
