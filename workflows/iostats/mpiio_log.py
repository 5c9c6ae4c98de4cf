"""A program's log with reports of an MPI library, or WRF's own times of output, as a summary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from burstlens.core.durable import open_regular
from burstlens.core.errors import IOLogError
from burstlens.core.printable import printable
from burstlens.core.quantity import counted
from burstlens.workflows.iostats.block import DRIVER, LARGEST, Block
from burstlens.workflows.iostats.merging import merged
from burstlens.workflows.iostats.mpiio_blocks import Blocks, labelled
from burstlens.workflows.iostats.summary import Flow, Summary, Traffic

LONGEST_LINE_BYTES = 1 << 16
MAX_FILES = 2000
"""Reports about more files are added up as one."""
MAX_PARTS = 64
"""Reports about one file that are kept before they are added up."""
MIB = 2**20
OTHERS = "(other files)"
NOTHING = (
    "{} has no report about I/O: neither a Darshan log nor a text with Cray MPICH's statistics "
    "(MPICH_MPIIO_STATS=1, MPICH_MPIIO_TIMERS=1), ROMIO's hints (ROMIO_PRINT_HINTS=1) or WRF's "
    '"Timing for Writing"'
)
# WRF's own lines. A step's time has its domain's output in it, which is logged before it, and that
# of domain 1 its nests' steps (start_timing stands before med_before_solve_io in WRF's
# frame/module_integrate.F). Only output after the last step has no step around it.
# Stars: more than 9999.99999 s, which its format F10.5 cannot print.
_WRITING = re.compile(
    r"Timing for Writing (\S+) for domain\s+\d+:\s*(\d{1,9}(?:\.\d*)?|\*+) elapsed"
)
_STEP = re.compile(r"Timing for main:? .*on domain\s+1:\s*(\d{1,9}(?:\.\d*)?|\*+) elapsed")


@dataclass(slots=True)
class _Found:
    """What a log said so far, in bounded memory."""

    parts: dict[str, list[Traffic]] = field(default_factory=dict)
    hints: dict[str, dict[str, str]] = field(default_factory=dict)
    placement: dict[str, int] = field(default_factory=dict)
    model_s: dict[str, float] = field(default_factory=dict)
    bytes: dict[tuple[str, str], int] = field(default_factory=dict)
    run_s: float = 0.0
    after_s: float = 0.0
    """Of output after the latest step."""
    steps: int = 0
    unprinted: int = 0
    """Times of steps and of output that WRF could not print."""
    line: str = ""
    """WRF's latest line: a log of standard output and error has each twice."""
    ranks: int | None = None
    reports: int = 0
    cut: int = 0
    mixed: int = 0
    kinds: set[str] = field(default_factory=set)
    host: str = ""
    """The first one whose name stands before WRF's times."""

    def counts(self, label: str) -> bool:
        """Whether WRF's times under this label do: each rank may print them, on each host."""
        if label and not label.isdigit():
            self.host = self.host or label
            return label == self.host
        return not label.strip("0")

    def take_all(self, blocks: Iterable[Block]) -> None:
        for block in blocks:
            self._take(block)

    def _take(self, block: Block) -> None:
        self.kinds.add(block.kind)
        if block.mixed:
            self.mixed += 1
            return
        self.reports += 1
        self.cut += not block.whole
        name = block.file
        if block.kind == "hints":
            if name in self.hints or len(self.hints) < MAX_FILES:
                self.hints[name] = dict(block.values)
        elif block.kind == "aggregators":
            nodes = {row.split()[1] for row in block.values.values()}
            if name in self.placement or len(self.placement) < MAX_FILES:
                self.placement[name] = len(nodes)
            self._add(Traffic(name, files=0, aggregators=len(block.values)))
        else:
            self._add(self._accesses(block) if block.kind == "accesses" else self._phases(block))

    def _add(self, part: Traffic) -> None:
        name = part.name
        if name not in self.parts and len(self.parts) >= MAX_FILES:
            name = OTHERS
        held = self.parts.setdefault(name, [])
        held.append(part)
        if len(held) >= MAX_PARTS:
            self.parts[name] = [merged(name, held)]

    def _accesses(self, block: Block) -> Traffic:
        way = block.way
        system = block.count(f"system {way}s")
        size = _size(block, system)
        independent = block.count(f"independent {way}s")
        collective = block.count(f"collective {way}s")
        calls = (independent or 0) + (collective or 0)
        flow = Flow(
            bytes=size or 0,
            calls=0 if size is None else calls,  # of a report that was cut: no mean without bytes
            collective=collective,
            mpi_calls=calls if collective is not None else None,
            system_calls=None if size is None else system,
            system_bytes=size,
            stripe_sized=block.count(f"stripe sized {way}s"),
            read_modify_writes=block.count("read-modify-write count"),
        )
        if size is not None and len(self.bytes) < MAX_FILES:
            self.bytes[block.file, way] = size
        return _one_way(
            block,
            flow,
            aggregators=block.count("aggregators"),
            stripe_count=block.count("stripe count"),
            stripe_size=block.count("stripe size"),
        )

    def _phases(self, block: Block) -> Traffic:
        way = block.way
        ranks = [block.number(f"number of ranks {end}") for end in _ENDS[way]]
        if None not in ranks:
            self.ranks = max(self.ranks or 0, int(sum(one or 0 for one in ranks)))
        raw, net = (block.number(f"{one} {way} BW (MiB/s)") for one in ("raw", "net"))
        size = self.bytes.pop((block.file, way), 0)
        seconds = _seconds(block) or (size / (net * MIB) if size and net and net > 0 else None)
        # Its bytes are the accesses' already; the mean rate over files needs them as a weight.
        flow = Flow(
            seconds=seconds,
            raw_bw=raw * MIB if raw and raw > 0 else None,
            net_bw=net * MIB if net and net > 0 else None,
            phases=_shares(block),
        )
        return _one_way(block, flow, seconds=seconds)


