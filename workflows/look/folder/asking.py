"""A product that a user asks for on the command line, by a name or by an expression."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from burstlens.core.errors import AttachError, BurstlensError, FrameError, RecipeError
from burstlens.core.expression import SELECTION, parse_selection
from burstlens.core.nearness import NEAR, near_names
from burstlens.viz.diagnostics.derived import DerivedFrame
from burstlens.viz.diagnostics.formula import check_names
from burstlens.viz.frames.outline import Outline, UnknownYet
from burstlens.workflows.look.folder.fields import pressure_units
from burstlens.workflows.look.folder.fitting import Fitting, Table
from burstlens.workflows.look.folder.found import Found
from burstlens.workflows.look.folder.looks import with_level
from burstlens.workflows.look.folder.names import not_taken
from burstlens.workflows.look.folder.source import Offered, made
from burstlens.workflows.look.folder.streams import Streams


def asked_products(
    folder: Path, found: Found, streams: Streams, given: Offered, fitting: Fitting,
    asked: Sequence[str],
) -> list[Table]:  # fmt: skip
    """The products of these names, and maps of the other texts, in that order, each once.

    A product that follows another one brings that one along. Raises :class:`AttachError` for a
    text that is neither, and for what does not fit the files.
    """
    on_offer = {one.name: (one, table) for one, table in given.products}
    tables: dict[str, Table] = {}
    for text in dict.fromkeys(map(str.strip, asked)):
        names = [text] if text in on_offer else []
        for name in names:
            names += [
                other for other in on_offer[name][0].kind.wants(on_offer[name][0].options).follows
                if other in on_offer and other not in names
            ]  # fmt: skip
        for name in reversed(names):
            fitted, why = fitting.fitted(*on_offer[name])
            if fitted is None:
                raise AttachError(f"--product {name}: {why[0]}")
            fitting.left_out += [f"{name}: {remark}" for remark in why]
            tables[name] = fitted
        if not names:
            table = _map(folder, found, streams, fitting, text, [*on_offer, *tables])
            tables[table["name"]] = table
    return list(tables.values())


def called(text: str) -> str:
    """What was typed, with ``-`` for what a product's name cannot have.

    >>> called("wind@500hPa"), called("T2-273.15"), called("QCLOUD*1000")
    ('wind-500hPa', 'T2-273-15', 'QCLOUD-1000')
    """
    name = re.sub(r"-{2,}", "-", re.sub(r"[^A-Za-z0-9_-]+", "-", text)).strip("-")
    name = name.lstrip("_-") if not name[:1].isalnum() else name
    return name[:56].rstrip("-") or "field"


def _map(
    folder: Path, found: Found, streams: Streams, fitting: Fitting, text: str, taken: Sequence[str]
) -> Table:
    """A map of a variable or an expression, of the first stream that has it."""
    try:
        check_names((text,))
    except ValueError as error:
        raise AttachError(f"--product {text}: {error}") from None
    variable, level = _numbered_level(streams, text)
    stream = _stream_of(streams, variable, taken)
    table: Table = {"name": not_taken(called(text), taken), "kind": "map"}
    if stream != streams.main:
        table["stream"] = stream
    table["variable"] = variable
    known = streams.known(stream)
    if known is not None:
        with suppress(FrameError, RecipeError, UnknownYet):
            about = DerivedFrame(Outline(stream, known).wider()).choosing().variable(variable)
            if units := pressure_units(parse_selection(variable)[0], about.attributes):
                table["units"] = units
    if level is not None:
        table["level"] = level
    elif known is not None:
        table = with_level(table, Outline(stream, known), streams.contents(stream))
    try:
        fitted, why = fitting.fitted(made(folder, found, table), table)
    except RecipeError as error:
        raise AttachError(f"--product {text}: {error}") from None
    if fitted is None:
        raise AttachError(f"--product {text}: {why[0]}")
    return fitted


def _numbered_level(streams: Streams, text: str) -> tuple[str, int | None]:
    """``temp@3`` of files without WRF's levels: the variable and the number of the level."""
    match = re.fullmatch(rf"(\w+(?:{SELECTION})?)@\s*(\d{{1,4}})", text)
    known = [streams.known(stream) for stream in streams.names]
    if match is None or any(one is None or "bottom_top" in one.sizes for one in known):
        return text, None
    return match[1], int(match[2])


def _stream_of(streams: Streams, text: str, products: Sequence[str]) -> str:
    """The first stream whose frames have it, or may have it as nothing is known of them yet."""
    first: BurstlensError | None = None
    unknown = ""
    for stream in streams.names:
        known = streams.known(stream)
        if known is None:
            unknown = unknown or stream
            continue
        try:
            with suppress(UnknownYet):
                DerivedFrame(Outline(stream, known).wider()).choosing().variable(text)
            return stream
        except (FrameError, RecipeError) as error:
            first = first or error
    if first is None or unknown:
        return unknown or streams.main
    message = f"--product {text}: {first}"
    near = near_names(text, products) if "has no variable" in message else []
    near = [name for name in near if name not in re.findall(r"\w+", message.partition(NEAR)[2])]
    if near:
        own = f"the product {near[0]}"
        message += f" or {own}?" if message.endswith("?") else f"{NEAR} {own}?"
        message = message.replace("? or ", " or ")
    raise AttachError(message)
