"""One report of an MPI library about one file, as its log has it: keys and their text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from burstlens.core.run.events import OutputReported

Kind = Literal["accesses", "phases", "hints", "aggregators"]
Way = Literal["write", "read", ""]

LARGEST, SMALLEST = 1e18, 1e-18
"""A number beyond these, but 0, is damage."""
DRIVER = re.compile(r"^(?:ufs|nfs|lustre|gpfs|panfs):")
"""ROMIO's driver, which may stand before a file's name."""
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@dataclass(frozen=True, slots=True)
class Block:
    """One report.

    ``accesses`` and ``phases`` are Cray MPICH's statistics and timers of one file that was closed,
    ``hints`` the hints in force when it was opened, ``aggregators`` the ranks that write it, with
    their nodes. ``values`` has the text after ``=`` by key, in the log's order; a key that this
    version does not know is kept like any other. ``ranks`` says whom phases are about (``all
    ranks``, ``writers only``). ``label`` is the label before the lines (``0`` of ``srun -l``).

    ``whole`` is False if the log ended, or another report began, before this one was complete.
    ``mixed``: lines of two ranks without labels were interleaved; the values may be the other's.
    """

    kind: Kind
    way: Way
    file: str
    values: Mapping[str, str]
    ranks: str = ""
    label: str = ""
    whole: bool = True
    mixed: bool = False

    def number(self, key: str) -> float | None:
        """The first number of a key; None if the key is missing or has none (``NA``)."""
        found = _NUMBER.match(self.values.get(key, ""))
        return _finite(found[0]) if found else None

    def numbers(self, key: str) -> tuple[float, ...]:
        """All numbers of a key before its percentage: minimum, maximum and mean of a phase."""
        text, sign, _ = self.values.get(key, "").partition("%")
        found = tuple(_finite(one) or 0.0 for one in _NUMBER.findall(text))
        return found[:-1] if sign else found

    def share(self, key: str) -> float | None:
        """A phase's part of the time, from 0 to 1, from its percentage; None if it has none."""
        text = self.values.get(key, "")
        if "%" not in text:
            return None
        words = text[: text.index("%")].split()
        found = _NUMBER.fullmatch(words[-1].lstrip("(")) if words else None
        percent = _finite(found[0]) if found else None
        return None if percent is None else min(1.0, max(0.0, percent / 100))

    def output_reported(self, attempt: int) -> OutputReported | None:
        """The journal's event about writing a file; None if the report has none of its numbers. The
        MPI library has other names for files than the model's log: with a folder before them, or a
        driver (``ufs:``)."""
        from burstlens.core.run.events import OutputReported

        if self.way != "write" or self.mixed:
            return None
        writes, sized = self._sensible("system writes"), self._sensible("stripe sized writes")
        rate = self._sensible("net write BW (MiB/s)")
        found = OutputReported(
            attempt=attempt,
            file=DRIVER.sub("", self.file),
            aggregators=self.count("aggregators"),
            data_send=self.share("data send"),
            stripe_sized=min(1.0, sized / writes) if writes and sized is not None else None,
            mean_write=self._sensible("ave system write size"),
            rate=None if rate is None else rate * 2**20,
        )
        said = found.aggregators, found.data_send, found.stripe_sized, found.mean_write, found.rate
        return None if said == (None,) * 5 else found

    def count(self, key: str) -> int | None:
        """A number of whole things; None if it is unknown or damaged."""
        value = self._sensible(key)
        return None if value is None else int(value)

    def _sensible(self, key: str) -> float | None:
        """A number of a report; a damaged one may be below 0."""
        value = self.number(key)
        return None if value is None or value < 0 else value


def _finite(text: str) -> float | None:
    value = float(text)
    return value if value == 0 or SMALLEST < abs(value) < LARGEST else None
