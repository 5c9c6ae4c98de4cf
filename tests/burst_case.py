"""Slurm's programs with recorded answers about burst buffers, for tests of what follows from them.

``scontrol show burst`` prints the next of ``answers``, the last one again and again; ``sbatch`` and
``scancel`` change them as a test says. Formats are those of Slurm 22.05.
"""

from __future__ import annotations

import contextlib
import getpass
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.journal import Journal
from burstlens.workflows.driver.run import recipe_of
from burstlens.workflows.driver.scheduling import scheduled
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.persistent_buffer import Persistent
from burstlens.workflows.placement.provision import provision

POOL = "Name=datawarp DefaultPool=wlm_pool Granularity={} TotalSpace={} FreeSpace={} UsedSpace={}\n"
FLAGS = "  Flags=EnablePersistent,TeardownFailure\n  GetSysState=/bin/dw_wlm_cli\n"
EMPTY = POOL.format("20GB", "10TB", "10TB", "0") + FLAGS
SILENT = POOL.format("1", "0", "0", "0") + FLAGS
"""A controller that was started while the DataWarp service does not answer."""
UNLISTED = POOL.format("20GB", "10TB", "9980GB", "0") + FLAGS
"""The same when the service has named its pools, and not yet its buffers."""
CREATED = "2026-11-26T11:21:48"


def holding(*names: str, created: str = CREATED, user: str = "", state: str = "allocated") -> str:
    """What Slurm prints while these persistent buffers exist."""
    used = 20 * len(names)
    rows = "".join(
        f"    Name={name} CreateTime={created} Pool=wlm_pool Size=20GB State={state} "
        f"UserID={user or getpass.getuser()}({os.getuid()})\n"
        for name in names
    )
    pool = POOL.format("20GB", "10TB", f"{10_000 - used}GB", f"{used}GB")
    return f"{pool}{FLAGS}  Allocated Buffers:\n{rows}"


@dataclass
class SlurmPrograms:
    """A folder with Slurm's programs; ``calls`` are their arguments."""

    folder: Path

    def __post_init__(self) -> None:
        self.folder.mkdir()
        self.answers(EMPTY)
        self.jobs()
        self._set(
            "scontrol",
            'case "$*" in\n"show burst")\n  n=$(cat burst.next); [ -f burst.$((n + 1)) ] && '
            "echo $((n + 1)) > burst.next\n  cat burst.$n ;;\n"
            '"--oneliner show job "*)\n  cat job-$4 2>/dev/null || '
            "{ echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1; } ;;\n"
            '*) cat "config" ;;\nesac',
        )
        self._set("squeue", 'case "$*" in *BurstBuffer*) cat holders ;; *) cat queue ;; esac')
        self._set(
            "sbatch",
            "n=$(($(cat last) + 1)); echo $n > last; cat > script-$n\n"
            "name=$(sed -n 's/^#SBATCH --job-name=//p' script-$n)\n"
            "comment=$(sed -n 's/^#SBATCH --comment=//p' script-$n)\n"
            r"printf '%s\001PENDING\001Resources\001100\001%s\001%s\001\002\n' $n $name $comment "
            ">> queue\n"
            'echo "JobId=$n JobName=$name SubmitTime=$(cat clock) '
            'JobState=PENDING Reason=Resources" > job-$n\n'
            "lines=$(grep -E '^#(BB|DW)' script-$n)\n"
            r"printf '%s\001me\001PENDING\001%s\001%s\001%s\001%s\001N/A\001\002\n' $n "
            '$comment "$lines" $name $(cat clock) >> holders\n'
            "[ -f on-sbatch ] && . ./on-sbatch\necho $n",
        )
        self._set(
            "scancel",
            "for n; do sed -i s/JobState=PENDING/JobState=CANCELLED/ job-$n; "
            'sed -i "/^$n\t/s/PENDING/CANCELLED/" queue; done\n'
            "[ -f on-scancel ] && . ./on-scancel; exit 0",
        )
        for name, text in (("last", "0"), ("queue", ""), ("clock", "2026-11-26T11:21:47")):
            (self.folder / name).write_text(text)
        self.config()

    def answers(self, *texts: str) -> None:
        """``scontrol show burst`` prints these, one after the other."""
        for old in self.folder.glob("burst.*"):
            old.unlink()
        for number, text in enumerate(texts):
            (self.folder / f"burst.{number}").write_text(text)
        (self.folder / "burst.next").write_text("0\n")

    def jobs(self, *jobs: tuple[str, str, str], ends: str = CREATED) -> None:
        """Jobs that squeue lists with burst buffers: id, state, directive lines."""
        rows = (
            "\x01".join(
                (number, getpass.getuser(), state, f"run-{number}", lines, "job", CREATED, ends, "")
            )
            for number, state, lines in jobs
        )
        (self.folder / "holders").write_text("".join(f"{row}\x02\n" for row in rows))

    def config(self, min_job_age: str = "300 sec", now: str = "2026-11-26T11:21:50") -> None:
        """``scontrol show config``."""
        text = f"Configuration data as of {now}\nMinJobAge               = {min_job_age}\n"
        (self.folder / "config").write_text(text)

    def on(self, program: str, shell: str) -> None:
        """``sbatch`` or ``scancel`` also does that, in the folder; ``$n`` is the job's id."""
        (self.folder / f"on-{program}").write_text(shell)

    def becomes(self, text: str) -> str:
        """The shell line after which ``scontrol show burst`` prints that, for :meth:`on`."""
        (self.folder / "later").write_text(text)
        return "rm -f burst.*; cp later burst.0; echo 0 > burst.next"

    @property
    def calls(self) -> list[str]:
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def _set(self, name: str, shell: str) -> None:
        program = self.folder / name
        program.write_text(f'#!/bin/sh\ncd {self.folder}\necho "{name} $*" >> calls\n{shell}\n')
        program.chmod(0o755)


def on_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> SlurmPrograms:
    """Such programs, in front of the PATH."""
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return SlurmPrograms(folder)


def space_of(run: RunDir) -> Persistent:
    recipe, site = recipe_of(run)
    launcher, _ = scheduled(run, recipe, site)
    space = provision(site, run, recipe, launcher, lambda: False)
    assert isinstance(space, Persistent)
    return space


def journalled(run: RunDir, *events: ev.Event) -> None:
    with contextlib.closing(Journal(run.journal, 1)) as journal:
        for event in (ev.RunStarted(host="here"), *events):
            journal.append(event)


def buffer_of(run: RunDir, *, owned: bool = True) -> BufferRef:
    space = space_of(run)
    path = f"$DW_PERSISTENT_STRIPED_{space.name}"
    return BufferRef("datawarp", path, space.folder, space.name, owned)
