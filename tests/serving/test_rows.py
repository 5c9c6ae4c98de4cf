"""The rows of the list: what a look at many runs reads."""

from __future__ import annotations

import json
import os
import time

import pytest

from burstlens.clients.serving import rows
from burstlens.clients.serving.shelf import Shelf
from burstlens.core.decode import record
from burstlens.core.run.directory import RunDir
from burstlens.core.run.snapshot import new_snapshot


def made(folder, name, **fields):
    run = RunDir(folder / name)
    run.create()
    run.facts.write_text(json.dumps({"run": name, "title": name, "created": time.time()}))
    write(run, **fields)
    return run


def write(run, **fields):
    driver = {"host": "elsewhere", "pid": 1, "heartbeat": time.time()}
    run.status.write_text(json.dumps(record(new_snapshot(run)) | {"driver": driver} | fields))


def test_a_run_that_is_over_is_not_read_again_until_it_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "REST_S", 0.05)
    run = made(tmp_path, "storm", state="done")
    shelf = Shelf((tmp_path,))
    (first,) = shelf.rows()
    time.sleep(0.2)
    assert shelf.rows()[0] is first
    write(run, state="failed")
    time.sleep(0.2)
    assert shelf.rows()[0]["state"] == "failed"


def test_between_two_checks_the_files_of_a_run_that_is_over_are_not_touched(tmp_path):
    run = made(tmp_path, "storm", state="done")
    shelf = Shelf((tmp_path,))
    assert len(shelf.rows()) == 1
    run.status.unlink()  # not seen within REST_S
    assert shelf.rows()[0]["state"] == "done"


def test_a_run_in_progress_is_read_each_time(tmp_path):
    run = made(tmp_path, "storm", state="running", progress={"fraction": 0.1, "eta_s": 5.0})
    shelf = Shelf((tmp_path,))
    assert shelf.rows()[0]["fraction"] == 0.1
    write(run, state="running", progress={"fraction": 0.2, "speed": 3.5}, alarms=[{"text": "W"}])
    row = shelf.rows()[0]
    assert (row["fraction"], row["speed"], row["eta_s"], row["alarms"]) == (0.2, 3.5, None, 1)


def test_a_look_ends_in_time_and_the_next_goes_on_with_the_others(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "LOOK_S", 0.0)  # one run each
    for number in range(3):
        run = made(tmp_path, f"storm-{number}", state="running")
        os.utime(run.facts, (number, number))
    shelf = Shelf((tmp_path,))
    counts = [(len(shelf.rows()), shelf.complete) for _ in range(3)]
    assert counts == [(1, False), (2, False), (3, True)]
    write(RunDir(tmp_path / "storm-2"), state="stopping")
    assert shelf.rows()[0]["state"] == "stopping"  # the one that was read first


def test_drivers_elsewhere_without_a_recent_sign_hold_up_no_look(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "CHECK_S", 0.1)
    stale = {"host": "elsewhere", "pid": 1, "heartbeat": time.time() - 60}
    for number in range(5):
        made(tmp_path, f"storm-{number}", state="running", driver=stale)
    shelf = Shelf((tmp_path,))
    assert {row["state"] for row in shelf.rows()} == {"checking"}
    time.sleep(0.2)
    write(RunDir(tmp_path / "storm-0"), state="running", driver=stale | {"heartbeat": time.time()})
    found = {row["run"]: row["state"] for row in shelf.rows()}
    assert found.pop("storm-0") == "running"
    assert set(found.values()) == {"lost"}


def test_the_picture_is_the_newest_of_the_first_product(tmp_path):
    product = {"kind": "map", "published": 2, "failed": 0}
    run = made(tmp_path, "storm", state="running", products={"slp": product, "wind": product})
    shelf = Shelf((tmp_path,))
    assert shelf.rows()[0]["picture"] is None
    lines = [
        {"product": product, "stream": "d01", "time": f"t{time}", "name": f"{product}/{time}.png"}
        for product, time in (("wind", 1), ("slp", 2), ("slp", 1), ("wind", 3))
    ]
    run.index.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert shelf.rows()[0]["picture"] == "storm/products/slp/2.png"


@pytest.mark.parametrize(("state", "shown"), [("running", 3), ("done", 2)])
def test_a_run_that_is_over_shows_its_newest_picture_that_is_not_empty(tmp_path, state, shown):
    product = {"kind": "map", "published": 3, "failed": 0}
    run = made(tmp_path, "storm", state=state, products={"slp": product})
    lines = [
        {"product": "slp", "stream": "d01", "time": f"t{n}", "name": f"slp/{n}.png", "bytes": size}
        for n, size in ((1, 90_000), (2, 80_000), (3, 30_000))
    ]
    run.index.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert Shelf((tmp_path,)).rows()[0]["picture"] == f"storm/products/slp/{shown}.png"


def test_a_first_product_of_constant_fields_leaves_the_row_to_another(tmp_path):
    product = {"kind": "map", "published": 1, "failed": 0}
    run = made(tmp_path, "storm", state="done", products={"t2": product, "wind": product})
    lines = [
        {"product": name, "stream": "d01", "time": "t1", "name": f"{name}/1.png", "bytes": 9}
        | {"facts": {"min": 0.0, "max": most}}
        for name, most in (("t2", 0.0), ("wind", 7.0))
    ]
    run.index.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert Shelf((tmp_path,)).rows()[0]["picture"] == "storm/products/wind/1.png"


@pytest.mark.parametrize("break_it", ["gone", "unreadable"])
def test_a_run_that_cannot_be_read_any_more_hides_no_other(tmp_path, monkeypatch, break_it):
    monkeypatch.setattr(rows, "REST_S", 0.0)
    made(tmp_path, "storm-1", state="done")
    run = made(tmp_path, "storm-2", state="done")
    shelf = Shelf((tmp_path,))
    assert len(shelf.rows()) == 2
    if break_it == "gone":
        run.path.rename(tmp_path.parent / "elsewhere")
    else:
        run.status.write_text('{"state": 1, "driver": 2}')
    assert [row["run"] for row in shelf.rows()] == ["storm-1"]
