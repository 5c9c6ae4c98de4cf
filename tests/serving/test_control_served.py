"""Requests to steer a run: taken only with --allow-stop, only from the page, if permitted."""

from __future__ import annotations

import json
import shutil

import pytest


@pytest.fixture
def going(run):
    """A run in progress with a dead driver: a model may outlive it."""
    path = run / "status.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"state": "running"}))
    (run / "attempts" / "1" / "ended.json").rename(run / "was-ended.json")
    return run


def dropped(run):
    return [path.name for path in (run / "control").iterdir()]


@pytest.mark.parametrize("ask", ["stop", "stop-now", "pause"])
def test_a_request_becomes_a_file_that_the_supervisor_or_the_driver_obeys(stopper, going, ask):
    answer = stopper.post(going.name, ask)
    assert (answer.status, answer.json) == (200, {"ask": ask})
    assert dropped(going) == [ask]


def test_watching_is_resumed(stopper, going):
    stopper.post(going.name, "pause")
    assert stopper.post(going.name, "resume-watching").status == 200
    assert dropped(going) == []


def test_without_allow_stop_nothing_is_taken(server, going):
    answer = server.post(going.name, "stop")
    assert answer.status == 403
    assert "--allow-stop" in answer.json["error"]
    assert dropped(going) == []


@pytest.mark.parametrize(
    "headers", [{"X_Burstlens": None}, {"X_Burstlens": "0"}, {"Authorization": None}], ids=str
)
def test_another_sites_page_cannot_ask(stopper, going, headers):
    assert stopper.post(going.name, "stop", **headers).status == 403
    assert dropped(going) == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"stop",
        b"[]",
        b'"stop"',
        b"{}",
        b'{"ask": null}',
        b'{"ask": ["stop"]}',
        b'{"ask": "../../stop"}',
        b'{"ask": "stop\\u0000"}',
        b'{"ask": "\\ud800"}',
        b"[" * 4000,
        b"\xff\xfe",
    ],
    ids=lambda body: ascii(body)[:20],
)
def test_an_invalid_request_is_refused_with_a_sentence(stopper, going, body):
    answer = stopper.ask(f"/{going.name}/control", "POST", body, X_Burstlens="1")
    assert answer.status == 400
    assert answer.json["error"]
    assert dropped(going) == []


def test_a_near_name_is_suggested(stopper):
    assert "did you mean stop-now" in stopper.post("done", "stop now").json["error"]


def test_a_large_body_is_refused_before_it_is_read(stopper, going):
    body = json.dumps({"ask": "stop", "more": "x" * 1_000_000}).encode()
    answer = stopper.ask(f"/{going.name}/control", "POST", body, X_Burstlens="1")
    assert answer.status == 413
    assert dropped(going) == []


def test_a_run_that_is_over_is_reported_as_such(stopper, run):
    answer = stopper.post(run.name, "stop")
    assert answer.status == 409
    assert "over already: done" in answer.json["error"]
    assert dropped(run) == []


@pytest.mark.parametrize("ask", ["stop", "stop-now"])
def test_a_model_that_has_ended_is_not_stopped_though_its_driver_could_not_say_so(
    stopper, going, ask
):
    (going / "was-ended.json").rename(going / "attempts" / "1" / "ended.json")
    answer = stopper.post(going.name, ask)
    assert answer.status == 409
    assert "has ended already" in answer.json["error"]
    assert dropped(going) == []


@pytest.mark.parametrize("place", ["nothing", "..", "%2e%2e", "{}/products", "{}/control"])
def test_there_must_be_such_a_run(stopper, going, place):
    assert stopper.post(place.format(going.name), "stop").status == 404
    assert dropped(going) == []


def test_only_runs_that_are_served_are_stopped(serve, shelf, going):
    server = serve("done", "--allow-stop", BURSTLENS_RUNS=str(shelf))
    assert server.post(going.name, "stop").status == 404
    assert dropped(going) == []


def test_a_run_that_may_not_be_written_says_so(stranger, going):
    (going / "control").chmod(0o500)
    answer = stranger.post(going.name, "stop")
    assert answer.status == 403
    assert "Permission denied" in answer.json["error"]


def test_a_control_folder_that_leads_elsewhere_is_not_followed(stopper, shelf, going):
    target = shelf.parent / "target"
    target.mkdir()
    shutil.rmtree(going / "control")
    (going / "control").symlink_to(target)
    assert stopper.post(going.name, "stop").status == 403
    assert list(target.iterdir()) == []


def test_reading_an_address_never_stops_anything(stopper, going):
    for method in ("GET", "HEAD"):
        assert stopper.ask(f"/{going.name}/control", method, X_Burstlens="1").status == 404
    assert dropped(going) == []
