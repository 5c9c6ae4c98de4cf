"""How a run that others started ended, by its logs alone: the watcher reads, the observer judges.

``blowup`` in ``tests/data/logs`` is a real WRF that died of SIGABRT after CFL messages.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from watcher_case import attached_watcher

from burstlens.core.exit_codes import DONE, FAILED
from burstlens.workflows.awm.adapter import Awm
from burstlens.workflows.frames.arrival import Selection
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.look.driving.look_end import activity_of
from burstlens.workflows.look.observer.observer import Observer
from burstlens.workflows.models.command import Command
from burstlens.workflows.models.wrf import Wrf

LOGS = Path(__file__).parents[1] / "data" / "logs"
ANY = Command(argv=["./model.exe"], frames="*.nc", log_patterns=["*.log"])
CFL = (
    "d01 0001-01-01_00:02:00        23758  points exceeded v_cfl = 2 in domain d01 at time "
    "0001-01-01_00:02:00 hours\n"
)
STEP = (
    "Timing for main: time 0001-01-01_00:{:02d}:{:02d} on domain   1:    0.23883 elapsed seconds\n"
)
SIGNALS = {
    "gfortran": "\nProgram received signal SIGSEGV: Segmentation fault - invalid reference.\n"
    "\nBacktrace for this error:\n#0  0x15101fe218c2 in ???\n#1  0x15101fe20a55 in ???\n",
    "gfortran, FPE": "Program received signal SIGFPE: Floating-point exception.\n",
    "gfortran, BUS": "Program received signal SIGBUS: Access to an undefined portion of memory.\n",
    "intel": "forrtl: severe (174): SIGSEGV, segmentation fault occurred\n"
    "Image              PC                Routine            Line        Source\n"
    "wrf.exe            0000000003A1B2C4  Unknown               Unknown  Unknown\n" * 30,
    "open mpi": "[node7:12345] *** Process received signal ***\n"
    "[node7:12345] Signal: Segmentation fault (11)\n"
    "[node7:12345] Signal code: Address not mapped (1)\n"
    "[node7:12345] [ 0] /lib64/libpthread.so.0(+0xf630)[0x7f2a1c3c5630]\n"
    "[node7:12345] *** End of error message ***\n",
    "mpich": "\n====================================================================\n"
    "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n"
    "=   PID 4711 RUNNING AT node7\n=   EXIT CODE: 139\n"
    "====================================================================\n"
    "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation fault (signal 11)\n",
    "abort": "MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD\n"
    "with errorcode 1.\n",
    "cray": "_pmiu_daemon(SIGCHLD): [NID 00123] [c0-0c0s1n0] [Tue Mar  3 10:00:00 2026] "
    "PE RANK 17 exit signal Segmentation fault\n",
    "slurm": "srun: error: node7: task 17: Segmentation fault (core dumped)\n",
    "slurm, killed": "slurmstepd: error: *** STEP 77.0 ON node7 CANCELLED AT 10:00:00 ***\n",
    "oom": "slurmstepd: error: Detected 1 oom-kill event(s) in step 77.0 cgroup.\n",
    "shell": "./run.sh: line 7: 4711 Killed                  ./model.exe\n",
    "heap": "free(): invalid size\n",
}  # fmt: skip


class Looked:
    """A folder as ``look`` sees it, in scans of which a test says how much time passed."""

    def __init__(self, root: Path, prober, model=None) -> None:
        self.folder = root / "model"
        self.folder.mkdir()
        self._place = root, "model", model or Wrf(), "run", 1
        self._about = {
            "selection": Selection(newest=None), "stamp": root / "clock", "prober": prober,
        }  # fmt: skip
        self._cursor = Cursor()
        self.observer = Observer(tells_end=False)
        self._now = 0.0

    def log(self, name: str, text: str, *, age_s: float = 0.0, mode: str = "a") -> None:
        path = self.folder / name
        with path.open(mode) as file:
            file.write(text)
        then = time.time() - age_s
        os.utime(path, (then, then))

    def age(self, age_s: float) -> None:
        then = time.time() - age_s
        for path in self.folder.iterdir():
            os.utime(path, (then, then))

    def after(self, elapsed_s: float = 1.0):
        """What the observer says that much later."""
        self._now += elapsed_s
        watcher = attached_watcher(*self._place, self._cursor, **self._about)
        report = watcher.scan(elapsed_s=elapsed_s, now=self._now, ended=False)
        self._cursor = report.cursor
        return self.observer.look(self._now, activity_of(report))


@pytest.fixture
def looked(tmp_path, prober):
    def made(model=None) -> Looked:
        return Looked(tmp_path, prober, model)

    return made


def test_a_wrf_that_died_of_a_signal_after_cfl_messages_has_failed(looked):
    wrf = looked()
    for rank in ("0000", "0001"):
        shutil.copyfile(LOGS / f"blowup.rsl.error.{rank}", wrf.folder / f"rsl.error.{rank}")
    wrf.age(3600.0)
    seen = wrf.after()
    assert seen.state == "failed"
    assert "Program received signal SIGABRT" in seen.evidence
    assert wrf.observer.over()
    assert wrf.observer.outcome().exit_code == FAILED


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("log", ["rsl.error.0000", "rsl.error.0003", "model.log"])
def test_a_signals_line_at_the_end_of_a_quiet_log_ends_it_after_any_trouble(looked, name, log):
    wrf = looked()
    wrf.log("rsl.error.0000", STEP.format(1, 0) + CFL * 3)
    wrf.log(log, CFL + SIGNALS[name])
    wrf.age(600.0)
    seen = wrf.after()
    assert seen.state == "failed", seen
    assert wrf.observer.outcome().exit_code == FAILED


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("model", [ANY, Awm()], ids=["command", "awm"])
def test_it_is_so_for_every_adapter(looked, name, model):
    other = looked(model)
    other.log("model.log", "Warning: the time step is large\n" + SIGNALS[name], age_s=600.0)
    assert other.after().state == "failed"


def test_cfl_messages_alone_are_no_end(looked):
    wrf = looked()
    wrf.log("rsl.error.0000", STEP.format(1, 0) + CFL)
    assert wrf.after().state == "running"
    wrf.age(7200.0)
    assert wrf.after(900.0).state == "quiet"
    assert wrf.observer.outcome().exit_code == DONE


def test_a_launchers_remark_is_no_end(looked):
    other = looked(ANY)
    other.log("a.log", "srun: Warning: can't honor --ntasks-per-node set to 36\n", age_s=300.0)
    assert other.after().state != "failed"


def test_a_line_that_the_model_survived_is_no_end(looked):
    other = looked(ANY)
    lines = [f"step {number}\n" for number in range(150)]
    other.log("a.log", "".join([SIGNALS["slurm"], *lines]), age_s=300.0)
    assert other.after().state != "failed"


def test_a_rank_of_an_earlier_run_with_more_ranks_says_nothing_about_this_one(looked):
    wrf = looked()
    wrf.log("rsl.error.0007", SIGNALS["gfortran"], age_s=86400.0)
    wrf.log("rsl.error.0000", STEP.format(1, 0), age_s=300.0)
    assert wrf.after().state != "failed"


def test_a_model_that_was_started_again_into_the_same_log_lives(looked):
    wrf = looked()
    wrf.log("rsl.error.0000", STEP.format(1, 0) + STEP.format(2, 0) + SIGNALS["gfortran"])
    wrf.log("rsl.error.0000", STEP.format(1, 0))
    assert wrf.after().state == "running"
    wrf.age(300.0)
    assert wrf.after(300.0).state != "failed"


def test_a_log_that_is_written_on_for_a_minute_is_that_of_a_living_model(looked):
    other = looked(ANY)
    other.log("a.log", SIGNALS["slurm"], age_s=300.0)
    assert other.after().state == "failed"
    other.log("a.log", "a restart\n")
    assert other.after().state == "running"
    other.age(200.0)
    assert other.after(200.0).state != "failed"
    other.log("a.log", SIGNALS["oom"], age_s=100.0)
    assert other.after(100.0).state == "failed"
    assert "oom-kill" in other.observer.outcome().message


def test_a_truncated_log_begins_another_attempt_without_the_old_end(looked):
    wrf = looked()
    wrf.log("rsl.error.0000", STEP.format(1, 0) + SIGNALS["gfortran"], age_s=300.0)
    wrf.log("rsl.error.0001", SIGNALS["gfortran"], age_s=300.0)
    assert wrf.after().state == "failed"
    wrf.log("rsl.error.0000", STEP.format(0, 10), mode="w")
    assert wrf.after().state == "running"  # and its rank 1 has not begun its log anew
    wrf.log("rsl.error.0001", "taskid: 1\n", mode="w")
    wrf.after()
    wrf.age(300.0)
    assert wrf.after(300.0).state != "failed"
