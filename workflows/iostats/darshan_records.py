"""Reads one Darshan log in a process of its own: ``python -m ... LOG`` prints JSON.

PyDarshan's C library ends the process that reads a damaged log (SIGABRT, SIGSEGV), and reports
other damage on standard error only. What is printed is bounded by the number of files: counters are
added up over ranks.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import struct
import sys
import time
from collections import Counter
from operator import itemgetter
from typing import Any

COUNTED = {
    "POSIX": (
        "OPENS", "READS", "WRITES", "BYTES_READ", "BYTES_WRITTEN", "SEQ_READS", "SEQ_WRITES",
        "FILE_NOT_ALIGNED",
    ),
    "MPI-IO": (
        "INDEP_OPENS", "COLL_OPENS", "INDEP_READS", "INDEP_WRITES", "COLL_READS", "COLL_WRITES",
        "SPLIT_READS", "SPLIT_WRITES", "NB_READS", "NB_WRITES", "BYTES_READ", "BYTES_WRITTEN",
    ),
    "STDIO": ("OPENS", "READS", "WRITES", "BYTES_READ", "BYTES_WRITTEN"),
    "H5D": ("OPENS", "READS", "WRITES", "BYTES_READ", "BYTES_WRITTEN"),
    "PNETCDF_VAR": (
        "OPENS", "INDEP_READS", "INDEP_WRITES", "COLL_READS", "COLL_WRITES", "NB_READS",
        "NB_WRITES", "BYTES_READ", "BYTES_WRITTEN",
    ),
}  # fmt: skip
"""The counters that are added up, without the module's prefix."""
TIMES = ("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME")
DERIVED = ("POSIX", "MPI-IO", "STDIO")
MAX_FILES = 20_000
"""Of more files the counters are added to one entry without a name."""
BATCH = 512
MEMORY_BYTES = 8 << 30
"""Of this process: a damaged log may name any size."""


class _Module:
    """The records of one module, added up per file."""

    def __init__(self, backend: Any, name: str, ranks: int) -> None:
        self.name, self._ranks, self._backend = name, ranks, backend
        prefix = name.replace("-", "") + "_"
        counters = [one.removeprefix(prefix) for one in backend.counter_names(name)]
        times = [one.removeprefix(prefix) for one in backend.fcounter_names(name)]
        kept = [
            (at, one)
            for at, one in enumerate(counters)
            if one in COUNTED[name] or (name == "POSIX" and one.startswith("SIZE_"))
        ]
        self._at, self._names = [at for at, _ in kept], [one for _, one in kept]
        self._time_at = [times.index(one) for one in TIMES]
        self._access_at = [
            (counters.index(f"ACCESS{one}_ACCESS"), counters.index(f"ACCESS{one}_COUNT"))
            for one in range(1, 5)
            if f"ACCESS{one}_ACCESS" in counters
        ]
        self._place = {one: at for at, one in enumerate(counters)}
        self._time_place = {one: at for at, one in enumerate(times)}
        self.files: dict[str, dict[str, Any]] = {}
        self.rank_s: dict[int, float] = {}
        self.records = 0
        self._held: list[bytes] = []
        self._accumulator: Any = self._begin() if name in DERIVED else None

    def add(self, record: Any) -> None:
        counters, times, rank = record["counters"], record["fcounters"], int(record["rank"])
        self.records += 1
        owner = str(record.get("file_rec_id", record["id"]))
        if owner not in self.files and len(self.files) >= MAX_FILES:
            owner = ""
        new = {"counters": 0, "times": 0.0, "ranks": 0, "common": Counter(), "shared": None}
        file = self.files.setdefault(owner, new)
        spent = times[self._time_at]
        file["counters"] = file["counters"] + counters[self._at]
        file["times"] = file["times"] + spent
        for size, count in self._access_at:
            if counters[count] > 0:
                file["common"][int(counters[size])] += int(counters[count])
        if "FILE_ALIGNMENT" in self._place:
            value = int(counters[self._place["FILE_ALIGNMENT"]])
            file["alignment"] = max(file.get("alignment", 0), value)
        if rank < 0:
            file["ranks"] = self._ranks
            if "SLOWEST_RANK" in self._place:
                file["shared"] = [
                    self._extreme(counters, times, one) for one in ("SLOWEST", "FASTEST")
                ]
        else:
            file["ranks"] += 1
            self._own(file, rank, float(spent.sum()), counters)
        if self._accumulator is not None:
            numbers = counters.tobytes() + times.tobytes()
            self._held.append(struct.pack("<Qq", record["id"], rank) + numbers)
            if len(self._held) >= BATCH:
                self._inject()

    def _own(self, file: dict[str, Any], rank: int, spent: float, counters: Any) -> None:
        """Count a record of one rank: its file's slowest and fastest rank, the rank's sum."""
        if self.name in DERIVED:
            self.rank_s[rank] = self.rank_s.get(rank, 0.0) + spent
            size = sum(int(counters[self._place[one]]) for one in ("BYTES_READ", "BYTES_WRITTEN"))
            this, seconds = [rank, spent, size], itemgetter(1)
            slowest, fastest = file.get("own") or (this, this)
            file["own"] = max(slowest, this, key=seconds), min(fastest, this, key=seconds)

    def _extreme(self, counters: Any, times: Any, name: str) -> list[float]:
        return [
            int(counters[self._place[f"{name}_RANK"]]),
            float(times[self._time_place[f"F_{name}_RANK_TIME"]]),
            int(counters[self._place[f"{name}_RANK_BYTES"]]),
        ]

    def _begin(self) -> Any:
        ffi, library = self._backend.ffi, self._backend.libdutil
        accumulator = ffi.new("darshan_accumulator *")
        index = self._backend.mod_name_to_idx(self.name)
        failed = library.darshan_accumulator_create(index, self._ranks, accumulator)
        return None if failed else accumulator

    def _inject(self) -> None:
        count, data = len(self._held), b"".join(self._held)
        self._held.clear()
        inject = self._backend.libdutil.darshan_accumulator_inject
        if count and inject(self._accumulator[0], data, count):
            raise ValueError(f"records of module {self.name} cannot be added up")

    def derived(self) -> dict[str, float] | None:
        """What PyDarshan derives of all records."""
        if self._accumulator is None or not self.records:
            return None
        self._inject()
        ffi, library = self._backend.ffi, self._backend.libdutil
        metrics = ffi.new("struct darshan_derived_metrics *")
        kind = {"POSIX": "posix", "MPI-IO": "mpiio", "STDIO": "stdio"}[self.name]
        total = ffi.new(f"struct darshan_{kind}_file *")
        failed = library.darshan_accumulator_emit(self._accumulator[0], metrics, total)
        library.darshan_accumulator_destroy(self._accumulator[0])
        if failed:
            raise ValueError(f"module {self.name} cannot be summed up")
        return {
            "seconds": metrics.agg_time_by_slowest,
            "bandwidth": metrics.agg_perf_by_slowest * 2**20,
        }

    def value(self) -> dict[str, Any]:
        files = {
            owner: {
                "counters": dict(zip(self._names, map(int, file["counters"]), strict=True)),
                "times": dict(zip(TIMES, map(float, file["times"]), strict=True)),
                "ranks": min(file["ranks"], self._ranks),
                "common": file["common"].most_common(4),
                "alignment": file.get("alignment"),
                "shared": file["shared"],
                "own": file.get("own"),
            }
            for owner, file in self.files.items()
        }
        order = sorted(self.rank_s.items(), key=itemgetter(1))
        return {
            "records": self.records,
            "files": files,
            "derived": self.derived(),
            "rank_s": [order[-1], order[0]] if order else [],
        }


