"""What status, list, stop, free and resume say of a run that looks at a folder."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest
from attached_case import QUIET, AttachedRun, ready
from msgspec.structs import replace
from typer.testing import CliRunner

from burstlens.clients.api.run import open_run
from burstlens.clients.cli import app
from burstlens.clients.opened.attached import observed
from burstlens.clients.opened.status import facts, has_ended, is_over, next_steps, read_status, text
from burstlens.clients.opened.steering import nothing_to_stop, stop_refused
from burstlens.clients.pages.answers import Answers
from burstlens.clients.terminal import one_line
from burstlens.core.durable import read_json, write_json
from burstlens.core.errors import RunError
from burstlens.core.outcome import Outcome
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.heartbeat import note_start
from burstlens.core.run.snapshot import read_snapshot
from burstlens.core.run.status_file import AttachedPart
from burstlens.workflows.driver.free import free
from burstlens.workflows.driver.resuming import resumable

SEEN = ev.ModelObserved(attempt=1, state="quiet", evidence=QUIET)
ENDED = ev.RunEnded(outcome="quiet", exit_code=0, message=QUIET)


@pytest.fixture
def attached(tmp_path, monkeypatch):
    """Makes a run that looks at a folder; it has begun."""
    monkeypatch.setenv("BURSTLENS_RUNS", str(tmp_path / "runs"))

    def make(*events, name="look-storm", **options):
        run = AttachedRun(tmp_path / "runs", name, **options)
        run.begin(*events)
        return run

    return make


def call(*words):
    done = CliRunner().invoke(app, words)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output.strip()


def test_the_folder_and_what_is_known_of_its_model_are_shown_and_no_buffer(attached):
    run = attached(
        ready(), ready("20261102T060000", "unproven"), left_out=["slp: the files have no PSFC"]
    )
    run.show("quiet", QUIET)
    shown = dict(facts(read_status("look-storm")))
    assert list(shown)[:5] == ["looks at", "taken for", "observed", "attempt", "left out"]
    assert shown["looks at"] == "/scratch/storm"
    assert shown["taken for"] == "wrf: namelist.input and 4 files wrfout_d01_*"
    assert shown["observed"] == f"quiet: {QUIET}"
    assert shown["attempt"] == "1, what is there on arrival"
    assert shown["left out"] == "slp: the files have no PSFC"
    assert shown["frames"] == "2 ready, 1 unproven, 0 products to be made"
    assert not {"buffer", "saved"} & set(shown)


def test_what_a_scheduler_said_is_shown_with_its_age():
    part = AttachedPart(
        path="/scratch/storm", state="running", evidence="Slurm: job 7 RUNNING", age_s=12.0
    )
    assert observed(part) == "running: Slurm: job 7 RUNNING (asked 12 s ago)"
    assert observed(replace(part, age_s=None)) == "running: Slurm: job 7 RUNNING"


def test_a_second_attempt_is_shown_with_its_reason(attached):
    run = attached(ev.AttemptObserved(attempt=2, evidence="rsl.error.0000 is another file"))
    run.show("running", "wrfout_d01 was written 3 s ago")
    shown = dict(facts(read_status("look-storm")))
    assert shown["attempt"] == "2, rsl.error.0000 is another file"
    assert shown["observed"] == "running: wrfout_d01 was written 3 s ago"


def test_ages_of_a_look_that_has_ended_are_shown_with_their_time(attached):
    run = attached(SEEN, ENDED)
    run.show("quiet", QUIET, outcome=Outcome("quiet", 0, QUIET))
    shown = dict(facts(read_status("look-storm")))
    assert shown["observed"].startswith(f"quiet: {QUIET} (as of 20")


def test_a_folder_that_cannot_be_read_is_shown(attached):
    run = attached(ev.PathLost(evidence="[Errno 116] Stale file handle"))
    run.show("running")
    assert dict(facts(read_status("look-storm")))["folder"] == (
        "cannot be read: [Errno 116] Stale file handle"
    )
    run.journal(ev.PathBack(evidence="the folder is back", same=True))
    run.show("running")
    assert "folder" not in dict(facts(read_status("look-storm")))


def test_names_with_control_characters_move_no_cursor(attached):
    attached(path="/scratch/\x1b[2Jx\nstorm", reason="\x1b]0;me\x07").show(
        "quiet", "\x1b[31mred\nsecond line"
    )
    said = text(read_status("look-storm"))
    assert "\x1b" not in said
    assert "\x07" not in said
    assert not [line for line in said.splitlines() if line.startswith(("storm", "second"))]


def test_a_quiet_run_is_over_only_with_an_outcome(attached):
    run = attached(SEEN)
    run.show("quiet")
    going = read_status("look-storm")
    assert (is_over(going), has_ended(going), next_steps(going)) == (False, False, [])
    run.journal(ENDED)
    run.show(outcome=Outcome("quiet", 0, QUIET))
    ended = read_status("look-storm")
    assert (is_over(ended), has_ended(ended)) == (True, True)
    assert ended.state == "quiet"
    assert next_steps(ended) == ["look again: burstlens resume look-storm"]
    assert QUIET in text(ended)


def test_waiting_for_a_quiet_run_ends_with_its_end(attached):
    run = attached(SEEN)
    run.show("quiet")
    assert open_run("look-storm").wait(timeout_s=0.01)["outcome"] is None
    run.show(outcome=Outcome("quiet", 0, QUIET))
    assert open_run("look-storm").wait()["outcome"]["state"] == "quiet"


def test_the_status_is_made_of_the_journal_where_there_is_no_snapshot(attached):
    run = attached(SEEN, ready(signal="unproven"), ENDED)
    part = read_snapshot(run.run).attached
    assert (part.path, part.state, part.evidence) == ("/scratch/storm", "quiet", QUIET)
    assert (part.began, part.unproven) == ("what is there on arrival", 1)
    assert read_snapshot(run.run).state == "quiet"


def test_options_that_do_not_fit_are_reported_by_their_key(attached):
    run = attached()
    facts_now = {"run": "look-storm", "attached": {"path": "/x", "left_out": 3}}
    write_json(run.run.facts, facts_now)
    with pytest.raises(RunError, match=r'run\.json: attached: "left_out" is a whole'):
        read_status("look-storm")


def test_a_frame_that_is_proven_later_is_not_unproven(attached):
    run = attached(ready(signal="unproven"))
    assert run.journal().unproven == {("d01", "20261102T063000")}
    assert run.journal(ready(signal="later", attempt=2)).unproven == set()


def test_a_dead_driver_leaves_a_run_that_nobody_looks_with(attached):
    run = attached()
    run.show("running")
    write_json(
        run.run.status, {**read_json(run.run.status), "driver": {"host": "gone", "heartbeat": 1.0}}
    )
    status = read_status("look-storm")
    assert status.state == "lost"
    assert status.hint == "its driver is gone: nobody looks; the model was not touched"
    assert next_steps(status) == ["look again: burstlens resume look-storm"]
    assert nothing_to_stop("look-storm", status) == (
        "the driver of look-storm is gone: nobody looks; burstlens resume look-storm looks again"
    )


def test_the_list_has_the_folder(attached):
    attached().show("quiet")
    code, said = call("list")
    assert code == 0
    assert said.split() == [
        "look-storm",
        "quiet",
        "0",
        "frames",
        "Storm,",
        "looks",
        "at",
        "/scratch/storm",
    ]


def test_one_line_has_the_state_and_its_evidence(attached):
    attached(ready()).show("quiet", QUIET)
    said = one_line(read_status("look-storm")).split("  ", 1)[1]
    assert said == f"quiet  1 frame ready, 1 product published  quiet: {QUIET}"


def test_the_card_of_a_notebook_has_the_folder_escaped(attached):
    attached(path="/scratch/<b>x</b>").show("quiet", QUIET)
    card = open_run("look-storm")._repr_html_()
    assert "/scratch/&lt;b&gt;x&lt;/b&gt;" in card
    assert f"quiet: {QUIET}" in card


def test_stop_ends_the_looking_and_says_that_the_model_goes_on(attached):
    run = attached()
    run.show("running")
    code, said = call("stop", "look-storm")
    assert (code, said) == (
        0, "look-storm ends looking at /scratch/storm; the model there is not touched"
    )  # fmt: skip
    assert run.run.stop_requested() == "stop"


@pytest.mark.parametrize(
    ("options", "subject"), [({"job": "4711"}, "job 4711"), ({"pid": 12}, "process 12")]
)
def test_stop_names_the_model_that_it_was_allowed_to_stop(attached, options, subject):
    run = attached(allow_stop=True, **options)
    run.show("running")
    code, said = call("stop", "look-storm")
    assert code == 0
    assert said == (
        f"look-storm stops {subject}, the model that writes in /scratch/storm; "
        "watch it: burstlens watch look-storm"
    )
    assert run.run.stop_requested() == "stop"


@pytest.mark.integration
@pytest.mark.parametrize(
    ("words", "answer", "asked", "stops"),
    [
        ([], "y\n", True, "stop"),
        ([], "n\n", True, None),
        ([], "\n", True, None),
        (["--yes"], "", False, "stop"),
        (["--yes", "--now"], "", False, "stop-now"),
    ],
)
def test_on_a_terminal_a_model_of_others_is_ended_after_a_question(
    attached, words, answer, asked, stops
):
    run = attached(allow_stop=True, job="4711")
    run.show("running")
    upper, lower = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "burstlens", "stop", "look-storm", *words],
        stdin=lower, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as program:  # fmt: skip
        os.write(upper, answer.encode())
        said = program.communicate(timeout=60)[0]
    os.close(lower)
    os.close(upper)
    assert program.returncode == 0
    assert ("Stop job 4711, the model that writes in /scratch/storm?" in said) is asked
    assert ("look-storm goes on" in said) is (stops is None)
    assert run.run.stop_requested() == stops


def test_a_page_and_a_notebook_may_not_stop_what_the_look_may_not(attached):
    attached().show("running")
    reason = "look-storm only looks at /scratch/storm: it may not stop the model there"
    assert stop_refused("look-storm", read_status("look-storm")) == reason
    answers = Answers(open_run("look-storm"), allow_stop=True)
    assert answers.answer({"ask": "control", "what": "stop"}) == ({"error": reason}, [])
    assert RunDir(open_run("look-storm").directory.path).stop_requested() is None
    attached(name="other", allow_stop=True, pid=12).show("running")
    assert stop_refused("other", read_status("other")) is None


def test_free_does_nothing_and_says_so(attached):
    run = attached(SEEN, ENDED)
    before = run.run.journal.read_bytes()
    assert call("free", "look-storm") == (
        0, "run look-storm only looks at /scratch/storm: nothing is there to free"
    )  # fmt: skip
    assert free(run.run, discard=True).endswith("nothing is there to free")
    assert run.run.journal.read_bytes() == before
    assert not run.run.epochs


@pytest.mark.parametrize("outcome", ["done", "quiet", "stopped", "failed"])
def test_a_look_can_be_resumed_after_any_end(attached, outcome):
    run = attached(ev.RunEnded(outcome=outcome, exit_code=int(outcome == "failed")))
    note_start(run.run, 1, 2**22 - 1)
    assert resumable(run.run) is None
