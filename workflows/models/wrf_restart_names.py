"""Restart files from which no WRF run could continue, by the settings that make them."""

from __future__ import annotations

from collections.abc import Iterator

from burstlens.workflows.models.namelist import Namelist, flag, number
from burstlens.workflows.models.wrf_forms import PNETCDF
from burstlens.workflows.models.wrf_names import RESTART, domains, templates
from burstlens.workflows.models.wrf_rings import ring_faults


def faults(settings: Namelist, every_s: float | None = None) -> list[str]:
    """Why no run can continue from them, if they come so often, one message each."""
    unopened = form_fault(settings)
    rings = ring_faults(settings, every_s)
    return [*([unopened] if unopened else []), *name_faults(settings), *rings]


def form_fault(settings: Namelist) -> str:
    """Why WRF does not find them under their names; "" where it does."""
    if number(settings, "io_form_restart") != PNETCDF or flag(settings, "nocolons"):
        return ""
    return (
        f"io_form_restart = {PNETCDF} without nocolons = .true.: PnetCDF writes _ for : in the "
        "names of restart files, and WRF opens them with : and fails; set nocolons = .true. from "
        "the beginning, or io_form_restart = 2"
    )


def name_faults(settings: Namelist) -> Iterator[str]:
    """Names under which restart files replace each other, or are not seen."""
    most = len(domains(settings))
    for template in templates(settings):
        if template.stream != RESTART[0]:
            continue
        if "<date>" not in template.text:
            yield "rst_outname has no <date>: each restart file replaces the last one"
        if most > 1 and "<domain>" not in template.text:
            yield (
                f"rst_outname has no <domain>, and there are {most} domains: their restart files "
                "replace each other"
            )
        if template.leads_out:
            yield (
                f"rst_outname leads out of the run's folder ({template.text}): that folder is not "
                "made, and restart files there are neither seen nor kept"
            )
        elif template.dated_folder:
            yield (
                f"rst_outname has <date> in the name of a folder ({template.text}), which is not "
                "made; <year>, <month>, <day> and <hour> are"
            )
