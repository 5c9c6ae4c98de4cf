"""Requests that any user may have dropped into ``control/``."""

from __future__ import annotations

import contextlib
import errno
import os
from typing import cast

import pytest
from loop_case import LoopCase

from burstlens.cluster_configs.site import choose
from burstlens.core.errors import RecipeError
from burstlens.core.run.history import History
from burstlens.core.run.journal import Journal, read
from burstlens.workflows.deciding.steering import Steering
from burstlens.workflows.driver.addition import Addition, read_addition
from burstlens.workflows.driver.inbox import Inbox
from burstlens.workflows.ordering.production import Production
from burstlens.workflows.plan.commands import new_run
from burstlens.workflows.publishing.context import RunContext


@pytest.mark.parametrize(
    "make",
    [os.mkdir, os.mkfifo, lambda path: path.write_text("[" * 100_000),
     lambda path: path.write_text("[]"), lambda path: path.write_text('{"products": {}}')],
    ids=["folder", "pipe", "deep", "list", "table"],
)  # fmt: skip
def test_a_file_that_add_has_not_written_is_refused(tmp_path, make):
    path = tmp_path / "add-1.json"
    make(path)
    with pytest.raises(RecipeError, match="is not a file that `burstlens add` writes"):
        read_addition(path)


@pytest.mark.integration
def test_an_alarm_names_the_file_of_the_person_who_adds(recipe_file, recipe):
    run, _ = new_run(str(recipe_file()), "local", [], "storm")
    table = {"name": "x", "kind": "map", "variable": "T2", "limits": [3, 1]}
    request = Addition((table,), file="/home/me/mine.toml").request(run)
    with contextlib.closing(Journal(run.journal, 1)) as journal:
        context = RunContext.of(run, recipe(), choose("local"), journal, History())
        inbox = Inbox(context)
        (asked,) = inbox.look(adds=True)
        case = LoopCase(context)
        production = cast(Production, None)  # none is asked
        case.after(Steering(context, case.state.outbox).add, asked, production)
    text = context.snapshot.alarms[0].text
    assert "recipe /home/me/mine.toml has 1 fault" in text
    assert request.name not in text
    assert [event.event for event in read(run.journal)] == ["product.refused"]
    assert not request.exists()


@pytest.mark.integration
def test_a_pause_that_cannot_be_seen_goes_on(recipe_file, recipe, monkeypatch):
    run, _ = new_run(str(recipe_file()), "local", [], "storm")
    history = History()
    with contextlib.closing(Journal(run.journal, 1, history.apply)) as journal:
        case = LoopCase(RunContext.of(run, recipe(), choose("local"), journal, history))
        run.request("pause")
        case.look()
        assert history.paused
        real = os.stat

        def stale(path, **named):
            if path == run.pause:
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), path)
            return real(path, **named)

        monkeypatch.setattr(os, "stat", stale)
        case.look()
        assert history.paused
        monkeypatch.setattr(os, "stat", real)
        run.request("resume-watching")
        case.look()
        assert not history.paused
