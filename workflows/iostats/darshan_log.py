"""A Darshan log as a summary. Damaged logs crash Darshan's library: it runs in another process.

Source of the counters' meaning: Darshan's documentation of darshan-util, and
darshan-log-format.h. The hints in the log's header are Darshan's own, for writing the log; they are
not the program's and are left out.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from burstlens.core.errors import IOLogError
from burstlens.core.extras import install_command
from burstlens.core.printable import printable
from burstlens.workflows.iostats.darshan_records import MAX_FILES
from burstlens.workflows.iostats.merging import merged
from burstlens.workflows.iostats.summary import SIZE_BINS, Flow, Layer, Rank, Summary, Traffic

PROGRAM = (sys.executable, "-P", "-m", "burstlens.workflows.iostats.darshan_records")
LIMIT_S = 120.0
MAGIC = 6567223
"""Bytes 8 to 15 of a Darshan log of version 3, as an integer."""
SEEN = 0.5
"""Of the bytes that MPI-IO wrote, at least this part went through POSIX if its times are those of
the file system. Reads may be fewer: one aggregator reads for all ranks."""
NO_RECORDS = (
    "the log has no records of the program's files. Darshan leaves out what lies in /etc, /dev, "
    "/usr, /bin, /boot, /lib, /opt, /sbin, /sys, /proc and /var, so also a buffer in /dev/shm, "
    "unless DARSHAN_CONFIG_PATH names a file with the line NAME_INCLUDE<tab>^/dev/shm<tab>*"
)
_UNREAD = ("DFS", "DAOS", "MDHIM")
_STANDARD = {"<STDIN>", "<STDOUT>", "<STDERR>"}
"""Records that are no files; only the totals of STDIO have them."""
_NAMES = {"POSIX": "POSIX", "MPI-IO": "MPI-IO", "STDIO": "STDIO", "H5D": "HDF5 datasets",
          "PNETCDF_VAR": "PnetCDF variables"}  # fmt: skip


def is_darshan(head: bytes) -> bool:
    """Whether a file that begins with these bytes is a Darshan log of version 3."""
    magic = head[8:16]
    return len(magic) == 8 and MAGIC in (
        int.from_bytes(magic, "little"), int.from_bytes(magic, "big")
    )  # fmt: skip


def read_darshan(path: Path) -> Summary:
    """The summary of a Darshan log. Raises IOLogError with one line that says what is wrong."""
    found = _records(path)
    modules, names = found["modules"], found["names"]
    files = _files(modules, names, found["stripes"])
    layers = [_layer(name, entry) for name, entry in modules.items() if "files" in entry]
    job, total = found["job"], _total(files, layers, modules)
    return Summary(
        log=str(path),
        source=f"Darshan log, format {found['version']}",
        program=printable(found["program"].strip()),
        job=str(job["jobid"]),
        ranks=job["nprocs"],
        started=float(job["start_time_sec"]),
        run_s=job["run_time"],
        total=total,
        files=tuple(sorted(files, key=lambda file: (-(file.seconds or 0), -file.bytes))),
        layers=tuple(layers),
        notes=tuple(_notes(found, files, total)),
    )


def _records(path: Path) -> dict[str, Any]:
    try:
        done = subprocess.run(
            [*PROGRAM, str(path.absolute())], capture_output=True, timeout=LIMIT_S
        )
    except subprocess.TimeoutExpired:
        raise IOLogError(f"{path} could not be read in {LIMIT_S:g} s: it may be damaged") from None
    errors = done.stderr.decode("utf-8", "replace").splitlines()
    said = next((line.removeprefix("Error: ") for line in errors if line.startswith("Error:")), "")
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        found = {}
    if "missing" in found:
        raise IOLogError(f"reading a Darshan log needs PyDarshan: {install_command('tuning')}")
    if done.returncode < 0:
        said = said or f"Darshan's library ended with {signal.Signals(-done.returncode).name}"
    if said or "job" not in found:
        said = said or found.get("error", "") or (errors[-1] if errors else "no reason given")
        raise IOLogError(f"{path} is damaged: {printable(said.rstrip('.'))}")
    return found


def _files(
    modules: Mapping[str, Any], names: Mapping[str, str], stripes: Mapping[str, list[int]]
) -> list[Traffic]:
    owners: dict[str, dict[str, Any]] = {}
    for layer in ("MPI-IO", "POSIX", "STDIO"):
        for owner, file in modules.get(layer, {}).get("files", {}).items():
            owners.setdefault(owner, {})[layer] = file
    found = []
    for owner, parts in owners.items():
        name = printable(names.get(owner, f"file {owner}" if owner else "(other files)"))
        if name not in _STANDARD:
            found.append(_file(name, parts, stripes.get(owner)))
    return found


def _file(name: str, parts: Mapping[str, Any], stripes: list[int] | None) -> Traffic:
    posix = parts.get("POSIX")
    top = [parts[one] for one in ("MPI-IO", "STDIO") if one in parts]
    top = top if "MPI-IO" in parts or not posix else [posix, *top]
    spent = [_extremes(part) for part in top]
    slowest = max((one[0] for one in spent if one), key=lambda rank: rank.seconds, default=None)
    fastest = min((one[1] for one in spent if one), key=lambda rank: rank.seconds, default=None)
    common = parts.get("MPI-IO", posix or {}).get("common", [])
    counters = posix["counters"] if posix else {}
    accesses = counters.get("READS", 0) + counters.get("WRITES", 0)
    return Traffic(
        name,
        _flow("WRITE", parts),
        _flow("READ", parts),
        tuple(parts),
        ranks=max(part["ranks"] for part in parts.values()),
        seconds=sum(one[0].seconds for one in spent if one),
        meta_rank_s=max(0.0, sum(part["times"]["F_META_TIME"] for part in top)),
        opens=sum(_opens(part["counters"]) for part in top),
        misaligned=max(0, counters["FILE_NOT_ALIGNED"]) if posix else None,
        alignment=posix["alignment"] if posix else None,
        system_accesses=accesses if posix else None,
        common=dict(map(tuple, common)),
        stripe_count=stripes[0] if stripes else None,
        stripe_size=stripes[1] if stripes else None,
        slowest=slowest,
        fastest=fastest,
    )


def _opens(counters: Mapping[str, int]) -> int:
    """Opens by all ranks; logs without DARSHAN's open wrappers have negative numbers."""
    return sum(max(0, counters.get(one, 0)) for one in ("OPENS", "INDEP_OPENS", "COLL_OPENS"))


