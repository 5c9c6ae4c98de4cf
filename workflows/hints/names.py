"""Which MPI-IO hints there are, by MPI, and which MPI the programs of a site use.

Sources: ROMIO's user's guide, and what ``ROMIO_PRINT_HINTS=1`` prints with MPICH 4.0.2; the manual
page intro_mpi(3) of Cray MPICH; Open MPI's manual, "Open MPI IO (OMPIO)", and ``ompi_info --param
io|fs|fbtl|fcoll all --level 9`` of 5.0.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache

from burstlens.cluster_configs.site import Mpi, Site

SWITCH = ("enable", "disable", "automatic")
TRUTH = ("true", "false")

_GENERIC: dict[str, tuple[str, ...]] = {
    "cb_nodes": (), "cb_buffer_size": (), "cb_config_list": (),
    "romio_cb_read": SWITCH, "romio_cb_write": SWITCH,
    "romio_ds_read": SWITCH, "romio_ds_write": SWITCH,
    "romio_no_indep_rw": TRUTH, "ind_rd_buffer_size": (), "ind_wr_buffer_size": (),
    "striping_factor": (), "striping_unit": (), "start_iodevice": (), "direct_io": TRUTH,
}  # fmt: skip
_ROMIO = {
    **_GENERIC,
    "romio_cb_pfr": (), "romio_cb_fr_types": (), "romio_cb_fr_alignment": (),
    "romio_cb_ds_threshold": (), "romio_cb_alltoall": SWITCH, "romio_min_fdomain_size": (),
    "romio_synchronized_flush": (), "romio_lustre_start_iodevice": (),
    "romio_lustre_co_ratio": (), "romio_lustre_coll_threshold": (), "romio_lustre_ds_in_coll": (),
    "direct_read": TRUTH, "direct_write": TRUTH,
}  # fmt: skip
_CRAY = {
    **_GENERIC,
    "cray_cb_nodes_multiplier": (), "cray_cb_write_lock_mode": (), "cray_fileoff_based_aggr": (),
    "aggregator_placement_stride": (), "abort_on_rw_error": (), "overstriping_factor": (),
}  # fmt: skip

VALUES: Mapping[Mpi, Mapping[str, tuple[str, ...]]] = {"romio": _ROMIO, "cray-mpich": _CRAY}
"""For each MPI the hints that it reads, and their possible values; empty for numbers and lists."""

STRIPING = frozenset(
    {
        "striping_factor", "striping_unit", "overstriping_factor", "start_iodevice",
        "romio_lustre_start_iodevice", "romio_lustre_co_ratio", "romio_lustre_coll_threshold",
        "romio_lustre_ds_in_coll", "cray_cb_nodes_multiplier", "cray_cb_write_lock_mode",
    }
)  # fmt: skip
"""Hints that act on Lustre, and with Cray MPICH on DataWarp, alone."""

_PARAMETER = re.compile(r"(io_ompio|fs|fbtl|fcoll|sharedfp)(_[a-z0-9_]+)?")
_SAME = {
    "cb_nodes": "io_ompio_num_aggregators",
    "cb_buffer_size": "io_ompio_bytes_per_agg",
    "striping_factor": "fs_lustre_stripe_width",
    "striping_unit": "fs_lustre_stripe_size",
}
_SIEVING = {
    "romio_ds_read": "fbtl_posix_read_datasieving",
    "romio_ds_write": "fbtl_posix_write_datasieving",
}


def parameter(hint: str, value: str) -> tuple[str, str] | None:
    """The MCA parameter of OMPIO that does what a hint of ROMIO asks, and its value. Its own
    parameters (``io_ompio_grouping_option``) stay as they are. None if there is none. Data sieving
    can be switched from Open MPI 5.0 on; older ones ignore the parameter."""
    if _PARAMETER.fullmatch(hint):
        return hint, value
    if hint in _SAME:
        return _SAME[hint], value
    if hint in _SIEVING and value in {"enable", "disable"}:
        return _SIEVING[hint], "true" if value == "enable" else "false"
    if hint in {"romio_cb_read", "romio_cb_write"} and value == "disable":
        return "fcoll", "individual"  # the component without collective buffering, for both
    return None


def understood(mpi: Mpi, hint: str, value: str) -> bool:
    """Whether that MPI reads the hint."""
    if mpi == "openmpi":
        automatic = hint in {*_SIEVING, "romio_cb_read", "romio_cb_write"} and value == "automatic"
        return automatic or parameter(hint, value) is not None
    return hint in VALUES.get(mpi, {})


def known_names(mpi: Mpi) -> list[str]:
    """The names to suggest for a misspelt one."""
    if mpi == "openmpi":
        return [*_SAME, *_SAME.values(), *_SIEVING, "romio_cb_read", "romio_cb_write"]
    return list(VALUES.get(mpi, {}))


LIMIT_S = 10.0
"""Limit for ``mpiexec --version``."""
_SIGNS: tuple[tuple[str, Mpi], ...] = (
    (r"Open ?MPI|OpenRTE|PRRTE", "openmpi"),
    (r"HYDRA|MPICH|MVAPICH", "romio"),
)
"""What launchers print about themselves."""


def mpi_of(site: Site) -> Mpi | None:
    """The MPI that the site file names, else the one of the launcher on this machine. None if
    neither says it: a batch system's launcher (``srun``) starts programs of any MPI."""
    if site.mpi is not None:
        return site.mpi
    if site.scheduler != "local":
        return None
    path = shutil.which(site.mpi_launcher[0], path=search_path())
    return None if path is None else _of_launcher(path)


def search_path() -> str:
    """Where programs of this machine are looked for: a run has its interpreter's folder first."""
    return os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])


@cache
def _of_launcher(path: str) -> Mpi | None:
    try:
        done = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = done.stdout.decode(errors="replace")
    return next((mpi for sign, mpi in _SIGNS if re.search(sign, said)), None)
