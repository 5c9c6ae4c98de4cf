"""Finds the reports of MPI-IO libraries in a log, line by line, in bounded memory.

Cray MPICH writes them for MPICH_MPIIO_STATS, _TIMERS, _HINTS_DISPLAY and
_AGGREGATOR_PLACEMENT_DISPLAY; every ROMIO prints hints for ROMIO_PRINT_HINTS. Labels and order vary
between versions: a report is read by its keys, never by its number of lines. The lines of a report
begin with ``|``, so that a model's lines inside it are passed over.

Source: the manual page intro_mpi(3) of Cray MPICH, and reports that sites and users published.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from burstlens.workflows.iostats.block import Block, Kind, Way

MAX_OPEN = 64
"""Reports that are incomplete at one time; beyond this the oldest counts as cut."""
MAX_KEYS = 100
MAX_AGGREGATORS = 4096
MAX_TEXT = 400
"""Characters kept of a key's text; of a file name ten times as many."""
PATIENCE = 500
"""Lines of the model inside a report; after more of them it counts as cut."""

_HEADER = re.compile(
    r"\|\s*MPIIO (write|read) (access patterns|by phases)(?:, ([^,]*))?,? for (.+)"
)
_HINTS = re.compile(r"\bPE \d+: MPIIO hints for (.+?):?\s*$")
_HINT = re.compile(r"\s+(\w+_\w+)\s*= ?(.*)")
_ROMIO_HINT = re.compile(r"key = (\S+)\s+value = (.*)")
_PLACEMENT = re.compile(r"\s*Aggregator Placement for (.+)", re.IGNORECASE)
_TABLE = re.compile(r"\s*AGG\s+Rank\s+nid\b", re.IGNORECASE)
_ROW = re.compile(r"\s*(\d+)\s+(\d+)\s+(\S+)$")
_STAMP = re.compile(
    r"\[?(?:\d{4}-\d\d-\d\d[T ]|[A-Z][a-z]{2} [ \d]\d )?\d\d:\d\d:\d\d[^\s|\]]*\]? ?"
    r"|\d{10}(?:\.\d+)? "
)
"""The time that some launchers, and ``ts``, put before each line."""
_LABEL = re.compile(
    r"\s*(?:(?:[a-z][\w.-]* )?(\d+): ?|\[(\d+)\] ?|\[\d+,(\d+)\](?:<std\w+>)?: ?"
    r"|([a-z][\w.-]*): ?(?=[|+]|Timing for ))"
)
"""Of ``srun -l``, also with the host before it, of MPICH's and of Open MPI's mpiexec, and of
``pdsh``: the host alone."""
_COLOUR = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
_ACCESS_KEY = re.compile(
    r"independent |collective (?:writes|reads)|aggregators|stripe |system |total bytes"
    r"|ave |read-modify-write |number of (?:write|read) gaps"
)
_STATISTICS: tuple[Kind, Kind] = ("accesses", "phases")
_LAST_HINT = "romio_filesystem_type"


@dataclass(slots=True)
class _Open:
    """A report of which more lines are expected. ``foreign``: the model's lines since it began."""

    kind: Kind
    way: Way
    file: str
    ranks: str = ""
    values: dict[str, str] = field(default_factory=dict)
    foreign: int = 0
    complete: bool = False
    grown: bool = False
    doubtful: bool = False

    @property
    def counts(self) -> bool:
        """Whether it is of statistics; others end where their lines end."""
        return self.kind in _STATISTICS

    def takes(self, key: str) -> bool:
        """Whether a line with this key can belong to it."""
        if key in self.values:
            return False
        if bool(_ACCESS_KEY.match(key)) != (self.kind == "accesses"):
            return False
        other = "read" if self.way == "write" else "write"
        return other not in key or key.startswith("read-modify-write")

    def add(self, key: str, text: str) -> None:
        key, text, values = key[:MAX_TEXT], text[:MAX_TEXT], self.values
        if key in values:
            if values[key] != text:
                self.grown = self.doubtful = True  # another rank's, whose header was lost
        elif len(values) < (MAX_AGGREGATORS if self.kind == "aggregators" else MAX_KEYS):
            values[key] = text

    def done(self, label: str, *, whole: bool) -> Block:
        mixed = self.grown and self.doubtful
        return Block(self.kind, self.way, self.file, self.values, self.ranks, label, whole, mixed)


