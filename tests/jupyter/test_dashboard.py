"""The dashboard widget's kernel side."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import time
from typing import ClassVar

import pytest

from burstlens.clients.pages.widget import WAITING
from burstlens.core.durable import open_regular
from burstlens.core.extras import install_command


class View:
    """A view of a dashboard: what is sent to it is encoded as messages are."""

    POLL: ClassVar = {"ask": "poll", "run": None, "offset": 0, "stamp": None}

    def __init__(self, dashboard, monkeypatch) -> None:
        self._dashboard = dashboard
        self._messages = queue.Queue()
        self._count = 0
        monkeypatch.setattr(dashboard, "send", self._hear)

    def _hear(self, content, buffers=None):
        self._messages.put(json.loads(json.dumps(content, ensure_ascii=False).encode()))

    def ask(self, **values):
        """Ask without waiting; gives the number of the question."""
        self._count += 1
        self._dashboard._handle_custom_msg(self.POLL | values | {"id": self._count}, [])
        return self._count

    def answer(self, **values):
        """The answer to a question."""
        number = self.ask(**values)
        answer = self._messages.get(timeout=120)
        assert answer["id"] == number
        return answer


def threads() -> list[threading.Thread]:
    return [it for it in threading.enumerate() if it.name == "dashboard done"]


def await_none() -> None:
    end = time.monotonic() + 120
    while threads():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_closing_the_dashboard_ends_its_thread(done, monkeypatch):
    dashboard = done.dashboard()
    assert View(dashboard, monkeypatch).answer()["status"]["state"] == "done"
    assert len(threads()) == 1
    dashboard.close()
    await_none()
    dashboard.close()


def test_an_idle_thread_ends_and_a_new_one_answers_a_later_client(done, monkeypatch):
    monkeypatch.setattr("burstlens.clients.pages.widget.IDLE_S", 0.2)
    dashboard = done.dashboard()
    view = View(dashboard, monkeypatch)
    for _ in range(2):
        assert view.answer()["status"]["state"] == "done"
        await_none()
    dashboard.close()


def test_closing_does_not_wait_for_a_file_system_that_hangs(disturbed, monkeypatch):
    monkeypatch.setattr("burstlens.clients.pages.answers.STATUS_PERIOD_S", 0)
    dashboard = disturbed.dashboard()
    view = View(dashboard, monkeypatch)
    hangs, goes_on = threading.Event(), threading.Event()

    def hang(path, **how):
        hangs.set()
        goes_on.wait()
        return open_regular(path, **how)

    with monkeypatch.context() as patch:
        patch.setattr("burstlens.core.run.record.open_regular", hang)
        view.ask()
        assert hangs.wait(120)
        for _ in range(WAITING):
            view.ask()
        closing = threading.Thread(target=dashboard.close, daemon=True)
        closing.start()
        closing.join(120)
        hung, closed = len(threads()), not closing.is_alive()
    goes_on.set()
    assert (hung, closed) == (1, True)
    await_none()


@pytest.mark.parametrize(
    "text",
    ['{"driver": null}', '{"state": {}}', '{"frames": 3, "alarms": {"x": null}}', "[1]",
     '{"title": "\\ud800"}', '{"driver": {"heartbeat": "x", "host": []}}'],
)  # fmt: skip
def test_a_status_that_is_not_ours_ends_neither_the_thread_nor_the_card(
    disturbed, monkeypatch, text
):
    monkeypatch.setattr("burstlens.clients.pages.answers.STATUS_PERIOD_S", 0)
    dashboard = disturbed.dashboard()
    view = View(dashboard, monkeypatch)
    ours = disturbed.directory.status.read_text()
    disturbed.directory.status.write_text(text)
    answer = view.answer()
    assert answer.get("error") or "status" in answer
    assert "done" in disturbed._repr_html_()
    disturbed.directory.status.write_text(ours)
    assert view.answer()["status"]["state"] == "done"
    dashboard.close()


def test_where_widgets_are_not_shown_a_card_stands_in(done):
    dashboard = done.dashboard()
    bundle, _ = dashboard._repr_mimebundle_()
    dashboard.close()
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"]
    assert "Supercell" in bundle["text/html"]
    assert "data:image/png;base64," in bundle["text/html"]
    assert bundle["text/plain"] == "dashboard of done"


def test_without_anywidget_it_says_what_to_install(done):
    code = (
        "import sys; sys.modules['anywidget'] = None\n"
        "import burstlens\n"
        f"run = burstlens.open_run({str(done.directory.path)!r})\n"
        "try:\n    run.dashboard()\nexcept burstlens.RunError as error:\n    print(error)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == f"the dashboard needs anywidget: {install_command('jupyter')}\n"
