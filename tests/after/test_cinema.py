"""Cinema databases of real runs, checked against specification D."""

from __future__ import annotations

import csv
import json
import shutil

import pytest

from burstlens.clients.api.run import open_run
from burstlens.clients.pages.cinema import write_database
from burstlens.core.errors import RunError


def table(folder):
    with (folder / "data.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def is_specification_d(folder):
    """The specification's requirements on ``data.csv``."""
    with (folder / "data.csv").open(newline="") as stream:
        head, *rows = list(csv.reader(stream))
    assert rows
    assert len(set(head)) == len(head)
    assert all(head)
    first = next(at for at, name in enumerate(head) if name.startswith("FILE"))
    assert all(name.startswith("FILE") for name in head[first:])
    for row in rows:
        assert len(row) == len(head)
        assert all((folder / name).is_file() for name in row[first:] if name)
    for name in head[:first]:
        values = [row[head.index(name)] for row in rows if row[head.index(name)]]
        if name.endswith(("_s", "_min", "_max", "_mean")):
            assert [float(value) for value in values]


def test_each_valid_time_is_a_row_with_its_picture_and_what_the_map_knows(standing, tmp_path):
    standing.done()
    out = tmp_path / "done.cdb"
    done = standing.call("cinema", "done", "-o", str(out), "--json")
    assert json.loads(done.stdout) == {"path": str(out), "rows": 3, "files": 3, "missing": []}
    is_specification_d(out)
    rows = table(out)
    assert [row["time_s"] for row in rows] == ["0.0", "60.0", "120.0"]
    assert rows[1]["valid_time"] == "0001-01-01 00:01:00 UTC"
    view = open_run(standing.runs / "done").products["w"]
    assert (out / rows[2]["FILE"]).read_bytes() == view.image().data
    assert float(rows[2]["w_max"]) == view.entries[-1].facts["max"]


def test_volumes_have_a_column_of_their_own(standing, tmp_path):
    standing.done()
    write_database(open_run(standing.runs / "done"), tmp_path / "a.cdb", volumes=True)
    is_specification_d(tmp_path / "a.cdb")
    assert {row["FILE_core"].rpartition(".")[2] for row in table(tmp_path / "a.cdb")} == {"vts"}


def test_a_missing_file_is_an_empty_value_and_reported(standing, tmp_path):
    standing.done()
    place = shutil.copytree(standing.runs / "done", tmp_path / "done")
    run = open_run(place)
    lost = run.products["w"].entries[1].name
    (place / "products" / lost).unlink()
    made = write_database(run, tmp_path / "a.cdb", volumes=True)
    assert (made.missing, made.rows) == ((lost,), 3)
    is_specification_d(tmp_path / "a.cdb")
    assert [bool(row["FILE_w"]) for row in table(tmp_path / "a.cdb")] == [True, False, True]


@pytest.mark.parametrize(
    ("name", "error"),
    [("a.cdb", "exists already"), ("a", "ends with .cdb"), ("no/a.cdb", "cannot")],
)
def test_what_cannot_be_written_is_refused_and_leaves_nothing(standing, tmp_path, name, error):
    standing.done()
    (tmp_path / "a.cdb").mkdir()
    with pytest.raises(RunError, match=error):
        write_database(open_run(standing.runs / "done"), tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["a.cdb"]