@dataclass(slots=True)
class Blocks:
    """The reports of one log. Small and picklable: it can be carried from one piece of a log to
    the next, on another host.

    Two reports that are open at one time under one label were interleaved, or the first was cut (a
    killed model, whose next attempt appends to the log). The first is cut unless it gets a line
    after the second has begun.
    """

    _open: dict[str, list[_Open]] = field(default_factory=dict)
    _ruled: set[str] = field(default_factory=set)
    """Labels whose latest line was a rule that may end a report or begin the next."""

    def take(self, line: str) -> tuple[Block, ...]:
        """The reports that this line completes, mostly none. The line may have its line end."""
        begins = "MPIIO " in line or "AGG" in line or "Placement for" in line
        if not begins and not self._open and "key = " not in line:
            return ()
        label, body = ("", line) if line[:1] == "|" else labelled(line)
        header = _header(body) if begins else None
        if header is not None and (header.file or not self._of(label, "aggregators")):
            return self._begin(label, header)
        if not self._open:
            return self._romio(label, body)
        if body[:1] == "|":
            if "=" in body or "See " in body:
                self._add(label, body[1:])
            return ()
        if "+-----" in body:
            return self._rule(label)
        return self._other(label, body)

    def take_all(self, lines: Iterable[str]) -> Iterator[Block]:
        """The reports of these lines as they are completed; what is still open stays open."""
        for line in lines:
            yield from self.take(line)

    def finish(self) -> tuple[Block, ...]:
        """What is open at the end of the log, as far as it goes; afterwards nothing is open."""
        found = [
            open_.done(label, whole=open_.complete or label in self._ruled or not open_.counts)
            for label, opens in self._open.items()
            for open_ in opens
            if open_.values
        ]
        self._open.clear()
        self._ruled.clear()
        return tuple(found)

    def _begin(self, label: str, header: _Open) -> tuple[Block, ...]:
        found: list[Block] = []
        for open_ in self._of(label, "hints", "aggregators"):
            found += self._close(label, open_, whole=True)
        if header.kind in ("hints", "aggregators"):
            found += self._end_ruled(label)
        self._ruled.discard(label)
        if sum(map(len, self._open.values())) >= MAX_OPEN:
            oldest = next(iter(self._open))
            found += self._close(oldest, self._open[oldest][0], whole=False)
        self._open.setdefault(label, []).append(header)
        return tuple(found)

    def _add(self, label: str, body: str) -> None:
        """Give a line of statistics to the report that it belongs to."""
        opens = self._open.get(label, [])
        if len(opens) != 1 or opens[0].kind not in _STATISTICS:
            opens = self._of(label, *_STATISTICS)
            if not opens:
                return
        key, _, text = body.partition("=")
        key = key.strip()
        if "  " in key:
            key = " ".join(key.split())
        if key.endswith(" (*)"):  # of a footnote
            key = key[:-4]
        if self._ruled:
            self._ruled.discard(label)
        if key[:4] == "See ":  # the end of a report of accesses
            if accesses := [open_ for open_ in opens if open_.kind == "accesses"]:
                _chosen(accesses, key).complete = True
            return
        chosen = opens[0] if len(opens) == 1 else _chosen(opens, key)
        chosen.add(key, text.strip())
        if key[-9:] == " gap size" or key[:4] == "net ":
            chosen.complete = True

    def _rule(self, label: str) -> tuple[Block, ...]:
        """A rule ends a report, or begins one; only the next line shows which, unless a report is
        complete."""
        found = self._end_ruled(label)
        if found:
            return tuple(found)
        opens = self._of(label, *_STATISTICS)
        complete = next((open_ for open_ in opens if open_.complete), None)
        if complete is None:
            if any(open_.values for open_ in opens):
                self._ruled.add(label)
            return ()
        for open_ in opens[: opens.index(complete)]:
            if not open_.grown:
                found += self._close(label, open_, whole=False)
        return (*found, *self._close(label, complete, whole=True))

    def _end_ruled(self, label: str) -> list[Block]:
        """End the report before a rule, if one waits for the line after it."""
        if label not in self._ruled:
            return []
        self._ruled.discard(label)
        opens = [open_ for open_ in self._of(label, *_STATISTICS) if open_.values]
        return self._close(label, opens[0], whole=True) if opens else []

    def _other(self, label: str, body: str) -> tuple[Block, ...]:
        """A line that is not of statistics: a hint, an aggregator, or a line of the model."""
        found = self._end_ruled(label)
        for open_ in tuple(self._open.get(label, ())):
            if open_.kind == "aggregators":
                if row := _ROW.match(body):
                    open_.add(row[1], f"{row[2]} {row[3]}")
                    continue
                patience = 0 if open_.values else 5  # what stands above the rows
            elif open_.kind == "hints":
                hint = (_HINT if open_.file else _ROMIO_HINT).match(body)
                if hint and hint[1] not in open_.values:
                    open_.add(hint[1], hint[2].strip())
                    open_.complete |= hint[1] == _LAST_HINT
                    continue
                patience = 0 if hint or open_.complete else 20
            else:
                patience = PATIENCE
            open_.foreign += 1
            if open_.foreign > patience:
                found += self._close(label, open_, whole=not open_.counts)
        if "key = " in body and not self._of(label, "hints"):
            found += self._romio(label, body)
        return tuple(found)

    def _romio(self, label: str, body: str) -> tuple[Block, ...]:
        hint = _ROMIO_HINT.match(body)
        if hint is None:
            return ()
        return self._begin(label, _Open("hints", "", "", values={hint[1]: hint[2].strip()}))

    def _of(self, label: str, *kinds: Kind) -> list[_Open]:
        return [open_ for open_ in self._open.get(label, ()) if open_.kind in kinds]

    def _close(self, label: str, open_: _Open, *, whole: bool) -> list[Block]:
        opens = self._open[label]
        opens.remove(open_)
        if not opens:
            del self._open[label]
            self._ruled.discard(label)
        return [open_.done(label, whole=whole)] if open_.values else []


