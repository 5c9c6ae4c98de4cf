"""WRF, the Weather Research and Forecasting model (``wrf.exe``, ARW core).

Streams are history of each domain (``d01``) and auxiliary history (``auxhist2_d01``), not restart
files. Names, log lines and settings as in WRF v4 (share/mediation_integrate.F,
Registry/registry.io_boilerplate) and as measured with v4.3.3.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from burstlens.core.quantity import seconds_of
from burstlens.core.valid_time import wrf_key
from burstlens.workflows.models import (
    namelist,
    wrf_checks,
    wrf_files,
    wrf_forms,
    wrf_names,
    wrf_restart,
    wrf_restart_names,
    wrf_rings,
    wrf_size,
    wrf_times,
)
from burstlens.workflows.models.base import (
    CAUSE,
    ERROR,
    Facts,
    Lack,
    LogLine,
    Model,
    OutputName,
    OutputNames,
)
from burstlens.workflows.models.continuation import CheckpointName, Continuation, Proof, Start
from burstlens.workflows.models.inputs import earlier_frame
from burstlens.workflows.models.wrf_fields import PROGNOSTIC, RESTART_FIELDS
from burstlens.workflows.models.wrf_names import read_settings

if TYPE_CHECKING:
    from burstlens.viz.frames.outline import Known

_WRITTEN = re.compile(
    r"\s*Timing for Writing (\S+)\s+for domain\s+(\d+)(?::\s*(\d[\d.]*)\s+elapsed seconds)?"
)
_RESTARTS = re.compile(r"\s*RESTART(?: run:|: nest,) opening \S+ for reading")
_RESTARTED = re.compile(r"\s*Timing for processing restart file for domain")
_STEP = re.compile(r"\s*Timing for main(?: \(dt=[^)]*\))?: time (\S+) on domain\s+1:")
_LOST = re.compile(r"error opening (\S+) for writing")
_QUILT = re.compile(r"Quilting with\s+\d+ groups of\s+([1-9]\d*) I/O tasks")
_END = re.compile(r"(?:d\d\d (\S+) )?wrf: SUCCESS COMPLETE WRF")
_CFL = re.compile(r"exceeded (?:v_)?cfl", re.IGNORECASE)
_AT = re.compile(r"\bat time (\S+)")
_DOMAIN = re.compile(r"\s*d\d\d (\S+) ")
_FATAL = re.compile(r"FATAL CALLED")
_NAMELIST = re.compile(r"-{3,} *(ERROR while reading namelist .*?)[ -]*$")
_RULED_OUT = re.compile(r"^\s*(?:d\d\d \S+ +)?-{3,4} *(ERROR: .*)")
_SUMMARY = (
    r"\s*(?:NOTE: +(?:\d+ +namelist (?:settings are wrong|vs input data)|Please check and reset)"
    r"|ERRORS while reading one or more)"
)
_COUNTED = re.compile(_SUMMARY)
_MORE_FATAL = rf"(?!\s*(?:d\d\d \S+ +)?-{{8,}})(?!.*FATAL CALLED)(?!{_SUMMARY})"
"""Up to the line of dashes. A line that only counts errors is not the reason."""


@dataclass(frozen=True, slots=True)
class Wrf(Model):
    """The adapter. ``executable`` is a file among the inputs, or an absolute path.

    ``outnames`` (stream, template of file names), ``innames`` and ``restarts`` (templates of input
    and restart files), ``restart`` (whether the run starts from restart files; None: not known) and
    ``restart_form`` (how these are written) follow the namelist: :meth:`configured` sets them.
    """

    executable: str = "wrf.exe"
    """WRF's program: a file among the inputs, or an absolute path."""
    arguments: tuple[str, ...] = ()
    """Arguments of the program."""
    outnames: tuple[tuple[str, str], ...] = (wrf_names.HISTORY, wrf_names.AUXILIARY)
    """Stream and template of its file names, for each output; set from the namelist."""
    innames: tuple[str, ...] = ()
    """Templates of the names of input files; set from the namelist."""
    restarts: tuple[str, ...] = (wrf_names.RESTART[1],)
    """Templates of the names of restart files; set from the namelist."""
    restart: bool | None = None
    """Whether the run starts from restart files; set from the namelist."""
    restart_form: int = 2
    """The `io_form_restart` of restart files; set from the namelist."""
    moved: bool = False
    """Whether frames lie beside `namelist.input`, under the names there or the default ones,
    whatever folder it says."""
    time_variable: str = "Times"
    """The variable that holds the times of frames."""
    log_patterns: tuple[str, ...] = ("rsl.error.*", "model.log")
    """Logs to follow, as globs in the model's folder."""
    keep_patterns: tuple[str, ...] = ("rsl.*", "namelist.*", "model.log")
    """Small files to bring home at the end, as globs."""

    name: ClassVar[str] = "wrf"
    mpi: ClassVar[bool] = True

    def configured(self, folder: Path) -> Wrf:
        """The adapter with the file names that ``namelist.input`` in that folder asks for."""
        settings = read_settings(folder)
        return replace(
            self,
            outnames=wrf_names.frames(settings, moved=self.moved),
            innames=wrf_names.inputs(settings),
            restarts=wrf_names.restarts(settings),
            restart=namelist.flag(settings, "restart") if settings else None,
            restart_form=int(namelist.number(settings, "io_form_restart", default=2)),
        )

    def command(self) -> list[str]:
        path = self.executable if "/" in self.executable else f"./{self.executable}"
        return [path, *self.arguments]

    def checkpoint_of(self, name: str) -> CheckpointName | None:
        """The time, domain and (io_form 102) tile that a restart file's name gives."""
        return wrf_names.checkpoint(name, self.restarts)

    def checkpoint_proof(self, name: str) -> Proof:
        """The file's bytes where one process writes it, else the log."""
        return wrf_restart.proof(self.restart_form)

    def checkpoint_parts(self, inputs: Path, time: str) -> list[str]:
        """The domains that a run which continues at that time opens; none without a readable
        ``namelist.input``."""
        return wrf_restart.parts(read_settings(inputs), time)

    @property
    def checkpoint_fields(self) -> tuple[str, ...]:
        """Those of both time levels, and the moisture."""
        return RESTART_FIELDS

    @property
    def prognostic(self) -> tuple[str, ...]:
        """Those of the dynamics, and the moisture."""
        return PROGNOSTIC

    def checkpoint_faults(self, inputs: Path, every_s: float | None = None) -> list[str]:
        """Names, forms and times of restart files from which WRF could not continue."""
        return wrf_restart_names.faults(read_settings(inputs), every_s)

    def checkpoint_warnings(self, inputs: Path, every_s: float | None = None) -> list[str]:
        """Restart files between two frames, or between two steps."""
        return [*wrf_rings.warnings(read_settings(inputs), every_s)]

    def checkpoint_interval_s(self, inputs: Path) -> float | None:
        """``restart_interval`` of the namelist."""
        return wrf_times.interval_s(read_settings(inputs), "restart") or None

    def cuts(self, inputs: Path, count: int, every_s: float | None = None) -> list[float]:
        """Times at which ``restart_interval``, or one of ``every_s``, makes restart files."""
        return wrf_restart.cuts(read_settings(inputs), count, every_s)

    def start(self, inputs: Path, wanted: Continuation) -> Start:
        """A copy of ``namelist.input``, in which only what is wanted differs.

        ``wanted.files`` are relative to the model's folder, where WRF opens them under these
        names. Tiles need as many ranks as wrote them, which WRF does not notice:
        :attr:`.Start.ranks` is their number, and the caller compares it with its own.
        """
        return wrf_restart.start(inputs, wanted, self.command())

    def runs(self) -> str:
        """The program and its arguments, unless it is a file of the inputs without arguments."""
        own = self.arguments or "/" in self.executable
        return " ".join(self.command()) if own else ""

    def environment(self) -> dict[str, str]:
        """Unbuffered log lines: gfortran buffers 4 kB otherwise."""
        return {"GFORTRAN_UNBUFFERED_PRECONNECTED": "y"}

    def identify(self, name: str) -> OutputName | None:
        """The stream, time and (io_form 102) tile that a file's name gives."""
        return wrf_names.stream_of(name, self.outnames)

    def main_stream(self, inputs: Path) -> str | None:
        """The history of the outermost domain."""
        return "d01"

    def is_leftover(self, name: str) -> bool:
        """Old output, flags and logs, also of the default names in any folder; restart files only
        if the run does not start from them. A file that the namelist names as an input is not."""
        if wrf_names.is_of(name, self.innames):
            return False
        if self.identify(name) or wrf_names.is_old(name, self.restart):
            return True
        return self.restart is False and wrf_names.is_of(name, self.restarts)

    def ready_flag(self, name: str) -> OutputName | None:
        """The frame that a ``wrfoutReady_d01_<date>`` announces, always of history."""
        return wrf_names.flag(name)

    def read_line(self, line: str) -> LogLine | None:
        """What a line of ``rsl.error`` means; durations may read ``*****``, dates never do. WRF
        gives its reason between two lines of dashes, below ``FATAL CALLED FROM FILE``; errors of
        the namelist come before."""
        if match := _WRITTEN.match(line):
            if match[1] == "restart":  # neither its name nor its time is in the line
                took_s = seconds_of(match[3])
                return LogLine("checkpoint", line, stream=f"d{int(match[2]):02d}", took_s=took_s)
            return self._written(match[1], line, match[3])
        if match := _STEP.match(line):
            return LogLine("progress", line, time=wrf_key(match[1]))
        if _RESTARTS.match(line):
            return LogLine("phase", "restarting")
        if _RESTARTED.match(line):
            return LogLine("phase", "running")
        if match := _LOST.search(line):
            return LogLine("trouble", line.strip(), file=posixpath.normpath(match[1]))
        if _CFL.search(line):
            return LogLine("trouble", line.strip(), time=_time(line))
        if _FATAL.search(line):
            return LogLine("trouble", "", weight=CAUSE, more=_MORE_FATAL)
        if match := _NAMELIST.search(line):
            return LogLine("trouble", match[1], weight=ERROR, more=r"\s*Maybe here\?")
        if match := _RULED_OUT.match(line):
            more = r"\s*-{3,4} (?!NOTE|WARNING)"
            return LogLine("trouble", match[1], weight=ERROR, more=more)
        if _COUNTED.match(line):
            return LogLine("trouble", line.strip(), weight=ERROR)
        if _QUILT.search(line):
            return LogLine("asynchronous", line)
        if match := _END.search(line):
            return LogLine("end", line, time=wrf_key(match[1] or ""))
        return None

    def log_guards(self) -> dict[str, str]:
        """``cfl``: each rank's message about points beyond the stable Courant number."""
        return {"cfl": r"(?P<points>\d+)\s+points exceeded (?:v_)?cfl"}

    def facts(self, folder: Path) -> Facts:
        settings = read_settings(folder)
        total_s = wrf_times.total_s(settings)
        about = settings, self.outnames, wrf_times.date(settings, "start"), total_s or 0.0
        quilting = wrf_forms.is_quilting(settings)
        frames, size = wrf_size.history(settings) or (None, None)
        return Facts(
            start=wrf_times.key(settings, "start"),
            end=wrf_times.key(settings, "end")
            if total_s and not wrf_times.run_s(settings)
            else None,
            total_s=total_s,
            serial_classic=wrf_checks.is_serial(settings),
            io_groups=int(namelist.number(settings, "nio_groups", default=1)) if quilting else 1,
            ready_flags=namelist.flag(settings, "output_ready_flag") and not quilting,
            output_bytes=size,
            checkpoint_bytes=wrf_size.checkpoint_bytes(settings),
            checkpoint_unit_s=wrf_rings.unit_s(settings),
            frames=frames,
            folders=wrf_names.watched_folders(*about),
            streams=_streams(settings),
        )

    def check(self, inputs: Path) -> list[str]:
        model = self.configured(inputs)
        return wrf_checks.check(inputs, model.executable, model.outnames, model.is_leftover)

    def other_writers(self, inputs: Path) -> list[str]:
        """A file per rank, parallel files and I/O ranks, as ``namelist.input`` asks for them."""
        return wrf_checks.other_writers(read_settings(inputs))

    def output_advice(self, inputs: Path, ranks: int) -> list[str]:
        """Serial output of many ranks, as ``namelist.input`` asks for it."""
        return wrf_checks.output_advice(read_settings(inputs), ranks)

    def lacks(self, inputs: Path) -> list[Lack]:
        """Initial state, boundaries and restart files that ``namelist.input`` asks for."""
        settings = read_settings(inputs)
        start = wrf_times.date(settings, "start")
        script = wrf_checks.is_script(inputs / self.executable)
        return wrf_files.lacks(settings, inputs, start, script=script)

    def outline(self, inputs: Path, stream: str) -> Known | None:
        """What ``namelist.input``, the initial state and WRF's Registry say about a stream."""
        from burstlens.workflows.models import wrf_outline

        settings = read_settings(inputs)
        return wrf_outline.outline(
            settings, inputs, stream, earlier_frame(inputs, self.identify, stream)
        )

    def output_names(self, inputs: Path) -> OutputNames:
        """Where WRF writes by ``namelist.input``; WRF makes no folders itself."""
        settings = read_settings(inputs)
        about = (
            settings,
            self.outnames,
            wrf_times.date(settings, "start"),
            wrf_times.total_s(settings) or 0.0,
        )
        return wrf_names.output_names(*about)

    def _written(self, name: str, line: str, took: str | None) -> LogLine | None:
        file = posixpath.normpath(name)
        logged = wrf_names.logged_frame(file, self.outnames)
        took_s = seconds_of(took)
        if logged is None:
            return LogLine("output", line, file=file, took_s=took_s) if took_s is not None else None
        stream, time = logged
        # To the minute at least: a shorter time may match several frames.
        cut = len(time) < len("YYYYMMDDTHHMM")
        return LogLine("written", line, stream=stream, time=time, file=file, cut=cut, took_s=took_s)


def _time(line: str) -> str | None:
    """The model's time named in a line, else the time at its start."""
    for pattern in (_AT, _DOMAIN):
        match = pattern.search(line)
        if match and (key := wrf_key(match[1])):
            return key
    return None


def _streams(settings: namelist.Namelist) -> tuple[str, ...]:
    """History of each domain, and the auxiliary history that the namelist sets."""
    if not settings:
        return ()
    domains = [f"d{number:02d}" for number in wrf_names.domains(settings)]
    numbers = {match[1] for key in settings if (match := re.match(r"auxhist(\d+)_", key))}
    auxiliary = [f"auxhist{number}_{d}" for number in sorted(numbers, key=int) for d in domains]
    return (*domains, *auxiliary)
