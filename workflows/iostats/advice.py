"""What to try, each with the number that caused it, its rule, and where the rule is from.

An advice never says more than the numbers do: it is something to try and to measure. Where a rule
is not published, or its threshold is ours, the advice says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from burstlens.core.quantity import show_duration
from burstlens.workflows.iostats import darshan_rules, mpiio_rules
from burstlens.workflows.iostats.merging import merged
from burstlens.workflows.iostats.rule import Advice, Rule, percent
from burstlens.workflows.iostats.summary import Summary, Traffic

LITTLE_OF_RUN = 0.05
"""I/O that takes less of the run is not worth tuning; ours."""
LITTLE_OF_IO = 0.05
"""Files that take less of the time in I/O get no advice; ours."""
_NUMBERS = re.compile(r"(?<![A-Za-z\d])\d+(?:[-_:.T]\d+)*|\d{3,}")
"""Dates, times, numbers of ranks and frames; not the 01 of a domain d01."""
_HASH_DIGITS = 9
"""Names that are a number at least so long are those of an anonymized log."""
RULES: tuple[Rule, ...] = (
    mpiio_rules.one_aggregator, darshan_rules.one_stripe, mpiio_rules.data_send,
    darshan_rules.exchange, mpiio_rules.large_pieces, mpiio_rules.stripe_sized,
    mpiio_rules.read_modify_write, darshan_rules.amplified, darshan_rules.one_rank_writes,
    darshan_rules.small, darshan_rules.straggler, darshan_rules.misaligned, darshan_rules.metadata,
    darshan_rules.stdio, mpiio_rules.not_storage,
)  # fmt: skip
"""In the order of what they may gain."""


def advise(summary: Summary) -> list[Advice]:
    """What to try, the most promising first; empty if no rule applies."""
    share = summary.io_share
    if share is not None and share < LITTLE_OF_RUN:
        because = f"I/O takes {percent(share)} of the run ({show_duration(summary.spent_s or 0.0)})"
        what = "nothing: faster I/O would gain no more than that"
        return [Advice("little", "", what, because, "ours", inference=True)]
    found: dict[str, Advice] = {}
    if (clipped := _one_per_host(summary)) is not None:
        found[clipped.rule] = clipped
    least = LITTLE_OF_IO * (summary.total.seconds or 0.0)
    for stream in streams(summary.files):
        if stream.seconds is not None and stream.seconds < least:
            continue
        for rule in RULES:
            if (advice := rule(summary, stream)) is not None:
                found.setdefault(advice.rule, advice)
    order = ["one_per_host", *(rule.__name__ for rule in RULES)]
    return sorted(found.values(), key=lambda advice: order.index(advice.rule))


def streams(files: Iterable[Traffic]) -> list[Traffic]:
    """Files whose names differ only in numbers as one, the one that took longest first."""
    groups: dict[str, list[Traffic]] = {}
    for file in files:
        base = file.name.rpartition("/")[2]
        hashed = base.isdigit() and len(base) >= _HASH_DIGITS
        name = file.name if hashed else _NUMBERS.sub("*", file.name)
        groups.setdefault(name, []).append(file)
    found = [merged(name, group) if len(group) > 1 else group[0] for name, group in groups.items()]
    return sorted(found, key=lambda one: (-(one.seconds or one.model_s or 0.0), -one.bytes))


def _one_per_host(summary: Summary) -> Advice | None:
    for name, hints in summary.hints.items():
        if hints.get("cb_config_list") == "*:1" and hints.get("romio_cb_write") != "disable":
            nodes = hints.get("cb_nodes", "?")
            because = f"the hints in force are cb_nodes={nodes} and cb_config_list=*:1"
            what = "cb_nodes=N together with cb_config_list=*:N: *:1 allows one aggregator per host"
            source = "measured for docs/io.md: MPICH 4.0.2 cuts cb_nodes=2 to 1 without it"
            return Advice("one_per_host", name or "*", what, because, source)
    return None
