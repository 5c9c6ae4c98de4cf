"""Why a model ended: the line of its logs that the user needs.

The logs in ``tests/data/logs/ends`` are what WRF, MPICH, Open MPI, the launchers of Cray and Slurm
and the compilers' runtimes print; host names and paths are made up.
"""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path

import pytest
from watcher_case import launched_watcher

from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.models.command import Command
from burstlens.workflows.models.wrf import Wrf

LOGS = Path(__file__).parents[1] / "data" / "logs"
WRF, ANY = Wrf(), Command(argv=["./model.exe"], frames="*.nc")
ENDS = {
    "namelist_typo": (
        WRF,
        "ERROR while reading namelist physics; Maybe here?: num_land_cat = 41,; "
        "Maybe here?: num_urban_nbui = 5,",
    ),
    "namelist_rule": (
        WRF,
        "ERROR: SMS-3DTKE scheme can only work with diff_opt=2; "
        "ERROR: Fix km_opt or diff_opt in namelist.input.",
    ),
    "missing_wrfinput": (
        WRF,
        "program wrf: error opening wrfinput_d01 for reading ierr= -1021",
    ),
    "missing_wrfrst": (
        WRF,
        "program wrf: error opening wrfrst_d01_0001-01-01_00:02:00 for reading",
    ),
    "cut_wrfrst": (
        WRF,
        "ERROR: Could not find matching time in input file wrfrst_d01_0001-01-01_00:02:00",
    ),
    "other_rank": (WRF, "2005-08-28_12:01:00 WARNING: Extreme t_soisno at c, level 1 1"),
    "oom_slurm": (WRF, "Detected 1 oom-kill event(s) in step 3495064.0 cgroup"),
    "oom_new_slurm": (ANY, "Detected 1 oom_kill event in StepId=440575.0"),
    "time_limit": (ANY, "CANCELLED AT 2020-07-03T02:59:56 DUE TO TIME LIMIT"),
    "segfault_gfortran": (ANY, "Program received signal SIGSEGV: Segmentation fault"),
    "segfault_openmpi": (ANY, "Signal: Segmentation fault (11)"),
    "library": (ANY, "error while loading shared libraries: libnetcdff.so.7"),
    "fortran_runtime": (
        ANY,
        "At line 212 of file tables.f90 (unit = 27, file = 'VEGPARM.TBL'); "
        "Fortran runtime error: End of file",
    ),
    "intel_runtime": (ANY, "forrtl: severe (29): file not found, unit 27"),
    "no_executable_openmpi": (ANY, "Executable: ./model.exe"),
    "no_executable_mpich": (ANY, "execvp error on file ./model.exe (No such file or directory)"),
    "no_executable_srun": (ANY, "execve(): ./model.exe: No such file or directory"),
    "cray_abort": (ANY, "ERROR: the grid has 0 points in direction z"),
    "mpich_abort": (ANY, "cannot open grid.nc"),
    "exit_mpich": (ANY, "crash on purpose: bad hint"),
    "only_abort": (ANY, "Fatal error in internal_Init: Other MPI error"),
    "disk_full": (ANY, "No space left on device"),
    "quota": (ANY, "cannot write out_0007.nc: Disk quota exceeded"),
    "illegal_instruction": (ANY, "Illegal instruction (core dumped)"),
    "python_model": (ANY, "ModuleNotFoundError: No module named 'xarray'"),
}
BANNERS = (
    "Abort(",
    "MPI_ABORT",
    "FAQ",
    "BAD TERMINATION",
    "srun: ",
    "Primary job",
    "This typically",
)


@pytest.fixture
def end(tmp_path, prober):
    """The final report of a model with these logs, and all its trouble."""

    def read(model, logs, piecewise=False):
        watcher = launched_watcher(tmp_path, ".", model, "run", 1, Cursor(), prober=prober)
        trouble = []
        for source in sorted(logs):
            text, target = source.read_bytes(), tmp_path / source.name
            for size in range(0, len(text), 7) if piecewise else ():
                target.write_bytes(text[:size])
                watcher = launched_watcher(
                    tmp_path, ".", model, "run", 1, pickle.loads(pickle.dumps(watcher.cursor)),
                    prober=prober,
                )  # fmt: skip
                trouble += watcher.scan(elapsed_s=0.1, now=0.0, ended=False).trouble
            shutil.copyfile(source, target)
        report = watcher.scan(elapsed_s=0.1, now=0.0, ended=True)
        assert report.ended
        return report, (*trouble, *report.trouble)

    return read


@pytest.mark.parametrize("name", ENDS)
def test_the_cause_is_shown_and_banners_are_not(end, name):
    model, wanted = ENDS[name]
    report, trouble = end(model, (LOGS / "ends" / name).iterdir())
    reason = report.cursor.speech.why
    assert wanted in reason
    if name not in {
        "cray_abort",
        "mpich_abort",
        "only_abort",
        "exit_mpich",
    }:  # no line of a known kind
        assert trouble[-1] == reason  # the newest alarm and the outcome say the same
    assert not [line for line in trouble if line.startswith(BANNERS)]


@pytest.mark.parametrize("name", ["namelist_typo", "missing_wrfinput", "no_executable_openmpi"])
def test_the_cause_does_not_depend_on_the_pieces_in_which_the_log_is_read(end, name):
    model, wanted = ENDS[name]
    report, trouble = end(model, (LOGS / "ends" / name).iterdir(), piecewise=True)
    assert wanted in report.cursor.speech.why
    assert sum(wanted in line for line in trouble) == 1


def test_the_reason_of_a_blow_up_is_its_last_step_and_not_the_signal(end, tmp_path):
    (tmp_path / "in").mkdir()
    for rank in ("0000", "0001"):
        shutil.copyfile(LOGS / f"blowup.rsl.error.{rank}", tmp_path / "in" / f"rsl.error.{rank}")
    report, _ = end(WRF, (tmp_path / "in").iterdir())
    assert "points exceeded v_cfl" in report.cursor.speech.why


def test_a_good_run_has_no_reason_to_end_badly(end, tmp_path):
    (tmp_path / "in").mkdir()
    log = tmp_path / "in" / "rsl.error.0000"
    shutil.copyfile(LOGS / "supercell.rsl.error.0000", log)
    report, trouble = end(WRF, [log])
    assert report.cursor.speech.ended_well
    assert trouble == ()
    assert report.cursor.speech.reason is None


def test_a_line_that_a_recipe_calls_trouble_is_not_a_banner(end, tmp_path):
    model = Command(argv=["x"], frames="*.nc", trouble="(?i)abort|error|negative")
    (tmp_path / "in").mkdir()
    log = tmp_path / "in" / "model.log"
    log.write_text("negative depth at 3, 4\nAbort(1) on node 0: application called MPI_Abort\n")
    report, trouble = end(model, [log])
    assert report.cursor.speech.why == "negative depth at 3, 4"
    assert trouble == ("negative depth at 3, 4",)
