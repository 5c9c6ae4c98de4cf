"""Make tables in workflows/models from the Registry of a WRF source tree.

    python tools/wrf_variables.py WRF/Registry > workflows/models/wrf_variables.tsv
    python tools/wrf_variables.py WRF/Registry reals > workflows/models/wrf_reals.txt

The second has the settings of namelists that WRF reads as real numbers, one per line. The first has
one line per variable: name, dimensions without time, units, the history streams that have it
without further settings (0: wrfout, n: auxhist<n>), and "chem" where only WRF-Chem has it. WRF
writes what the Registry calls ``state`` (doc/README.registry of WRF); a variable without a stream
is written when ``iofields_filename`` asks for it. Of WRF-Chem's own variables only those of a
stream are listed: the others are emissions.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOTS = ("Registry.EM", "Registry.EM_CHEM")
"""WRF's variables, and those of WRF-Chem, which includes the others."""
_WORD = re.compile(r'"[^"]*"|\S+')
_INCLUDE = re.compile(r"include\s+(\S+)")
_CODE = re.compile(r"\{(\w+)\}|(\S)")
_ARGUMENT = re.compile(r"=\([^)]*\)")
_STREAMS = re.compile(r"h((?:\d|\{\d+\})*)")
_FACES = {"west_east": "X", "south_north": "Y"}


def lines(folder: Path, name: str) -> Iterator[str]:
    """The entries of a Registry file and those that it includes, one per line."""
    text = (folder / name).read_text(errors="replace").replace("\\\n", " ")
    for line in map(str.strip, text.splitlines()):
        included = _INCLUDE.match(line)
        if included and (folder / included[1]).exists():
            yield from lines(folder, included[1])
        elif not line.startswith("#"):
            yield line


def dimension_names(entries: list[str]) -> dict[str, str]:
    """What each code of ``dimspec`` is called in files."""
    words = [entry.split("#")[0].split() for entry in entries if entry.startswith("dimspec")]
    return {word[1]: "_".join(word[5:]) or word[1] for word in words if len(word) > 5}


def dimensions(code: str, faces: str, names: dict[str, str]) -> list[str]:
    """The dimensions of a variable in the order of the file, staggered ones by ``_stag``."""
    found = []
    codes = [match[1] or match[2] for match in _CODE.finditer(code)]
    for before, one in zip(["", *codes], codes, strict=False):
        name = names.get(one)
        if one in {"f", "t", "b"} or name is None:  # flags: scalar array, tendency, boundary
            continue
        if before == "*":
            name += "_subgrid"
        elif _FACES.get(name, "Z") in faces.upper():
            name += "_stag"
        found.append(name)
    level = [name for name in found if not name.startswith(("west_east", "south_north"))]
    plane = [name for key in ("south_north", "west_east") for name in found if name.startswith(key)]
    return level + plane


def streams(flags: str) -> list[int]:
    """The history streams that the input and output flags of a variable name."""
    match = _STREAMS.search(_ARGUMENT.sub("", flags))
    if match is None:
        return []
    numbers = [int(number.strip("{}")) for number in re.findall(r"\d|\{\d+\}", match[1])]
    return sorted(set(numbers)) or [0]


def table(folder: Path) -> dict[str, str]:
    """The lines of the table by the variable's name."""
    found: dict[str, str] = {}
    for root in ROOTS:
        entries = list(lines(folder, root))
        names = dimension_names(entries)
        for entry in entries:
            word = _WORD.findall(entry)
            if len(word) < 9 or word[0] != "state":
                continue
            _, _, _, code, _, _, faces, flags, name, *rest = word
            name = name.strip('"').strip()
            is_member = "f" in _CODE.sub(lambda match: match[2] or "", code)
            if not is_member:  # tools/gen_wrf_io.c writes all others in upper case
                name = name.upper()
            units = rest[1].strip('"').strip() if len(rest) > 1 else "-"
            written = streams(flags)
            if not re.fullmatch(r"\w+", name) or name in found:
                continue
            if root == ROOTS[0] or written:
                of = ",".join(dimensions(code, faces, names))
                only = "" if root == ROOTS[0] else "chem"
                found[name] = "\t".join([name, of, units, ",".join(map(str, written)), only])
    return found


def reals(folder: Path) -> set[str]:
    """The settings of namelists that are real numbers, in lower case."""
    entries = (entry.split() for root in ROOTS for entry in lines(folder, root))
    return {word[2].lower() for word in entries if word[:2] == ["rconfig", "real"]}


if __name__ == "__main__":
    registry = Path(sys.argv[1])
    if sys.argv[2:] == ["reals"]:
        print("\n".join(sorted(reals(registry))))
    else:
        print("\n".join(line for _, line in sorted(table(registry).items())))
