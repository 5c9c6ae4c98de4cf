"""How often a model should write checkpoints: from what one costs, and how often jobs are lost.

The time between two is Young's ``sqrt(2 C M)`` for a checkpoint that takes ``C`` seconds and a mean
time ``M`` between failures of the job; Daly has the same as his first-order estimate. What a
shorter job loses at its end bounds it: never more than a third of the walltime.

Sources: J. W. Young, A first order approximation to the optimum checkpoint interval,
Communications of the ACM 17 (1974), 530-531, doi:10.1145/361147.361115; J. T. Daly, A higher order
estimate of the optimum checkpoint interval for restart dumps, Future Generation Computer Systems 22
(2006), 303-312, doi:10.1016/j.future.2004.11.016.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from burstlens.cluster_configs.schedulers import LOCAL
from burstlens.cluster_configs.site import Site
from burstlens.core.quantity import counted, parse_duration, show_bytes, show_duration
from burstlens.workflows.models.base import Facts, Model
from burstlens.workflows.plan.capacity import granularity
from burstlens.workflows.recipe.findings import NOTE, Finding
from burstlens.workflows.recipe.recipe import Recipe

NODE_MTBF_S = 5 * 365 * 86_400.0
"""Mean time between failures of one node where the site gives none."""
PART_OF_WALLTIME = 3
"""A job writes at least so many checkpoints."""
_PATH = "checkpoint.every"
_UNITS = {"h": 3600, "min": 60, "s": 1}


@dataclass(frozen=True, slots=True)
class Interval:
    """Computing time from one checkpoint to the next, in seconds; ``is_bounded``: by walltime."""

    seconds: float
    is_bounded: bool


def interval_of(cost_s: float, between_failures_s: float, walltime_s: float) -> Interval:
    """The interval of a checkpoint that takes ``cost_s``, in jobs of that walltime."""
    best, most = math.sqrt(2 * cost_s * between_failures_s), walltime_s / PART_OF_WALLTIME
    return Interval(min(best, most), best > most)


def written(seconds: float, unit_s: float | None) -> str:
    """The model time that is at most so long, as a recipe gives it: a multiple of the unit, at
    least one; without a unit two digits or more of seconds, minutes or hours.

    >>> written(4370, None), written(4370, 3000), written(0.0347, None), written(20, 3000)
    ('72 min', '50 min', '0.034 s', '50 min')
    """
    if unit_s is not None:
        seconds = max(1, seconds // unit_s) * unit_s
    for unit, size in _UNITS.items():
        if unit_s is None and seconds >= 10 * size:
            return f"{seconds // size:.0f} {unit}"
        if unit_s is not None and seconds % size == 0:
            return f"{seconds / size:.0f} {unit}"
    digits = 1 - math.floor(math.log10(seconds))
    return f"{math.floor(seconds * 10**digits) / 10**digits:.{digits}f} s"


def checkpoint_notes(recipe: Recipe, site: Site) -> Iterator[Finding]:
    """The proposed ``[checkpoint] every`` of a recipe that gives none and may have several
    attempts; or what is missing for one."""
    simulation, model = recipe.simulation, recipe.model
    several = simulation.is_cut or simulation.retries
    if recipe.checkpoint.every or not several or type(model).start is Model.start:
        return
    facts, rate = model.facts(recipe.inputs), _rate(recipe, site)
    size = facts.checkpoint_bytes
    if size and rate:
        yield Finding(NOTE, _proposal(recipe, site, facts, size, rate), _PATH)
    elif site.scheduler != LOCAL:  # jobs of this machine have no limit
        lacks = [] if size else [f"the size of a checkpoint of {model.name}"]
        lacks += [] if rate else [f"how fast one is written (buffer.node_rate of {site.name})"]
        text = f"no interval can be proposed: not known are {' and '.join(lacks)}"
        yield Finding(NOTE, f"{_PATH} is not given; {text}", _PATH)


def _proposal(recipe: Recipe, site: Site, facts: Facts, size: int, rate: float) -> str:
    simulation, cost_s = recipe.simulation, size / rate
    node_s = site.node_mtbf or NODE_MTBF_S
    found = interval_of(cost_s, node_s / simulation.nodes, simulation.walltime)
    speed = _speed(recipe, site, facts)
    if speed is None:
        given = show_duration(found.seconds)
        text = f"one every {given} of computing is proposed; the key is in model time"
    else:
        every = written(found.seconds * speed, facts.checkpoint_unit_s)
        takes = show_duration(parse_duration(every) / speed)
        text = f'"{every}" of the model is proposed, which take at most {takes}'
    of_node = f"{show_duration(node_s)} between failures of a node"
    of_node += "" if site.node_mtbf else " (assumed: the site has no node_mtbf)"
    why = f"a checkpoint of {show_bytes(size)} takes {show_duration(cost_s)}, {of_node}, "
    why += counted(simulation.nodes, "node")
    bound = f"; a third of the walltime of {show_duration(simulation.walltime)} is less"
    rule = f"sqrt(2 C M), Young 1974 and Daly 2006{bound if found.is_bounded else ''}"
    return f"{_PATH} is not given: {text} ({why}: {rule})"


def _speed(recipe: Recipe, site: Site, facts: Facts) -> float | None:
    """The least model seconds per second with which all jobs together reach the end; None where
    their number or the model's time is not known."""
    segments, total_s = recipe.simulation.segments, facts.total_s
    if site.scheduler == LOCAL or not isinstance(segments, int) or not total_s:
        return None
    return total_s / (segments * recipe.simulation.walltime)


def _rate(recipe: Recipe, site: Site) -> float | None:
    """Bytes per second that the buffer takes from the job, by the site's measured rates."""
    buffer, most = site.buffer, site.parallel.node_rate
    if buffer.node_rate is None:
        return None
    handed_out = granularity(buffer)
    nodes = handed_out.grant(recipe.buffer.capacity).nodes if handed_out else buffer.nodes
    if buffer.node_local:
        nodes = recipe.simulation.nodes
    rate = float(buffer.node_rate) * (nodes or 1)
    return rate if most is None else min(rate, float(most) * recipe.simulation.nodes)
