"""Which processes write and read WRF's files, and how: ``io_form_*`` and I/O ranks (quilting)."""

from __future__ import annotations

from burstlens.workflows.models.namelist import Namelist, number

NETCDF, PNETCDF, PARALLEL_NETCDF4 = 2, 11, 13
"""io_form of netCDF through one process, of PnetCDF, and of netCDF-4 in parallel."""
SPLIT = 100
"""Added to an io_form for one file per rank."""
SERIAL = (NETCDF, SPLIT + NETCDF)
"""Each io_form of netCDF whose files have one writer."""
PARALLEL = (PNETCDF, PARALLEL_NETCDF4)
"""Each io_form of netCDF whose files all ranks write."""


def is_split(form: float) -> bool:
    """Whether each rank has a file of its own."""
    return form > SPLIT


def is_quilting(settings: Namelist) -> bool:
    """Whether dedicated I/O ranks write (``&namelist_quilt``)."""
    return number(settings, "nio_tasks_per_group") > 0


def io_ranks(settings: Namelist) -> int:
    """The number of ranks that only write: they have no part of the domain."""
    groups = number(settings, "nio_groups", default=1)
    return int(max(0.0, number(settings, "nio_tasks_per_group")) * groups)