def _chosen(opens: list[_Open], key: str) -> _Open:
    """Of several reports that are open under one label the one that gets this key."""
    takers = [open_ for open_ in opens if open_.takes(key)]
    takers = takers or [open_ for open_ in opens if key not in open_.values]
    if not takers:
        return opens[-1]
    chosen = takers[-1]
    if len(takers) > 1:
        for open_ in takers:
            open_.doubtful = True
    if chosen is not opens[-1]:
        for open_ in opens:
            open_.grown = True
    return chosen


def labelled(line: str) -> tuple[str, str]:
    """A line's label, and the rest without its time and end; the rest begins with ``|`` in a
    report."""
    if "\x1b" in line:
        line = _COLOUR.sub("", line)
    body = line.rstrip()
    if "-" in body[4:6] or ":" in body[2:4] or body[9:10] == ":" or body[:10].isdigit():
        stamp = _STAMP.match(body)
        body = body[stamp.end() :] if stamp else body
    first = body[:1]
    if first == "|" or first.isupper():
        return "", body
    found = _LABEL.match(body)
    if found is None:
        inner = body.lstrip()
        return "", inner if inner[:1] in {"|", "+"} else body
    return found[found.lastindex or 0], body[found.end() :]


def _header(body: str) -> _Open | None:
    """The report that begins here. A model's text without a line end may stand before it."""
    if found := _HEADER.search(body):
        kind: Kind = "accesses" if found[2] == "access patterns" else "phases"
        way: Way = "write" if found[1] == "write" else "read"
        return _Open(kind, way, _name(found[4]), (found[3] or "").strip())
    if found := _HINTS.search(body):
        return _Open("hints", "", _name(found[1]))
    if found := _PLACEMENT.match(body):
        return _Open("aggregators", "", _name(found[1]))
    return _Open("aggregators", "", "") if _TABLE.match(body) else None


def _name(text: str) -> str:
    return text.strip()[: 10 * MAX_TEXT]