_ENDS = {"write": ("writing", "not writing"), "read": ("reading", "not reading")}


def _one_way(block: Block, flow: Flow, **facts: float | int | None) -> Traffic:
    one = {"write": flow} if block.way == "write" else {"read": flow}
    return Traffic(block.file, layers=("MPI-IO",), files=0, **one, **facts)  # type: ignore[arg-type]


def _size(block: Block, system: int | None) -> int | None:
    """The bytes that the file system saw; a report that was cut may have their mean only."""
    size = block.count(f"total bytes for {block.way}s")
    mean = block.count(f"ave system {block.way} size")
    if size is None and system is not None and mean is not None:
        return system * mean
    return size


def _seconds(block: Block) -> float | None:
    """The elapsed time. Phases are in ticks; that of the file's own time is given in seconds too,
    which is the scale."""
    total, ticks = block.numbers("total"), block.numbers(f"file {block.way}")
    spent = block.numbers(f"file {block.way} time")
    if not total or len(ticks) < 3 or len(spent) < 3 or not ticks[2]:
        return None
    seconds = total[-1] * spent[2] / ticks[2]
    return seconds if 0 < seconds < LARGEST else None


def _shares(block: Block) -> dict[str, float]:
    shares = {key: block.share(key) for key in block.values}
    return {key: share for key, share in shares.items() if share is not None}


def traffic(blocks: Iterable[Block]) -> list[Traffic]:
    """The files of these reports, as of those that one frame's lines of a log have completed.
    Reports whose values may be another rank's are left out."""
    found = _Found()
    found.take_all(blocks)
    return [_file(name, held) for name, held in found.parts.items()]


def read_mpiio(path: Path) -> Summary:
    """The summary of a text log. Raises IOLogError if it has no report, OSError if unreadable."""
    found, blocks = _Found(), Blocks()
    with open_regular(path) as file:
        for line in _lines(file):
            found.take_all(blocks.take(line))
            if "Timing for " in line:
                label, body = labelled(line)
                if found.counts(label):
                    _model(found, body)
    found.take_all(blocks.finish())
    if not (found.reports or found.mixed or found.model_s or found.unprinted):
        raise IOLogError(NOTHING.format(path))
    return _summary(path, found)