def _extremes(part: Mapping[str, Any]) -> tuple[Rank, Rank] | None:
    """The slowest and the fastest rank with one file, by one layer."""
    found = [pair for pair in (part["shared"], part["own"]) if pair]
    if not found:
        return None
    slowest = max((pair[0] for pair in found), key=lambda one: one[1])
    fastest = min((pair[1] for pair in found), key=lambda one: one[1])
    return _rank(slowest), _rank(fastest)


def _rank(values: list[Any]) -> Rank:
    rank, seconds, *size = values
    return Rank(rank, max(0.0, seconds), size[0] if size else None)  # old logs have negative times


def _flow(way: str, parts: Mapping[str, Any]) -> Flow:
    """One direction of one file; ``way`` is WRITE or READ, as the counters' names have it."""
    done = "BYTES_WRITTEN" if way == "WRITE" else "BYTES_READ"
    mpi, posix, stdio = (parts.get(one) for one in ("MPI-IO", "POSIX", "STDIO"))
    calls = {
        kind: mpi["counters"][f"{kind}_{way}S"] if mpi else 0
        for kind in ("INDEP", "COLL", "SPLIT", "NB")
    }
    own = [part for part in (mpi or posix, stdio) if part]
    time = f"F_{way}_TIME"
    mpi_s = max(0.0, mpi["times"][time]) if mpi else None
    system_s = max(0.0, posix["times"][time]) if posix else None
    if way == "WRITE" and mpi and posix and posix["counters"][done] < SEEN * mpi["counters"][done]:
        system_s = None  # the MPI library did not write by POSIX calls that Darshan sees
    flow = Flow(
        bytes=sum(part["counters"][done] for part in own),
        calls=sum(calls.values())
        + sum(part["counters"][f"{way}S"] for part in own if part is not mpi),
        collective=calls["COLL"] + calls["SPLIT"] if mpi else None,
        mpi_calls=sum(calls.values()) if mpi else None,
        system_calls=posix["counters"][f"{way}S"] if posix else None,
        system_bytes=posix["counters"][done] if posix else None,
        sizes=_sizes(way, posix["counters"]) if posix else None,
        rank_s=sum(max(0.0, part["times"][time]) for part in own),
        mpi_rank_s=mpi_s if system_s is not None else None,
        mpi_system_rank_s=system_s if mpi else None,
    )
    share = flow.exchange_share
    if share is None:
        return flow
    within = {"exchange and waiting": share, f"system {way.lower()}s": 1 - share}
    return replace(flow, phases=within)


