"""What is wrong or risky in the inputs of a WRF run: reported, never edited."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from burstlens.workflows.models.base import QUIET_S
from burstlens.workflows.models.inputs import old_output
from burstlens.workflows.models.namelist import Namelist, flag, number
from burstlens.workflows.models.wrf_forms import (
    NETCDF,
    PARALLEL,
    SERIAL,
    SPLIT,
    is_quilting,
    is_split,
)
from burstlens.workflows.models.wrf_names import (
    DATED,
    RESTART,
    read_faults,
    read_settings,
    templates,
)
from burstlens.workflows.models.wrf_restart_names import form_fault, name_faults

OutNames = Sequence[tuple[str, str]]
_OF_WRF = re.compile(r"namelist\.|wrf|real\.exe|rsl\.|met_em\.")
"""How file names in a WRF run directory begin."""

_OUTPUT_FORM = re.compile(r"io_form_(?:history|restart|auxhist\d+)")


def is_serial(settings: Namelist) -> bool:
    """Whether every stream is certainly written without PnetCDF."""
    forms = [
        number(settings, key)
        for key in settings
        if key == "io_form_history" or key.startswith("io_form_auxhist")
    ]
    return "io_form_history" in settings and all(form in SERIAL for form in forms)


def other_writers(settings: Namelist) -> list[str]:
    """The settings that make ranks other than the first write frames or restart files."""
    found = []
    for key in sorted(filter(_OUTPUT_FORM.fullmatch, settings)):
        form = number(settings, key)
        if is_split(form):
            found.append(f"{key} = {form:g}: each rank writes a file of its own (2: rank 0 writes)")
        elif form in PARALLEL:
            found.append(f"{key} = {form:g}: all ranks write one file (2: rank 0 writes)")
    if is_quilting(settings):
        found.append("nio_tasks_per_group > 0: the last ranks write (0: rank 0 writes)")
    return found


def output_advice(settings: Namelist, ranks: int) -> list[str]:
    """What in the namelist decides how fast many ranks write, and no hint can change."""
    serial = sorted(
        key for key in filter(_OUTPUT_FORM.fullmatch, settings) if number(settings, key) in SERIAL
    )
    if ranks == 1 or not serial or is_quilting(settings):
        return []
    return [
        f"{', '.join(serial)}: one rank writes, so hints of MPI-IO have no effect there; 11 "
        "(PnetCDF) or I/O ranks (nio_tasks_per_group) may gain more. These are lines of "
        "namelist.input: change them by hand, then tune"
    ]


def is_script(path: Path) -> bool:
    """Whether an executable is a script, which may do other things before it starts WRF."""
    try:
        with path.open("rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def check(
    inputs: Path, executable: str, outnames: OutNames, is_leftover: Callable[[str], bool]
) -> list[str]:
    """One message each, worst first; those that stop the run start with ``error: ``."""
    try:
        names = sorted(os.listdir(inputs))
    except OSError as error:
        return [f"error: the inputs cannot be listed: {inputs} ({error.strerror})"]
    messages = _executable(executable, inputs, names)
    settings = read_settings(inputs)
    if not settings and messages and not any(_OF_WRF.match(name) for name in names):
        return [
            f"error: there is no executable {executable} in {inputs}, no namelist.input and "
            "no wrfinput_d01: name a WRF run directory"
        ]
    if not settings:
        messages.append(f"error: {inputs / 'namelist.input'} is missing, empty or not a namelist")
    messages += [f"namelist.input, {fault}" for fault in read_faults(inputs)]
    messages += _places(inputs, settings)
    if flag(settings, "restart") and (fault := form_fault(settings)):
        messages.append(f"error: restart = .true.: {fault}")
    messages += name_faults(settings)
    messages += _traps(outnames, settings)
    return [*messages, *old_output(inputs, is_leftover)]


def _executable(executable: str, inputs: Path, names: list[str]) -> list[str]:
    path = inputs / executable
    if not path.is_file():
        near = get_close_matches(executable, names, 3, 0.5)
        hint = f"; near: {', '.join(near)}" if near else ""
        return [f"error: there is no executable {executable} in {inputs}{hint}"]
    if not os.access(path, os.X_OK):
        return [f"error: {path} is not executable: chmod +x it"]
    return []


def _places(inputs: Path, settings: Namelist) -> list[str]:
    """Names of output in folders that Burstlens can neither see nor make."""
    found = []
    for output in templates(settings):
        what, frames = f"{output.stream}_outname", output.holds_frames
        level = "error: " if frames else ""
        if output.stream == RESTART[0] and (output.leads_out or output.dated_folder):
            continue  # one of name_faults
        if output.leads_out:
            means = (
                "its frames would not be seen"
                if frames
                else "that folder is not made, and what is written there is neither seen nor kept"
            )
            found.append(f"{level}{what} leads out of the run's folder ({output.text}): {means}")
        elif output.dated_folder:
            found.append(
                f"{level}{what} has <date> in the name of a folder ({output.text}), which is not "
                "made; <year>, <month>, <day> and <hour> are"
            )
        else:
            found += [
                f"error: {what} needs a folder {parent}, and {inputs / parent} is a file"
                for parent in output.parents or ()
                if (inputs / parent).is_file()
            ]
    return sorted(found, key=lambda text: not text.startswith("error: "))


def _traps(outnames: OutNames, settings: Namelist) -> Iterator[str]:
    quilting, flagged = is_quilting(settings), flag(settings, "output_ready_flag")
    form = number(settings, "io_form_history", default=2)
    growing = number(settings, "frames_per_outfile", default=1) > 1
    netcdf4 = form in SERIAL and (quilting or not flag(settings, "use_netcdf_classic"))
    if quilting and growing and netcdf4:
        yield (
            "quilting with several frames in a netCDF-4 file: nothing of it can be read before "
            "the file is closed; set frames_per_outfile = 1"
        )
    if quilting and flagged:
        yield "output_ready_flag has no effect with quilting (nio_tasks_per_group > 0)"
    if quilting and number(settings, "nio_groups", default=1) > 1:
        closed = f"its file is seen to be closed, or after {QUIET_S:g} s of quiet"
        yield (
            "nio_groups > 1: frames may come out of order, so a later frame proves nothing; each "
            f"is taken to be whole when {closed if netcdf4 else 'the model has ended'}"
        )
    if growing and netcdf4 and not quilting:
        yield (
            "frames_per_outfile > 1 with netCDF-4: frames are seen one by one, but their file "
            "can be released only when the next one is begun"
        )
    if form == SPLIT + NETCDF:
        yield "io_form_history = 102: one file per rank; a frame is complete when all are"
    if flagged and flag(settings, "nocolons"):
        yield "nocolons: the names of ready flags keep their colons"
    for stream, template in outnames:
        if not DATED.search(template):
            yield f"{stream}_outname has no <date>: every frame of it goes to one name"
    if flagged and any(
        stream == "history" and not template.startswith("wrfout_d<domain>_")
        for stream, template in outnames
    ):
        yield "history_outname: the names of ready flags do not follow it"
