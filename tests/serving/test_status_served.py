"""The status of runs, as served to the page and the list of runs."""

from __future__ import annotations

import json
import shutil
import time

import pytest

from burstlens.clients.opened.status import status_of


def change(run, **fields):
    path = run / "status.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def rows(server):
    answer = server.ask("/runs.json")
    if answer.status == 503:  # a busy machine: the page asks again as well
        return {}
    return {row["run"]: row for row in answer.json}


def await_rows(server, holds):
    end = time.monotonic() + 60
    while not holds(found := rows(server)):  # looked at once a second at most
        assert time.monotonic() < end, found
        time.sleep(0.1)


def test_the_status_is_what_burstlens_status_prints(server, shelf):
    answer = server.ask("/done/status.json")
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.json == json.loads(json.dumps(status_of(str(shelf / "done"))))
    assert answer.json["driver_alive"] is False


def test_the_page_learns_without_a_request_that_could_fail_whether_stop_is_there(server, stopper):
    assert server.ask("/done/status.json").headers["burstlens-serve"] == "read"
    assert stopper.ask("/done/status.json").headers["burstlens-serve"] == "stop"


def test_a_run_whose_driver_has_died_is_lost(server, run):
    change(run, state="running")
    status = server.ask(f"/{run.name}/status.json").json
    assert (status["state"], status["driver_alive"]) == ("lost", False)
    assert status["hint"]


@pytest.mark.parametrize("text", [None, "", '{"run": "done", "sta', "\0\0", "[]", "null"])
def test_a_torn_or_missing_status_is_that_of_a_run_without_a_driver(server, run, text):
    path = run / "status.json"
    path.unlink() if text is None else path.write_text(text)
    answer = server.ask(f"/{run.name}/status.json")
    assert answer.status == 200
    assert (answer.json["run"], answer.json["title"]) == (run.name, "Supercell")


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        '{"state": 1, "driver": 2}',
        '{"state": "running", "driver": {"heartbeat": "x"}}',
        '{"state": "done", "driver": {}, "frames": 1, "title": [], "progress": [1]}',
    ],
)
def test_a_foreign_status_hides_no_other_run(server, shelf, run, text):
    (run / "status.json").write_text(text)
    assert server.ask(f"/{run.name}/status.json").status in (200, 404)
    later = shutil.copytree(shelf / "done", run.with_name(f"{run.name}-later"))
    await_rows(server, lambda found: {"done", later.name} <= set(found))


@pytest.mark.parametrize("name", ["status.json", "run.json"])
def test_a_file_behind_a_link_is_not_read(server, run, name):
    (run / name).rename(run / "elsewhere.json")
    (run / name).symlink_to(run / "elsewhere.json")
    assert server.ask(f"/{run.name}/status.json").status == 404


def test_nan_reaches_browsers_as_null(server, run):
    """A field that has blown up; JSON.parse does not accept NaN."""
    change(run, trips=[{"value": float("nan")}])
    body = server.ask(f"/{run.name}/status.json").body

    def refuse(word):
        raise AssertionError(word)

    assert json.loads(body, parse_constant=refuse)["trips"] == [{"value": None}]


def test_the_list_describes_each_run(server):
    row = rows(server)["done"]
    assert row["title"] == "Supercell"
    assert row["state"] == "done"
    assert row["frames"] == 3
    assert row["path"] == "done/"
    # Published last may be an older frame: a backlog is made from its newest end.
    assert row["picture"] == "done/products/w/w_d01_00010101T000200.png"
    assert server.ask(f"/{row['picture']}").status == 200
    assert server.ask(f"/{row['path']}status.json").status == 200


def test_a_placeholder_is_not_a_picture_of_the_run(server, run):
    index = run / "products" / "index.jsonl"
    lines = [json.loads(line) for line in index.read_text().splitlines()]
    for line in lines:
        if line["time"].endswith("000200"):
            line["facts"] = {"placeholder": True, "reason": "damaged"}
    index.write_text("\n".join([*map(json.dumps, lines), '{"torn": ']))
    await_rows(server, lambda found: run.name in found)
    assert rows(server)[run.name]["picture"].endswith("w_d01_00010101T000100.png")


def test_runs_come_and_go_while_they_are_listed(server, shelf):
    shutil.copytree(shelf / "done", shelf / "new")
    await_rows(server, lambda found: "new" in found)
    assert server.ask("/new/status.json").status == 200
    shutil.rmtree(shelf / "new")
    await_rows(server, lambda found: "new" not in found)
    for place in ("status.json", "products/index.html", "journal.jsonl"):
        assert server.ask(f"/new/{place}").status == 404


def test_a_change_of_a_run_that_was_over_is_seen(server, run):
    await_rows(server, lambda found: run.name in found)
    change(run, state="failed")
    await_rows(server, lambda found: found[run.name]["state"] == "failed")


def test_one_run_is_served_alone(serve, shelf, run):
    server = serve("done", BURSTLENS_RUNS=str(shelf))
    assert server.ask("/").headers["location"] == "./done/products/index.html"
    assert list(rows(server)) == ["done"]
    assert server.ask("/done/status.json").status == 200
    for place in ("status.json", "products/index.html", "products/index.jsonl", "run.json"):
        assert server.ask(f"/{run.name}/{place}").status == 404


def test_the_folder_of_runs_may_come_later_and_go(serve, tmp_path, shelf):
    folder = tmp_path / "later"
    server = serve(BURSTLENS_RUNS=str(folder))
    assert rows(server) == {}
    shutil.copytree(shelf / "done", folder / "done")
    assert server.ask("/done/status.json").status == 200
    shutil.rmtree(folder)
    assert server.ask("/done/status.json").status == 404
    assert server.ask("/").status == 200


def test_a_run_of_any_name_is_listed_and_found(server, shelf):
    name = "a <b>'\"& %2e #?\u202e"
    shutil.copytree(shelf / "done", shelf / name)
    await_rows(server, lambda found: name in found)
    row = rows(server)[name]
    assert server.ask(f"/{row['path']}status.json").status == 200
    assert server.ask(f"/{row['picture']}").status == 200


def test_another_users_private_run_hides_no_other(stranger, run):
    run.chmod(0)
    await_rows(stranger, lambda found: "done" in found and run.name not in found)
    assert stranger.ask(f"/{run.name}/status.json").status == 403
    run.chmod(0o700)
