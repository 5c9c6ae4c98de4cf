"""``burstlens series``, and ``watch --at``."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
import threading
import time

import netCDF4
import pytest
from model_grids import GRIDS
from place_truth import shown_field
from values_case import ValuesRun, degrees_grid, ramp

from burstlens.core.durable import write_json

PROGRAM = [sys.executable, "-m", "burstlens"]
AT = ["--at", "27,-92"]

pytestmark = pytest.mark.integration


@pytest.fixture
def made(tmp_path):
    return ValuesRun(tmp_path / "runs")


@pytest.fixture
def call(tmp_path):
    def call(*words, **how):
        environment = os.environ | {"BURSTLENS_RUNS": str(tmp_path / "runs"), "COLUMNS": "200"}
        how = {"capture_output": True, "text": True, "timeout": 60, "cwd": tmp_path} | how
        return subprocess.run([*PROGRAM, *words], env=environment, **how)

    return call


def test_it_prints_csv_with_units_and_a_line_per_frame(made, call):
    for hour in range(3):
        made.publish(hour)
    made.publish(3, (ramp(), degrees_grid(west=0.0)))
    done = call("series", "made", "t2", *AT)
    assert (done.returncode, done.stderr) == (0, "")
    head, *rows = csv.reader(io.StringIO(done.stdout))
    assert head == ["time (UTC)", "T2 (K)", "step (K)", "grid point", "gap"]
    assert [row[0] for row in rows] == [f"2005-08-28T0{hour}:00:00" for hour in range(4)]
    values = [float(row[1]) for row in rows[:3]]
    assert values == pytest.approx([30.03, 1030.03, 2030.03], abs=0.01)
    assert rows[0][3] == "south_north 49 west_east 30"
    assert rows[3][1:] == ["", "", "", "outside"]


def test_values_of_a_thinned_field_are_said_to_be_those_of_the_nearest_kept_point(made, call):
    made.publish(0, stride=3)
    done = call("series", "made", "t2", *AT, "--json")
    assert json.loads(done.stdout)["stride"] == 3
    assert done.stderr.startswith("burstlens: 1 of 3 points of the grid is kept")


@pytest.fixture
def thinned(made):
    """A run of two frames in files of their own; pictures keep every fourth point of a field whose
    value is its latitude. Returns the files."""
    grid = GRIDS["regular"]()
    table = {"product": [{"name": "t2", "kind": "map", "variable": "tas"}]}
    write_json(made.run.facts, {"run": "made", "title": "Made", "created": 1.0, "table": table})
    folder = made.run.path.parent / "theirs"
    folder.mkdir()
    events, files = [{"event": "run.attached", "path": str(folder)}], []
    for hour in range(2):
        file = grid.write(folder / f"{hour}.nc", grid.lat + hour)
        shown = shown_field(file, "tas", 20)
        made.publish(hour, (shown.values, shown.grid), stride=shown.facts["stride"])
        time_ = f"20050828T0{hour}0000"
        events.append({"event": "frame.ready", "attempt": 1, "stream": "d01", "time": time_,
                       "record": 0, "file": file.name})  # fmt: skip
        files.append(file)
    made.run.journal.write_text("".join(json.dumps(one) + "\n" for one in events))
    return files


def series_of(call, *words):
    done = call("series", "made", "t2", "--at", "41.6,-3.1", *words)
    assert "Traceback" not in done.stderr
    return done


def test_the_cell_of_a_thinned_field_is_read_from_the_frame_s_file(thinned, call):
    done = series_of(call, "--json")
    found = json.loads(done.stdout)
    assert [one["value"] for one in found["samples"]] == [41.5, 42.5]
    assert [one["from_frame"] for one in found["samples"]] == [True, True]
    assert found["index"] == found["samples"][0]["index"] == {"lat": 23, "lon": 34}
    assert done.stderr.startswith("burstlens: the values are those of the grid cells, read from")


def test_of_kept_values_alone_no_frame_s_file_is_opened(thinned, call):
    done = series_of(call, "--json", "--kept")
    found = json.loads(done.stdout)
    assert [one["from_frame"] for one in found["samples"]] == [False, False]
    assert (round(found["samples"][0]["value"], 2), found["stride"]) == (42.0, 4)
    assert done.stderr.startswith("burstlens: 1 of 4 points of the grid is kept")


def test_where_its_file_is_gone_or_written_anew_the_kept_point_counts(thinned, call):
    thinned[1].unlink()
    done = series_of(call, "--json")
    first, second = json.loads(done.stdout)["samples"]
    assert (first["value"], first["from_frame"]) == (41.5, True)
    assert (round(second["value"], 2), second["from_frame"]) == (43.0, False)
    assert "1 of 2 values are those of the grid cells" in done.stderr
    with netCDF4.Dataset(thinned[0], "a") as data:
        data["tas"][:] += 7
    done = series_of(call)
    assert [float(line.split(",")[1]) for line in done.stdout.splitlines()[1:]] == pytest.approx(
        [42.0, 43.0], abs=1e-3
    )
    assert done.stderr.startswith("burstlens: 1 of 4 points of the grid is kept")
    assert "read: the frames' files" in done.stderr


def test_json_is_one_document(made, call):
    made.publish(0)
    made.publish(1, values=False)
    found = json.loads(call("series", "made", "t2", *AT, "--json").stdout)
    assert (found["run"], found["units"], found["frames"]) == ("made", "K", 2)
    first, second = found["samples"]
    assert first["index"] == {"south_north": 49, "west_east": 30}
    assert (second["value"], second["gap"]) == (None, "no values")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["t2"], 1, "say where: --at LAT,LON or --xy X,Y"),
        (["t2", "--at", "27"], 1, "expected LAT,LON such as 25.3,-91.9, got '27'"),
        (["tt", *AT], 1, 'there is no product "tt"'),
        (["plain", *AT], 1, "`values = false` or an older version of Burstlens"),
        (["t2", *AT, "--stream", "d09"], 1, "nothing of a stream 'd09'"),
        (["t2", "--at", "60,10"], 1, "no frame has a value at 60, 10: the frame's grid does not"),
        (["t2", "--xy", "1km,2km"], 1, "its plane is in degrees, not in km"),
        (["t2", *AT, "--json", "--follow"], 2, "--json is one document"),
    ],
)
def test_errors_are_one_clear_message(made, call, words, code, message):
    made.publish(0)
    made.publish(0, product="plain", values=False)
    done = call("series", "made", *words)
    assert done.returncode == code
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_names_from_files_of_others_move_no_cursor_and_make_no_columns(made, call):
    made.publish(0, variable='T2\x1b[2J,"x"', units="K\n=1")
    head, *_ = csv.reader(io.StringIO(call("series", "made", "t2", *AT).stdout))
    assert head[1] == 'T2[2J,"x" (K =1)'


def test_it_follows_a_run_until_its_end(made, tmp_path):
    made.update_status(state="running", block="running")
    made.publish(0)
    environment = os.environ | {"BURSTLENS_RUNS": str(tmp_path / "runs")}
    process = subprocess.Popen(
        [*PROGRAM, "series", "made", "t2", *AT, "--follow"],
        stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    late = threading.Timer(60, process.kill)
    late.start()
    try:
        assert process.stdout.readline().startswith("time (UTC)")
        assert process.stdout.readline().startswith("2005-08-28T00:00:00,30.0")
        made.publish(1)
        assert process.stdout.readline().startswith("2005-08-28T01:00:00,1030.0")
        made.publish(0, (ramp(7), degrees_grid()), attempt=2)
        assert process.stdout.readline().startswith("2005-08-28T00:00:00,7030.0")
        made.publish(2)
        made.update_status(state="done", outcome={"state": "done", "exit_code": 0})
        assert process.stdout.readline().startswith("2005-08-28T02:00:00,2030.0")
        assert process.wait(120) == 0
    finally:
        late.cancel()
        process.kill()
        process.stdout.close()


def test_a_run_without_its_first_frame_is_waited_for(made, tmp_path):
    made.update_status(state="running", block="running")
    environment = os.environ | {"BURSTLENS_RUNS": str(tmp_path / "runs")}
    process = subprocess.Popen(
        [*PROGRAM, "series", "made", "t2", *AT, "--follow"],
        stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    reason = {"placeholder": True, "reason": "the frame is damaged"}
    made.publish(0, values=False, facts=reason)  # nor is a hole a first frame
    time.sleep(1.5)
    assert process.poll() is None
    made.publish(1)
    assert process.stdout.readline().startswith("time (UTC)")
    process.terminate()
    process.wait(120)
    process.stdout.close()


def test_a_run_that_ends_without_any_frame_is_an_error(made, call):
    done = call("series", "made", "t2", *AT, "--follow")
    assert (done.returncode, done.stdout) == (1, "")
    assert "nothing is published of a product 't2'" in done.stderr


def test_watch_says_where_values_are_printed_when_there_is_no_terminal(made, call):
    made.publish(0)
    done = call("watch", "made", *AT)
    assert "burstlens series RUN PRODUCT --follow" in done.stderr
    assert "say where" not in done.stderr
