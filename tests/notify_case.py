"""What tests of word share: a mailbox, a picture, the notices of one driver after another, a run
without one."""

from __future__ import annotations

import email
import email.policy
import json
import socket
import time
from contextlib import closing
from io import BytesIO

import numpy as np
from aiosmtpd.smtp import AuthResult
from PIL import Image

from burstlens.cluster_configs.site import choose
from burstlens.core.durable import write_json
from burstlens.core.outcome import Outcome
from burstlens.core.run import events as ev
from burstlens.core.run.history import History, replay
from burstlens.core.run.journal import Journal, read
from burstlens.workflows.driver.noticing import begin_notices, close_notices, end_due
from burstlens.workflows.notify.notices import Notices
from burstlens.workflows.notify.options import Notify
from burstlens.workflows.notify.word import Word
from burstlens.workflows.placement.absence import Absence
from burstlens.workflows.publishing.context import RunContext

ALLOW = '[notify]\nallow = ["run", "mail", "webhook", "desktop"]\n'
WORD = Word("end 1", ("failed",), "A storm (storm-1): failed: CFL", "failed", None, ("log line",))


class Mailbox:
    """The handler of a mail server that keeps what arrives. ``answer`` refuses a recipient,
    ``refusal`` is the answer to a wrong password, ``greylisted`` that to the first recipient and
    ``farewell`` that to QUIT; ``over_tls`` says it of each message."""

    def __init__(self) -> None:
        self.arrived: list[tuple[str, list[str], email.message.EmailMessage]] = []
        self.answer = ""
        self.greylisted = ""
        self.farewell = ""
        self.refusal = ""
        self.over_tls: list[bool] = []
        self.logins: list[tuple[bytes, bytes]] = []

    async def handle_RCPT(self, server, session, envelope, address, options):  # noqa: N802
        if self.answer:
            return self.answer
        if self.greylisted:
            answer, self.greylisted = self.greylisted, ""
            return answer
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_QUIT(self, server, session, envelope):  # noqa: N802
        return self.farewell or "221 Bye"

    async def handle_DATA(self, server, session, envelope):  # noqa: N802
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        self.over_tls.append(session.ssl is not None)
        self.arrived.append((envelope.mail_from, envelope.rcpt_tos, message))
        return "250 Message accepted for delivery"

    def login(self, server, session, envelope, mechanism, data):
        self.logins.append((data.login, data.password))
        right = data.password == b"s3cret-Pa55"
        return AuthResult(success=right, handled=False, message=self.refusal or None)


def png(width: int = 40, noise: bool = False) -> bytes:
    """A picture; one of noise has about three bytes a point."""
    rng = np.random.default_rng(1)
    field = rng.integers(0, 255, (width, width, 3), dtype=np.uint8)
    if not noise:
        field[:] = (20, 120, 90)
    stream = BytesIO()
    Image.fromarray(field).save(stream, "PNG", compress_level=0 if noise else 6)
    return stream.getvalue()


class Sender:
    """The notices of one driver after another of one run."""

    def __init__(self, run) -> None:
        self.run, self.alarms, self.epoch = run, [], 0
        run.facts.write_text("{}")
        self.of_recipe = Notify()

    def driver(self, **faults) -> Notices:
        """The notices of a new driver."""
        self.epoch += 1
        history = History()
        if self.run.journal.exists():
            for event in read(self.run.journal):
                history.apply(event)
        self.history = history
        self.journal = Journal(self.run.journal, self.epoch, history.apply)
        return Notices(
            self.run, "A storm", ["t2", "w"], self.of_recipe, self.journal, history.noticed,
            self.alarms.append,
        )  # fmt: skip

    def send(self, *ways, word: Word | None = None, wait_s: float = 20.0) -> list[str]:
        """Send one word by a driver of its own; returns the alarms."""
        notices = self.driver()
        notices.send(word or WORD, ways)
        notices.close(wait_s)
        self.journal.close()
        alarms, self.alarms[:] = list(self.alarms), []
        return alarms

    def events(self, kind: str) -> list:
        """The events of one kind in the journal."""
        return [event for event in read(self.run.journal) if event.event == f"notice.{kind}"]


class Deserted:
    """A run whose driver of epoch 1 is gone, its attempt, and the drivers that come after it."""

    def __init__(self, run, recipe) -> None:
        self.run, self.recipe, self.folder = run, recipe, run.job("attempt-1")
        run.facts.write_text("{}")
        self.folder.mkdir(parents=True)
        with closing(Journal(run.journal, 1)) as journal:
            journal.append(ev.RunStarted())
        self.driver()

    def driver(self, **facts) -> None:
        """Write what ``status.json`` has of the driver; by default one that is gone."""
        gone = {"epoch": 1, "host": socket.gethostname(), "pid": 2**22 - 1, "ticks": 7}
        write_json(self.run.status, {"driver": gone | {"heartbeat": 5.0} | facts}, sync=False)

    def sentinel(self, still_s: float = 10.0, *, over: bool = False) -> Absence:
        """What a sentinel sends, to its end."""
        history = replay(read(self.run.journal))
        absence = Absence(self.run, self.recipe, history, self.folder, still_s, over=over)
        deadline = time.monotonic() + 0.3
        absence.await_end(lambda: absence._notices is not None or time.monotonic() < deadline)
        absence.close()
        return absence

    def resume(self, epoch: int = 2, alarms: int = 0) -> list[str]:
        """A driver that resumes the run and ends it well, after so many alarms; returns what
        ``status.json`` has of these."""
        history = replay(read(self.run.journal))
        with closing(Journal(self.run.journal, epoch, history.apply)) as journal:
            journal.append(ev.RunResumed())
            context = RunContext.of(self.run, self.recipe, choose("local"), journal, history)
            begin_notices(context)
            for number in range(alarms):
                context.snapshot.alarm(f"alarm {number}")
            outcome = Outcome("done", 0)
            send = end_due(context, outcome)
            journal.append(ev.RunEnded(outcome="done", exit_code=0))
            context.snapshot.end(outcome)
            send()
            close_notices(context, outcome)
        return [alarm["text"] for alarm in json.loads(self.run.status.read_text())["alarms"]]

    def events(self) -> list[tuple[str, str, str]]:
        """Name, key and way of the events about word in the run's journal."""
        return [
            (event.event, event.key, getattr(event, "way", ""))
            for event in read(self.run.journal)
            if event.event.startswith("notice.")
        ]