def _stripes(backend: Any, log: Any) -> dict[str, list[int]]:
    """Stripe count and size by file: of the component with the most stripes."""
    found: dict[str, list[int]] = {}
    names = backend.counter_names("LUSTRE_COMP")
    count, size = (names.index(f"LUSTRE_COMP_STRIPE_{one}") for one in ("COUNT", "SIZE"))
    while (record := backend.log_get_record(log, "LUSTRE")) is not None:
        for component in record["components"]:
            stripes = [int(component["counters"][count]), int(component["counters"][size])]
            found[str(record["id"])] = max(found.get(str(record["id"]), [0, 0]), stripes)
            if len(found) >= MAX_FILES:
                return found
    return found


def any_names(backend: Any, log: Any) -> dict[int, str]:
    """File names by record; PyDarshan's own function refuses all if one is not UTF-8."""
    ffi, records = backend.ffi, backend.ffi.new("struct darshan_name_record **")
    count = ffi.new("int *")
    backend.libdutil.darshan_log_get_name_records(log["handle"], records, count)
    found = (records[0][at] for at in range(count[0]))
    return {int(it.id): ffi.string(it.name).decode("utf-8", "replace") for it in found}


def _program(backend: Any, log: Any) -> str:
    try:
        return str(backend.log_get_exe(log))
    except UnicodeDecodeError:
        return ""


def _openable(path: str) -> str:
    """A name of the file that PyDarshan can encode; it stays open until the process ends."""
    try:
        path.encode()
        return path
    except UnicodeEncodeError:
        return f"/proc/self/fd/{os.open(path, os.O_RDONLY)}"


def read(path: str) -> dict[str, Any]:
    """The log as JSON values. Raises ValueError; the process may end before."""
    from darshan.backend import cffi_backend as backend

    began = time.process_time()
    log = backend.log_open(_openable(path))
    if not log["handle"]:
        raise ValueError("Darshan's library cannot open it")
    job = backend.log_get_job(log)
    modules = backend.log_get_modules(log)
    if not 0 < job["nprocs"] < 2**31:
        raise ValueError(f"it names {job['nprocs']} ranks")
    found: dict[str, Any] = {}
    for name, facts in modules.items():
        entry: dict[str, Any] = {"partial": facts["partial_flag"]}
        if name in COUNTED:
            module = _Module(backend, name, job["nprocs"])
            while (record := backend.log_get_record(log, name)) is not None:
                module.add(record)
            entry |= module.value()
        found[name] = entry
    value = {
        "job": {key: job[key] for key in ("jobid", "nprocs", "run_time", "start_time_sec")},
        "version": job["log_ver"],
        "program": _program(backend, log),
        "modules": found,
        "stripes": _stripes(backend, log) if "LUSTRE" in modules else {},
        "names": any_names(backend, log),  # JSON makes the keys texts
    }
    backend.log_close(log)
    return value | {"cpu_s": time.process_time() - began}


def main() -> int:
    """Print the log's JSON, or ``{"error": ...}`` and return 1."""
    parser = argparse.ArgumentParser(description="Counters of a Darshan log, as JSON.")
    parser.add_argument("log")
    path = parser.parse_args().log
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    try:
        value = read(path)
    except ImportError as error:
        value = {"missing": str(error.name or error)}
    except ValueError as error:
        value = {"error": str(error)}
    except Exception as error:  # whatever PyDarshan raises for bytes that make no sense
        value = {"error": f"PyDarshan cannot make sense of it ({type(error).__name__})"}
    print(json.dumps(value))
    return int("job" not in value)


if __name__ == "__main__":
    sys.exit(main())
