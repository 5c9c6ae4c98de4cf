"""The piece table: one file that shows the pieces of a volume as a whole.

Format: VTK's "VTK XML Formats", version 1.0, parallel structured files (``.pvti``, ``.pvtr``,
``.pvts``), and VTKHDF by references. It is written from what the pieces' facts say; none is opened.
Importable on a login node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from burstlens.core.errors import FrameError
from burstlens.core.valid_time import label
from burstlens.viz.kinds.vtk.facts import (
    Form,
    check_values,
    extent,
    field_data,
    joined_facts,
    opening,
)
from burstlens.viz.kinds.vtk.options import VtkOptions
from burstlens.viz.product import Context, Made, whole_file

PIECE = "piece"
"""The key of the facts of a piece that only its table needs."""


def piece_facts(
    form: Form, axis: int, place: tuple[int, int], context: Context, start: str | None, *,
    shared: bool,
) -> dict[str, Any]:  # fmt: skip
    """What the table must know of a piece, as JSON values. ``place``: its number, of how many."""
    known = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(form).items()
    }
    return known | {
        "number": place[0], "of": place[1], "frame": _frame(context), "start": start,
        "axis": axis, "shared": int(shared),
    }  # fmt: skip


def join_pieces(
    made: Sequence[Made], options: VtkOptions, out: Path, context: Context, names: Sequence[str]
) -> Made:
    """Write the table of all pieces, which lie at ``names``, relative to its folder.

    FrameError when one is missing, is another product's or frame's, or was made of a frame that
    has been written anew; StagingError when ``out`` cannot be written.
    """
    pieces = _checked(made, context, names)
    first = pieces[0][1]
    own = (PIECE, "layout")
    facts = joined_facts([{k: v for k, v in one.facts.items() if k not in own} for one in made])
    check_values(facts)
    if options.format != "xml":
        from burstlens.viz.kinds.vtk.hdf_file import Reference, layout_of, write_table

        layouts = {one.facts[PIECE]["number"]: layout_of(one.facts) or {} for one in made}
        references = [
            Reference(name, piece["axis"], piece["first"][piece["axis"]], layouts[piece["number"]])
            for name, piece in pieces
        ]
        about = field_data(facts, context, first["start"])
        z, y, x = facts["shape"]
        layout = write_table(out, (z, y, x), references, fields=about)
        return Made("vtkhdf", facts | {"layout": layout})
    with whole_file(out):
        out.write_text(_text(facts["shape"], pieces), encoding="utf-8")
    return Made(f"p{made[0].extension}", facts)


def _text(shape: Sequence[int], pieces: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    first = pieces[0][1]
    kind = f"P{first['kind']}"
    z, y, x = shape
    holder = {"PRectilinearGrid": "PCoordinates", "PStructuredGrid": "PPoints"}.get(kind)
    lines = [
        *opening(kind),
        f'<{kind} WholeExtent="{extent((0, 0, 0), (z, y, x))}" GhostLevel="0"{first["about"]}>',
        "<PPointData>",
        *_declared(first["arrays"]),
        "</PPointData>",
        *([f"<{holder}>", *_declared(first["coordinates"]), f"</{holder}>"] if holder else []),
    ]
    for name, piece in pieces:
        where = extent(tuple(piece["first"]), tuple(piece["shape"]))
        lines.append(f'<Piece Extent="{where}" Source={quoteattr(name)}/>')
    return "\n".join([*lines, f"</{kind}>", "</VTKFile>", ""])


def _declared(arrays: Mapping[str, Sequence[Any]]) -> list[str]:
    return [
        f'<PDataArray type="{kind}" Name={quoteattr(name)} NumberOfComponents="{count}"/>'
        for name, (kind, count) in arrays.items()
    ]


def _checked(
    made: Sequence[Made], context: Context, names: Sequence[str]
) -> list[tuple[str, Mapping[str, Any]]]:
    """The pieces with their names, by number."""
    if not made:
        raise FrameError(f"there are no pieces of {context.product}")
    if len(names) != len(made):
        raise FrameError(f"{len(made)} pieces have {len(names)} names")
    what = f"{context.product} at {label(context.time)}"
    found: dict[int, tuple[str, Mapping[str, Any]]] = {}
    for name, one in zip(names, made, strict=True):
        piece = one.facts.get(PIECE)
        if not isinstance(piece, Mapping):
            raise FrameError(f"{name} is not a piece of {what}")
        if piece["frame"] != _frame(context):
            product, stream, time, attempt = piece["frame"]
            raise FrameError(
                f"{name} is not a piece of {what}, attempt {context.attempt} of {context.stream}, "
                f"but of {product} at {label(time)}, attempt {attempt} of {stream}"
            )
        if piece["number"] in found:
            raise FrameError(f"{name} and {found[piece['number']][0]} are the same piece of {what}")
        found[piece["number"]] = name, piece
    first = next(piece for _, piece in found.values())
    missing = sorted(set(range(first["of"])) - found.keys())
    if missing:
        numbers = ", ".join(str(number + 1) for number in missing)
        raise FrameError(f"{what}: of its {first['of']} pieces, number {numbers} is missing")
    if not _fit([piece for _, piece in found.values()]):
        raise FrameError(
            f"the pieces of {what} do not fit together: the frame was written anew while they were "
            "made; make all of them again"
        )
    return [found[number] for number in sorted(found)]


_ALIKE = ("of", "whole", "axis", "shared", "kind", "about", "coordinates", "arrays", "start")


def _fit(pieces: Sequence[Mapping[str, Any]]) -> bool:
    """Whether they are parts of one volume, each beginning where the one before ends."""
    first = pieces[0]
    if any(piece[key] != first[key] for piece in pieces for key in _ALIKE):
        return False
    axis, end = first["axis"], 0
    for piece in sorted(pieces, key=lambda piece: piece["first"][axis]):
        if piece["first"][axis] != end:
            return False
        end += piece["shape"][axis] - first["shared"]
    return bool(end + first["shared"] == first["whole"][axis])


def _frame(context: Context) -> list[Any]:
    return [context.product, context.stream, context.time, context.attempt]
