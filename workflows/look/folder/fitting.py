"""Products and guards held against what the files have: kept, kept without a layer, left out.

``refitted`` does so for products that were chosen before a stream had files.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from typing import Any

from burstlens.workflows.guards.guard import FieldGuard, Guard, LogGuard
from burstlens.workflows.look.folder.found import Found, StreamFound
from burstlens.workflows.look.folder.sampling import Sampler
from burstlens.workflows.look.folder.source import Offered, of_tables
from burstlens.workflows.look.folder.streams import Streams
from burstlens.workflows.recipe.recipe import MadeProduct

_LAYERS = frozenset(
    {"contours", "barbs", "vectors", "streamlines", "relief", "cities", "stations", "track",
     "source", "mark"}
)  # fmt: skip
"""Parts of a picture that it can do without."""
Table = dict[str, Any]


class Fitting:
    """Holds the products and guards on offer against the streams; ``left_out`` collects why.

    ``is_chosen``: somebody chose them. Of those that suit any run of a model nobody misses what
    is for a stream that this run does not have, a nest say: of these nothing is said.
    """

    def __init__(self, streams: Streams, given: Offered, *, is_chosen: bool = True) -> None:
        self._streams, self._given, self._is_chosen = streams, given, is_chosen
        self.left_out: list[str] = []

    def products(self) -> list[Table]:
        """The tables of those that fit."""
        kept: dict[str, tuple[MadeProduct, Table]] = {}
        for made, table in self._given.products:
            if not self._is_chosen and self._streams.absent(self._stream(made)):
                continue
            fitted, why = self.fitted(made, table)
            self.left_out += [f"{made.name}: {text}" for text in why]
            if fitted is not None:
                kept[made.name] = made, fitted
        for name, (made, _) in list(kept.items()):
            gone = [one for one in made.kind.wants(made.options).follows if one not in kept]
            if gone:
                del kept[name]
                self.left_out.append(f"{name}: it follows {gone[0]}, which is left out")
        return [table for _, table in kept.values()]

    def fitted(self, made: MadeProduct, table: Table) -> tuple[Table | None, list[str]]:
        """The product's table, perhaps without some layers, None where it cannot be made; and what
        is missing, a text each."""
        stream = self._stream(made)
        if why := self._streams.absent(stream):
            return None, [why]
        table, made = self._without_nests(made, table)
        remarks: list[str] = []
        for _ in range(len(_LAYERS)):
            wrong = self._misfits(made, stream)
            needed = [text for key, text in wrong if key not in _LAYERS]
            if needed:
                return None, needed[:1]
            if not wrong:
                break
            for key, text in dict(wrong).items():
                remarks.append(f"without {key}: {text}")
                table = {name: value for name, value in table.items() if name != key}
                made = replace(made, options=_without(made.options, key))
        return table, remarks

    def _stream(self, made: MadeProduct) -> str:
        return made.common.stream or self._streams.main

    def guards(self) -> list[Table]:
        """The tables of the guards that can be judged."""
        kept = []
        for guard, table in self._given.guards:
            stream = guard.stream or self._streams.main
            why = self._streams.absent(stream) if guard.of_streams else ""
            if not why and isinstance(guard, LogGuard) and self._streams.model.name == "command":
                why = "the model's log is not known"
            why = why or self._guard_misfit(guard, stream)
            if why:
                self.left_out.append(f"guard {guard.called}: {why}")
            else:
                kept.append(table)
        return kept

    def _without_nests(self, made: MadeProduct, table: Table) -> tuple[Table, MadeProduct]:
        """A map without the nests that have no files."""
        nests = getattr(made.options, "nests", ())
        there = tuple(
            nest for nest in nests if not isinstance(nest, str) or not self._streams.absent(nest)
        )
        if there == nests:
            return table, made
        with_fields = made.options.nest_fields and bool(there)
        options = replace(made.options, nests=there, nest_fields=with_fields)
        kept = {key: value for key, value in table.items() if key not in ("nests", "nest_fields")}
        if there:
            kept["nests"] = [nest for nest in table["nests"] if nest in there]
            kept |= {"nest_fields": True} if with_fields else {}
        return kept, replace(made, options=options)

    def _misfits(self, made: MadeProduct, stream: str) -> list[tuple[str, str]]:
        """The key of each option that certainly does not fit, and why."""
        from burstlens.viz.frames.outline import Outline
        from burstlens.viz.inspection import Inspection

        known = self._streams.known(stream)
        if known is None:
            return []
        seen = Inspection(Outline(stream, known), self._given.folder)
        with suppress(Exception):
            # A plugin's kind may fail without values; that says nothing about the files.
            made.kind.inspect(made.options, seen)
        return [(one.path.partition(".")[0], one.text) for one in seen.found if one.sure]

    def _guard_misfit(self, guard: Guard, stream: str) -> str:
        from burstlens.viz.frames.outline import Outline
        from burstlens.viz.inspection import Inspection
        from burstlens.workflows.recipe.misfits import inspect_guard

        known = self._streams.known(stream)
        if known is None or not isinstance(guard, FieldGuard):
            return ""
        seen = Inspection(Outline(stream, known), self._given.folder, lenient=True)
        with suppress(Exception):
            inspect_guard(guard, seen)
        return next((one.text for one in seen.found if one.sure), "")


def _without(options: Any, key: str) -> Any:
    """Options with the default of one key."""
    for one in fields(options):
        if one.name == key:
            if one.default is not MISSING:
                return replace(options, **{key: one.default})
            if one.default_factory is not MISSING:
                return replace(options, **{key: one.default_factory()})
    return options


@dataclass(frozen=True, slots=True)
class Refitted:
    """``products`` and ``guards`` are the tables that fit, perhaps without some layers;
    ``left_out`` has one sentence for each that does not, and for each layer."""

    products: tuple[dict[str, Any], ...]
    guards: tuple[dict[str, Any], ...]
    left_out: tuple[str, ...]


def refitted(
    path: str, files: str, table: Mapping[str, Any], newest: Mapping[str, str]
) -> Refitted:
    """The products and guards of a run's recipe ``table`` that fit the frames of its folder.

    ``files`` is the folder of what travels with the run, ``newest`` a whole file of each stream.
    Reads headers: for a worker. Raises BurstlensError.
    """
    folder, simulation = Path(path), dict(table["simulation"])
    model = simulation.pop("model")
    settings = {key: simulation[key] for key in simulation if key not in ("inputs", "command")}
    there = tuple(StreamFound(stream, file, 1, file) for stream, file in newest.items())
    found = Found(model, settings, "", there, ())
    with Sampler(folder) as sampler:
        streams = Streams(folder, found, sampler)
        fitting = Fitting(streams, of_tables(folder, found, table, Path(files)))
        products, guards = fitting.products(), fitting.guards()
    return Refitted(tuple(products), tuple(guards), tuple(fitting.left_out))
