"""Settings of ``namelist.input`` that a person changes for one attempt of WRF, as
``namelist.<group>.<key>`` with a text: the values as namelists have them, one per domain.

What makes the grid, names files or says how they are written is refused: checkpoints would not
fit, and Burstlens looks for frames by the inputs' own ``namelist.input``. So are the schemes whose
variables WRF carries from step to step, as a restart file has those of the schemes that wrote it.
These are the ``package`` entries in the Registry of v4.3.3 with variables that restart files have
(letter r), but for diagnostics, such as ``nwp_diagnostics``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from burstlens.core.errors import RecipeError
from burstlens.core.nearness import did_you_mean
from burstlens.core.quantity import counted
from burstlens.workflows.models.namelist import Group, Value, flag, groups_in
from burstlens.workflows.models.wrf_names import FILE, GROUPS, domains

_PREFIX = "namelist."
_REALS = Path(__file__).with_name("wrf_reals.txt")
_REFUSED = (
    (
        re.compile(
            r"[es]_(?:we|sn|vert)|d[xy]|max_dom|grid_id|parent_\w+|[ij]_parent_start|ztop|eta_levels"
            r"|p_top_requested|auto_levels_opt|max_dz|dzbot|dzstretch_[su]|hybrid_opt|etac"
            r"|vert_refine_\w+|num_soil_layers"
        ),
        "it changes the domains or their grid, which the checkpoint and the initial state have: "
        "prepare inputs of their own for it",
    ),
    (
        re.compile(r"nproc_[xy]|reorder_mesh"),
        "it changes which part of a domain each rank has, as files of ranks have it: change "
        f"{FILE} among the inputs, and start another run",
    ),
    (
        re.compile(
            r"(?:mp|cu|shcu|bl_pbl|ra_lw|ra_sw|sf_\w+|elec)_physics|use_theta_m|sf_surface_mosaic"
            r"|mosaic_cat|opt_crop|gwd_opt|icloud_bl|seaice_\w+_opt|swint_opt|progn|chem_opt"
            r"|tracer_opt|madwrf_opt|ifire|scm_force|traj_opt|grid_s?fdda|skebs|sppt|spp(?:_\w+)?"
            r"|rand_perturb"
        ),
        "it decides which variables WRF carries from step to step, or what they mean, and a "
        "checkpoint has those of the old value: prepare inputs of their own for it",
    ),
    (
        re.compile(
            r"(?:start|end)_(?:year|month|day|hour|minute|second)|run_(?:days|hours|minutes|seconds)"
            r"|restart|restart_interval\w*|rst_inname|override_restart_timers"
        ),
        "it is set for each attempt",
    ),
    (
        re.compile(
            r"\w+_outname|io_form_\w+|nocolons|output_ready_flag|use_netcdf_classic|nio_\w+"
            r"|iofields_filename"
        ),
        f"it changes the names, the form or the contents of output files: change {FILE} among the "
        "inputs, and start another run",
    ),
)
"""Settings that are not changed from one attempt to the next, and why."""
_STEP = ("time_step", "time_step_fract_num", "time_step_fract_den")


def wanted_changes(
    text: str, settings: Mapping[str, str]
) -> dict[tuple[str, str], Sequence[Value | None]]:
    """The values of these settings, by group and key of that namelist. Raises RecipeError for one
    that it does not have, or that cannot be changed."""
    groups = {group.name: group for group in groups_in(text) if group.name in GROUPS}
    found: dict[tuple[str, str], Sequence[Value | None]] = {}
    for setting, value in settings.items():
        group, key = _place(setting, groups)
        for refused, why in _REFUSED:
            if refused.fullmatch(key):
                raise RecipeError(f"{setting} cannot be changed: {why}")
        if key in _STEP and _is_adaptive(groups, settings):
            raise RecipeError(
                f"{setting} cannot be changed: with use_adaptive_time_step WRF chooses its step; "
                f"{_PREFIX}domains.starting_time_step and max_time_step bound it"
            )
        found[group.name, key] = _values(
            setting, value, group.settings[key], _most(groups), fractions=key in reals()
        )
    return found


def _place(setting: str, groups: Mapping[str, Group]) -> tuple[Group, str]:
    """The group and the key that a name means."""
    name, _, key = setting.removeprefix(_PREFIX).lower().partition(".")
    if not setting.startswith(_PREFIX) or not key:
        raise RecipeError(f"{setting!r} is not a setting of WRF: these are {_PREFIX}<group>.<key>")
    if name not in groups:
        raise RecipeError(f"{setting}: {FILE} has no group &{name}{did_you_mean(name, groups)}")
    if key not in groups[name].settings:
        others = [other for other, group in groups.items() if key in group.settings]
        near = did_you_mean(key, groups[name].settings)
        there = f"; it is in &{others[0]}" if others else near
        raise RecipeError(f"{setting}: &{name} of {FILE} has no {key}{there}")
    return groups[name], key


def _is_adaptive(groups: Mapping[str, Group], settings: Mapping[str, str]) -> bool:
    """Whether WRF chooses its step with these settings."""
    given = settings.get(f"{_PREFIX}domains.use_adaptive_time_step")
    if given is not None:
        return _read(given)[:1] == [True]
    return flag(groups["domains"].settings, "use_adaptive_time_step")


def _most(groups: Mapping[str, Group]) -> int:
    """The number of domains."""
    return len(domains(groups["domains"].settings if "domains" in groups else {}))


@lru_cache(maxsize=1)
def reals() -> frozenset[str]:
    """The settings that WRF v4.3.3 reads as real numbers (tools/wrf_variables.py)."""
    return frozenset(_REALS.read_text(encoding="utf-8").split())


def _values(
    setting: str, text: str, old: Sequence[Value | None], most: int, *, fractions: bool
) -> Sequence[Value | None]:
    """The values of a text, of the kind and the number of the old ones. ``fractions``: WRF reads
    whole numbers and others."""
    known = [value for value in old if value is not None]
    wanted = _kind(known[0]) if known else None
    values = _read(text) or ([word.strip() for word in text.split(",")] if wanted == "text" else [])
    kinds = {_kind(value) for value in values}
    if not values or "" in values or len(kinds) > 1 or (wanted and kinds != {wanted}):
        kind = {"text": "texts", "truth value": "truth values (.true., .false.)"}.get(wanted or "")
        raise RecipeError(f"{setting}: expected {kind or 'numbers'}, got {text!r}")
    whole = wanted == "number" and not fractions and all(isinstance(value, int) for value in known)
    if whole and any(isinstance(value, float) for value in values):
        raise RecipeError(
            f"{setting}: expected whole numbers, as in {FILE}, got {text!r}: WRF would end when it "
            "reads them"
        )
    least = min(len(old), most)
    if not least <= len(values) <= max(len(old), most):
        expected = counted(max(least, 1), "value")
        raise RecipeError(f"{setting}: expected {expected}, one per domain, got {len(values)}")
    return values


def _read(text: str) -> list[Value]:
    """The values of a text as a namelist has them; empty where it is something else."""
    whole = f"&text\nvalues = {text}\n/"
    first = next(groups_in(whole))
    values = first.settings.get("values", [])
    if first.faults or first.end != len(whole) - 1 or len(first.settings) != 1:
        return []
    return [] if None in values else [value for value in values if value is not None]


def _kind(value: Value) -> str:
    if isinstance(value, bool):
        return "truth value"
    return "text" if isinstance(value, str) else "number"
