"""``#DW`` and ``#BB`` lines of a batch script: found, read and checked as the service does."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

SUFFIXES = {"": 1, "N": 1} | {
    letter + rest: base**power
    for power, letter in enumerate("KMGTP", 1)
    for rest, base in (("", 1024), ("IB", 1024), ("B", 1000))
}
MODES = ("striped", "private", "ldbalance")
OPTIONS = {
    "jobdw": {
        *("type", "access_mode", "capacity", "pool", "pfs", "mfs", "mfc", "max_mds"),
        *("optimization_strategy", "modified_threshold", "read_ahead", "sync_on_close"),
        *("sync_to_pfs", "write_window_length", "write_window_multiplier", "expect_writes"),
    },
    "persistentdw": {"name"},
    "stage_in": {"type", "source", "destination", "pfs"},
    "stage_out": {"type", "source", "destination", "pfs"},
    "swap": set[str](),
    "create_persistent": {"name", "capacity", "access", "access_mode", "pool", "type"},
    "destroy_persistent": {"name", "hurry"},
}
_TARGET = re.compile(
    r"\$\{?DW_(?:(JOB)_(STRIPED|PRIVATE)|PERSISTENT_(STRIPED)_([\w.-]+))\}?(?=/|$)(.*)$"
)


class DataWarpError(Exception):
    """An error for the workload manager, with exit status 1."""


@dataclass
class Request:
    """What one script asks for. ``stages`` are (verb, kind, options), in the script's order."""

    jobdw: dict[str, str] | None = None
    persistent: list[str] = field(default_factory=list)
    stages: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)


def parse_size(text: str) -> int:
    """Bytes of ``600G`` or ``600GiB`` (powers of 1024) or ``600GB`` (of 1000)."""
    match = re.fullmatch(r"(\d+)\s*([A-Za-z]*)", text.strip())
    if not match or match[2].upper() not in SUFFIXES:
        raise DataWarpError(f"invalid capacity {text!r}")
    return int(match[1]) * SUFFIXES[match[2].upper()]


def access_modes(text: str) -> list[str]:
    """The modes of ``striped,private(client_cache=no)``."""
    return [re.sub(r"\(.*", "", mode) for mode in re.split(r",(?![^(]*\))", text)]


def split_target(path: str) -> tuple[str | None, str, str] | None:
    """``$DW_JOB_STRIPED/a`` is (None, "striped", "a"), ``$DW_PERSISTENT_STRIPED_x/a`` names x."""
    match = _TARGET.match(path)
    if not match:
        return None
    mode = (match[2] or match[3]).lower()
    return match[4], mode, os.path.normpath("/" + match[5]).lstrip("/")


def directives(script: str) -> Iterator[tuple[str, str, dict[str, str], list[str]]]:
    """(``DW`` or ``BB``, verb, options, other words) of each line.

    As in Slurm, reading stops at the first line that is not a comment, and a backslash at its end
    continues a directive on the next line of its kind.
    """
    whole: list[tuple[str, str]] = []
    held: tuple[str, str] | None = None
    with open(script, errors="replace") as stream:
        lines = stream.read().split("\n")
    for line in filter(str.strip, lines):
        if not line.startswith("#"):
            break
        match = re.match(r"#(DW|BB)\b\s*(.*)$", line)
        if not match:
            held = None
            continue
        sigil, body = match.groups()
        if held is not None and held[0] == sigil:
            body = held[1] + body
        held = (sigil, body[:-1]) if body.endswith("\\") else None
        if held is None:
            whole.append((sigil, body))
    for sigil, body in whole:
        words = shlex.split(body)
        if not words:
            raise DataWarpError(f"empty #{sigil} directive")
        options = dict(word.split("=", 1) for word in words[1:] if "=" in word)
        yield sigil, words[0], options, [word for word in words[1:] if "=" not in word]


def check_script(script: str) -> Request:
    """What the script asks for. Raises DataWarpError for the first thing that is wrong."""
    found = Request()
    for sigil, verb, options, rest in directives(script):
        if verb not in OPTIONS:
            raise DataWarpError(f"unknown #{sigil} command {verb!r}")
        unknown = sorted(set(options) - OPTIONS[verb])
        if unknown:
            raise DataWarpError(f"#{sigil} {verb}: unknown option {unknown[0]!r}")
        if sigil == "BB":
            continue
        if verb == "jobdw":
            if found.jobdw is not None:
                raise DataWarpError("more than one #DW jobdw")
            _check_jobdw(options)
            found.jobdw = options
        elif verb == "persistentdw":
            if not options.get("name"):
                raise DataWarpError("#DW persistentdw: name is required")
            found.persistent.append(options["name"])
        elif verb in ("stage_in", "stage_out"):
            found.stages.append((verb, _check_stage(verb, options), options))
        elif verb == "swap":
            if len(rest) != 1:
                raise DataWarpError("#DW swap: one size is required")
            parse_size(rest[0])
    for stage in found.stages:
        _check_target(found, *stage)
    return found


def _check_jobdw(options: dict[str, str]) -> None:
    for key in ("type", "access_mode", "capacity"):
        if key not in options:
            raise DataWarpError(f"#DW jobdw: {key} is required")
    if options["type"] not in ("scratch", "cache"):
        raise DataWarpError(f"#DW jobdw: invalid type {options['type']!r}")
    if options["type"] == "cache" and "pfs" not in options:
        raise DataWarpError("#DW jobdw: type=cache requires pfs")
    for mode in access_modes(options["access_mode"]):
        if mode not in MODES:
            raise DataWarpError(f"#DW jobdw: invalid access_mode {mode!r}")
    if parse_size(options["capacity"]) <= 0:
        raise DataWarpError("#DW jobdw: capacity must be positive")


def _check_stage(verb: str, options: dict[str, str]) -> str:
    kind = options.get("type", "")
    if kind not in ("file", "directory", "list"):
        raise DataWarpError(f"#DW {verb}: invalid type {kind!r}")
    for key in ("source",) if kind == "list" else ("source", "destination"):
        if key not in options:
            raise DataWarpError(f"#DW {verb}: {key} is required")
    if kind != "list":
        inside, outside = options["destination"], options["source"]
        if verb == "stage_out":
            inside, outside = outside, inside
        if split_target(inside) is None:
            raise DataWarpError(
                f"#DW {verb}: {inside!r} must begin with $DW_JOB_STRIPED "
                "or $DW_PERSISTENT_STRIPED_<name>"
            )
        if not outside.startswith("/"):
            raise DataWarpError(f"#DW {verb}: {outside!r} is not an absolute path")
    return kind


def _check_target(found: Request, verb: str, kind: str, options: dict[str, str]) -> None:
    if kind == "list":
        return
    target = split_target(options["destination" if verb == "stage_in" else "source"])
    assert target is not None
    name, mode, _ = target
    if name is not None:
        if name not in found.persistent:
            raise DataWarpError(f"#DW {verb}: no #DW persistentdw name={name}")
    elif found.jobdw is None or mode not in access_modes(found.jobdw["access_mode"]):
        raise DataWarpError(f"#DW {verb}: no job instance with access mode {mode}")
