"""How many bytes WRF writes, by its namelist and a rule of thumb: upper estimates."""

from __future__ import annotations

from burstlens.workflows.models import wrf_names, wrf_times
from burstlens.workflows.models.namelist import Namelist, number

_FIELDS_3D, _FIELDS_2D, _BYTES = 25, 120, 4
"""Fields of a frame of history, and the bytes of a value."""
_FRAMES_PER_CHECKPOINT = 4
"""A restart file has 522 variables against 163 of a frame, and four times its size (measured)."""


def history(settings: Namelist) -> tuple[int, int] | None:
    """Frames of history in all domains and their bytes; None if the namelist does not say."""
    total_s = wrf_times.total_s(settings)
    if total_s is None or "e_we" not in settings:
        return None
    size, frames = 0.0, 0
    for index in range(len(wrf_names.domains(settings))):
        interval_s = wrf_times.interval_s(settings, "history", index)
        if interval_s > 0:
            count = int(total_s // interval_s + 1)
            size += _frame_bytes(settings, index) * count
            frames += count
    return frames, int(size)


def checkpoint_bytes(settings: Namelist) -> int | None:
    """The bytes of the restart files of one time, of all domains; None if the namelist does not
    say."""
    if "e_we" not in settings:
        return None
    indices = range(len(wrf_names.domains(settings)))
    return int(_FRAMES_PER_CHECKPOINT * sum(_frame_bytes(settings, index) for index in indices))


def _frame_bytes(settings: Namelist, index: int) -> float:
    """The bytes of one frame of the domain at that index."""
    west_east, south_north, levels = (
        number(settings, name, index) for name in ("e_we", "e_sn", "e_vert")
    )
    return _BYTES * west_east * south_north * (_FIELDS_3D * levels + _FIELDS_2D)
