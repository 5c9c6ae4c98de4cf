"""Checkpoints of WRF with nests that begin after the outermost domain, or end before it."""

from __future__ import annotations

import pytest
from checkpoint_case import Scans, key, write

from burstlens.workflows.models.wrf import Wrf

NAMELIST = """&time_control
 start_year = 2*1, start_month = 2*1, start_day = 2*1, start_hour = 2*0, start_minute = 0, {start},
 end_year = 2*1, end_month = 2*1, end_day = 2*1, end_hour = 2*0, end_minute = 20, {end},
 restart_interval = 1,
/
&domains
 max_dom = 2, parent_id = 0, 1,
/
"""


@pytest.fixture
def scans(tmp_path, prober):
    def of_nest(start: int, end: int) -> Scans:
        (tmp_path / "namelist.input").write_text(NAMELIST.format(start=start, end=end))
        return Scans(tmp_path, Wrf(), prober)

    return of_nest


def test_until_a_nest_begins_its_file_is_not_needed(scans):
    run = scans(start=3, end=20)
    for minute in (1, 2, 3):
        write(run.path(minute), minute)
        run.step(minute, "d01")
    for _ in range(4):
        run.scan(0.5)
    assert run.whole == [key(1), key(2)]
    write(run.path(3, "d02"), 3)
    run.step(3, "d02")
    [whole] = (run.scan(), run.scan(0.5))[1].checkpoints
    assert whole.files == (run.path(3).name, run.path(3, "d02").name)
    assert run.settle().unproven_checkpoints == ()


def test_from_the_end_of_a_nest_on_its_file_is_not_needed(scans):
    run = scans(start=0, end=3)
    for minute in (1, 2, 3, 4):
        write(run.path(minute), minute)
        if minute != 2:
            write(run.path(min(minute, 3), "d02"), min(minute, 3))
    for _ in range(4):
        run.scan(0.5)
    assert sorted(run.whole) == [key(1), key(3), key(4)]
    report = run.settle()
    [text] = report.unproven_checkpoints
    assert text.endswith("00:02:00 UTC is not whole: there is no file of d02")


def test_the_file_of_a_nest_that_has_ended_between_two_checkpoints_is_ignored(scans):
    """WRF writes it with each of the later checkpoints, and always with the time of its end."""
    run = scans(start=0, end=3)
    write(run.path(3, "d02"), 3)
    write(run.path(4), 4)
    run.scan()
    run.scan(0.5)
    assert run.whole == [key(4)]
    assert run.settle().unproven_checkpoints == ()
    assert run.cursor.checkpoints.open == ()


def test_while_the_namelist_cannot_be_read_no_checkpoint_is_whole(scans, tmp_path):
    run = scans(start=0, end=20)
    text = (tmp_path / "namelist.input").read_text()
    (tmp_path / "namelist.input").unlink()
    write(run.path(2), 2)
    run.scan()
    run.scan(0.5)
    (tmp_path / "namelist.input").write_text(text)
    run.scan(0.5)
    assert run.whole == []
    write(run.path(2, "d02"), 2)
    run.scan()
    run.scan(0.5)
    assert run.whole == [key(2)]


def test_a_checkpoint_whose_parts_are_not_known_at_the_end_is_not_whole(scans, tmp_path):
    run = scans(start=0, end=20)
    (tmp_path / "namelist.input").unlink()
    write(run.path(2), 2)
    [text] = run.settle().unproven_checkpoints
    assert "settings cannot be read" in text
    assert run.whole == []
