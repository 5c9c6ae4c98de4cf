"""The observer of a run that somebody else started: it answers what a supervisor answers, from what
can be seen.

A batch job or a process is a witness, if the user names one; else there are the model's logs and
the files that it writes. Each answer carries its evidence. Nothing is signalled unless ``stop`` is
called with permission.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from burstlens.cluster_configs.scheduler import JobState, Scheduler
from burstlens.core.errors import RunError, SiteError
from burstlens.core.exit_codes import DONE, FAILED
from burstlens.core.outcome import Outcome
from burstlens.workflows.look.observer.observed_files import LINGERS_S, Activity, ObservedFiles
from burstlens.workflows.look.observer.observed_job import ObservedJob
from burstlens.workflows.look.observer.observed_process import ObservedProcess
from burstlens.workflows.look.observer.witness import Standing, Witness

__all__ = ["Activity", "ModelState", "Observation", "Observer"]

ModelState = Literal["unknown", "waiting", "running", "quiet", "ending", "ended", "failed"]
"""``waiting``: its job has not begun. ``quiet``: nothing was written for longer than usual, which
is not the end. ``ending``: its job or process has ended, its last writes are waited for."""
SETTLES_S = 10.0
"""After the end, the last writes may still be on their way through the file system."""
REPORTS_S = 60.0
"""The watcher reports more often than that, or there is none."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The model's state and how it is known, in one sentence; ``since``: when the newest file was
    written, Unix seconds by the file server's clock, where nothing is written any more. ``age_s``:
    how long ago the scheduler was asked, None where the evidence does not age."""

    state: ModelState
    evidence: str
    since: float | None = None
    age_s: float | None = None


class Observer:
    """Observes one model. ``job`` is asked about through the ``scheduler``, ``pid`` is a process of
    this machine; without either, logs and frames are all there is.

    ``quiet_after_s`` is for ``quiet_end``. ``tells_end``: the log says when the model ends well.
    ``mark`` is that of an earlier observer of the same run (``Observer.mark``): a job that its
    scheduler has forgotten, or a process that has ended since, is then accepted.

    Raises RunError for a job or process that is not there, is not this user's and should be
    stoppable, or is not named; SiteError where there is no scheduler.
    """

    def __init__(
        self, *, job: str | None = None, pid: int | None = None,
        scheduler: Scheduler | None = None, allow_stop: bool = False,
        quiet_after_s: float | None = None, tells_end: bool = True, mark: str | None = None,
    ) -> None:  # fmt: skip
        if job is not None and pid is not None:
            raise RunError("name the model's job or its process, not both")
        if allow_stop and job is None and pid is None:
            raise RunError("only a job or process that is named can be stopped: --job, --pid")
        if quiet_after_s is not None and not 0 <= quiet_after_s < math.inf:
            raise RunError(f"{quiet_after_s} s without a write: the time must be 0 or more")
        self._allow_stop, self._tells_end = allow_stop, tells_end
        self._quiet_after_s = quiet_after_s
        self._files = ObservedFiles()
        self._subject: ObservedJob | ObservedProcess | None = None
        if job is not None:
            if scheduler is None:
                raise SiteError(f"job {job}: this site has no scheduler; --site names another site")
            self._subject = ObservedJob(job, scheduler, stoppable=allow_stop, mark=mark)
        elif pid is not None:
            self._subject = ObservedProcess(pid, stoppable=allow_stop, mark=mark)
        self._arrived_over = self._witness().standing is Standing.OVER
        self._over_since: float | None = None
        self._over = self._lost = False
        self._observation = Observation("unknown", "the folder is not read yet")

    @property
    def mark(self) -> str | None:
        """Names the job or the process for good, for the observer of a later driver."""
        return None if self._subject is None else self._subject.mark

    def look(self, now: float, activity: Activity | None) -> Observation:
        """The model's state. ``now`` is monotonic seconds; ``activity`` is the watcher's latest
        report, None where there is no new one. Never waits."""
        self._files.take(now, activity)
        witness = self._witness()
        if witness.standing is not Standing.OVER:
            self._over_since = None
        elif self._over_since is None:
            self._over_since = -math.inf if self._arrived_over else now
        if witness.standing is Standing.OVER:
            self._observation, self._over = self._after(witness, now)
        elif self._is_mute(witness):
            self._observation, self._over = self._by_files(witness.text)
        else:
            self._observation, self._over = self._beside(witness)
        return replace(self._observation, age_s=witness.age_s)

    def over(self) -> bool:
        """Whether the model certainly writes no more: its job or process has ended, or its log has
        said the end. Never only because nothing is written."""
        return self._over

    def job_since(self, moment: float) -> JobState | None:
        """What the scheduler said of the named job after that moment, see
        :meth:`.ObservedJob.state_since`; None without a job."""
        subject = self._subject
        return subject.state_since(moment) if isinstance(subject, ObservedJob) else None

    def lose(self) -> None:
        """Note that the folder is gone for good: no report of the watcher will come."""
        self._lost = True

    def quiet_end(self, now: float) -> bool:
        """Whether no witness says that the model lives, and nothing was written for
        ``quiet_after_s`` (None: 10 min, or three intervals): a run without a page ends."""
        self._files.take(now, None)
        witness = self._witness()
        unheard = witness.standing is Standing.UNKNOWN and witness.silent_s > 0
        lives = witness.standing in {Standing.WAITING, Standing.ALIVE}
        if self._files.seen is None or ((lives or unheard) and not self._is_silent(witness)):
            return False
        if witness.standing is Standing.OVER and not self._is_settled(now):
            return False  # it may have written just before its end
        least_s = self._files.long_s if self._quiet_after_s is None else self._quiet_after_s
        if not self._files.is_dated:  # it was there on arrival
            least_s = min(least_s, self._files.usual_s)
        return self._files.quiet_s >= least_s

    def outcome(self) -> Outcome:
        """How the run ended, by the latest observation."""
        seen = self._observation
        if seen.state == "ended":
            return Outcome("done", DONE)
        if seen.state == "failed":
            return Outcome("failed", FAILED, seen.evidence, self._files.line or None)
        message = seen.evidence if seen.state == "quiet" else self._files.silence
        if self._files.seen is not None and self._files.seen.in_progress:
            message += "; a file there is not whole"
        return Outcome("quiet", DONE, message)

    def stop(self, now: bool) -> str:
        """Stop the model; returns the sentence to show. A job is cancelled. A process gets SIGTERM,
        and SIGKILL 10 s later (2 s with ``now``), from ``look``. Waits 5 s at most.

        Raises RunError without permission, or when it fails.
        """
        if not self._allow_stop or self._subject is None:
            raise RunError("this run is only observed: to stop it, look at it with --allow-stop "
                           "and its --job or --pid")  # fmt: skip
        if isinstance(self._subject, ObservedJob):
            return self._subject.stop()
        return self._subject.stop(at_once=now)

    def _witness(self) -> Witness:
        return Witness(Standing.UNKNOWN, "") if self._subject is None else self._subject.look()

    def _quiet_from(self, usual_s: float) -> float:
        """How long nothing must be written until the model is quiet; users may know better."""
        return usual_s if self._quiet_after_s is None else min(usual_s, self._quiet_after_s)

    def _is_silent(self, witness: Witness) -> bool:
        """Whether the witness has not answered for so long that its last word counts no more."""
        return witness.silent_s >= self._files.long_s

    def _is_mute(self, witness: Witness) -> bool:
        return witness.standing is Standing.UNKNOWN or self._is_silent(witness)

    def _after(self, witness: Witness, now: float) -> tuple[Observation, bool]:
        """The job or process has ended."""
        files, text = self._files, witness.text
        seen = files.seen
        if not self._is_settled(now):
            before = self._observation.state
            state: ModelState = "quiet" if before == "quiet" else "ending"
            return Observation(state, f"{text}; {files.ago}"), False
        says = _joined(text, f"its log says: {files.line}" if files.line else "")
        if witness.failed:
            return Observation("failed", says), True
        if seen is None and not self._lost:
            return Observation("unknown", f"{text}; its log is not read yet"), True
        if seen is not None and (seen.ended_well or files.failure):
            return Observation("ended" if seen.ended_well else "failed", says), True
        if self._lost:
            # The log's last lines went with the folder: that they are missing says nothing.
            return Observation("ended", f"{text}; the end of its log was not seen"), True
        if self._tells_end and files.line:
            unsaid = f"its log does not say that it ended well; its last line: {files.line}"
            return Observation("failed", f"{text}; {unsaid}"), True
        return Observation("ended", f"{text}; no log says how"), True

    def _is_settled(self, now: float) -> bool:
        """Whether the last writes of a model that has ended are here, or never will be."""
        if self._lost:
            return True
        seen, since = self._files.seen, now if self._over_since is None else self._over_since
        settled = now - since >= SETTLES_S
        if seen is None or now - self._files.reported > REPORTS_S:
            return settled
        if seen.ended_well and not seen.in_progress:
            return True
        return settled and seen.quiet_s >= SETTLES_S

    def _beside(self, witness: Witness) -> tuple[Observation, bool]:
        """The job or process waits or runs."""
        files, text = self._files, witness.text
        long_quiet = files.quiet_s >= files.long_s
        if witness.standing is Standing.WAITING:
            return Observation("waiting", text), False
        if files.says_end:
            # The job may start another model in this folder.
            return Observation("ended", f"the log's last line: {files.line}; {text}"), long_quiet
        if files.quiet_s >= self._quiet_from(files.long_s) and files.seen is not None:
            says = f"its log says: {files.failure}" if files.failure else ""
            evidence = _joined(text, files.silence, says)
            return Observation("quiet", evidence, files.seen.written), False
        return Observation("running", text), False

    def _by_files(self, text: str) -> tuple[Observation, bool]:
        """There are logs and frames, and nothing else."""
        files = self._files
        seen = files.seen
        if seen is None:
            return Observation("unknown", _joined(text, "the folder is not read yet")), False
        if files.says_end:
            settled = files.quiet_s >= (LINGERS_S if seen.in_progress else SETTLES_S)
            evidence = _joined(text, f"the log's last line: {files.line}")
            return Observation("ended", evidence), settled
        if files.failure and files.quiet_s >= LINGERS_S:
            evidence = _joined(text, f"the log says: {files.failure}", files.silence)
            return Observation("failed", evidence, seen.written), True
        if seen.newest is None:
            return Observation("unknown", _joined(text, files.silence)), False
        if files.quiet_s >= self._quiet_from(files.usual_s):
            return Observation("quiet", _joined(text, files.silence), seen.written), False
        state: ModelState = "running" if files.is_dated else "unknown"
        return Observation(state, _joined(text, files.ago)), False


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