def _lines(file: BinaryIO) -> Iterator[str]:
    """The lines of a log that may have any bytes; of longer lines the beginning."""
    inside = False
    while line := file.readline(LONGEST_LINE_BYTES):
        if not inside:
            yield line.decode("utf-8", "replace")
        inside = not line.endswith(b"\n")


def _model(found: _Found, line: str) -> None:
    if line == found.line:
        return
    found.line = line
    step, writing = _STEP.match(line), _WRITING.match(line)
    if (step and "*" in step[1]) or (writing and "*" in writing[2]):
        found.unprinted += 1
    elif step:
        found.run_s += float(step[1])
        found.after_s = 0.0
        found.steps += 1
    elif writing:
        name, seconds = writing[1], float(writing[2])
        if name not in found.model_s and len(found.model_s) >= MAX_FILES:
            name = OTHERS
        found.model_s[name] = found.model_s.get(name, 0.0) + seconds
        found.after_s += seconds


def _summary(path: Path, found: _Found) -> Summary:
    parts = dict(found.parts)
    known = _by_base(parts)
    for named, seconds in found.model_s.items():
        name = named if named in parts else known.get(_base(named)) or named
        if name not in parts and len(parts) >= MAX_FILES:
            name = OTHERS
        parts.setdefault(name, []).append(Traffic(name, files=0, reports=0, model_s=seconds))
    files = [_file(name, held) for name, held in parts.items()]
    total = merged("", files)
    return Summary(
        log=str(path),
        source=_source(found),
        ranks=found.ranks,
        run_s=found.run_s + found.after_s if found.steps and not found.unprinted else None,
        total=total,
        files=tuple(sorted(files, key=_order)),
        hints={printable(name): hints for name, hints in found.hints.items()},
        placement={printable(name): nodes for name, nodes in found.placement.items()},
        notes=tuple(_notes(found, files)),
    )


def _source(found: _Found) -> str:
    if found.parts or found.mixed:
        return "MPI-IO statistics of Cray MPICH"
    return "MPI-IO hints" if found.hints else "WRF's own log"


def _by_base(names: Iterable[str]) -> dict[str, str | None]:
    """The library's names of files, by the name without folders; None where that fits several."""
    found: dict[str, str | None] = {}
    for name in names:
        found[_base(name)] = None if _base(name) in found else name
    return found


def _base(name: str) -> str:
    return DRIVER.sub("", name).rpartition("/")[2]


def _order(file: Traffic) -> tuple[float, int, str]:
    return -(file.seconds or file.model_s or 0.0), -file.bytes, file.name


def _file(name: str, held: Iterable[Traffic]) -> Traffic:
    return replace(merged(name, held), files=1, name=printable(name))


def _notes(found: _Found, files: list[Traffic]) -> list[str]:
    notes = []
    if found.mixed:
        notes.append(
            f"{counted(found.mixed, 'report')} of several ranks lay over each other and cannot be "
            "told apart; srun -l labels the lines"
        )
    if found.cut:
        notes.append(f"{counted(found.cut, 'report')} cut: what is missing in it is unknown")
    if found.unprinted:
        notes.append(
            f"{counted(found.unprinted, 'time')} of WRF's left out, which it printed as ***** "
            "(above 9999.99999 s): the share of the run is unknown"
        )
    if not found.parts and not found.mixed:
        has = "how long output took" if found.model_s or found.unprinted else "hints"
        notes.append(
            f"the log has {has} and no statistics; MPICH_MPIIO_STATS=1 and MPICH_MPIIO_TIMERS=1 "
            "print them (Cray MPICH), or Darshan counts"
        )
    elif "phases" not in found.kinds:
        notes.append("the log has no times by phase: MPICH_MPIIO_TIMERS=1 prints them")
    elif "accesses" not in found.kinds:
        notes.append("the log has no access patterns: MPICH_MPIIO_STATS=1 prints them")
    if OTHERS in found.parts:
        notes.append(f"beyond {MAX_FILES} files the others are added up as one")
    return notes