def _sizes(way: str, counters: Mapping[str, int]) -> tuple[int, ...]:
    ends = [one.replace("-", "_").replace("+", "_PLUS") for one in SIZE_BINS]
    return tuple(counters[f"SIZE_{way}_{end}"] for end in ends)


def _layer(name: str, entry: Mapping[str, Any]) -> Layer:
    counters = [file["counters"] for file in entry["files"].values()]
    derived = entry["derived"] or {}

    def total(*ends: str) -> int:
        return sum(one.get(end, 0) for one in counters for end in ends)

    kinds = ("", "INDEP_", "COLL_", "SPLIT_", "NB_")
    return Layer(
        _NAMES[name],
        entry["records"],
        total("BYTES_READ"),
        total("BYTES_WRITTEN"),
        total(*(f"{kind}READS" for kind in kinds)),
        total(*(f"{kind}WRITES" for kind in kinds)),
        derived.get("seconds"),
        derived.get("bandwidth"),
        entry["partial"],
    )


def _total(files: list[Traffic], layers: list[Layer], modules: Mapping[str, Any]) -> Traffic:
    """All files. Its time is that of the slowest rank in MPI-IO or POSIX, whichever is longer (the
    former calls the latter), and in STDIO."""
    whole = merged("", files)
    known = {layer.name: max(0.0, layer.seconds or 0.0) for layer in layers}
    seconds = max(known.get("MPI-IO", 0.0), known.get("POSIX", 0.0)) + known.get("STDIO", 0.0)
    pairs: list[tuple[Rank, Rank]] = []
    for name in ("MPI-IO", "POSIX"):
        sums = modules.get(name, {}).get("rank_s", [])
        if len(sums) == 2 and sums[0][0] != sums[1][0]:
            pairs.append((_rank(sums[0]), _rank(sums[1])))
    pairs += [(file.slowest, file.fastest) for file in files if file.slowest and file.fastest]
    slowest, fastest = max(pairs, key=lambda pair: pair[0].seconds, default=(None, None))
    return replace(whole, seconds=seconds if files else None, slowest=slowest, fastest=fastest)


def _notes(found: Mapping[str, Any], files: list[Traffic], total: Traffic) -> list[str]:
    modules, notes = found["modules"], []
    if unread := [name for name in modules if name in _UNREAD]:
        notes.append(f"nothing is shown of module {', '.join(unread)}: it is another storage's")
    elif not files:
        notes.append(NO_RECORDS)
    if partial := [name for name, entry in modules.items() if entry["partial"]]:
        notes.append(
            f"the log is partial: Darshan had no records left for {', '.join(partial)}, so files "
            "are missing; DARSHAN_CONFIG_PATH names a file with lines such as "
            f"MAX_RECORDS<tab>5000<tab>{partial[0]}, which gives it more"
        )
    if empty := [name for name, entry in modules.items() if not entry.get("records", 1)]:
        notes.append(f"no records of {', '.join(empty)}")
    seconds, run_s = total.seconds or 0.0, found["job"]["run_time"]
    if run_s and seconds > 1.02 * run_s:
        notes.append(
            f"I/O of the slowest rank adds up to {seconds:.0f} s in a run of {run_s:.0f} s: it "
            "uses several files at a time, or waits in pipes"
        )
    if "MPI-IO" in modules and "POSIX" not in modules:
        notes.append("no records of POSIX: what part of MPI-IO's time is exchange is unknown")
    if any(len(entry.get("files", ())) >= MAX_FILES for entry in modules.values()):
        notes.append(f"beyond {MAX_FILES} files the others are added up as one")
    return notes
