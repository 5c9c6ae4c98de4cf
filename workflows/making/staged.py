"""What a worker has made, on its way to the run: files brought to ``.incoming`` and verified."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from burstlens.core.errors import StagingError
from burstlens.core.model import Frame, Receipt, State
from burstlens.core.run.index import PIECES, grid_path, values_path
from burstlens.stagers.base import bring_all, remove
from burstlens.viz.product import Made
from burstlens.viz.values.names import GRID, VALUES
from burstlens.workflows.placement.buffer import BufferRef


@dataclass(frozen=True, slots=True)
class Files:
    """The files of one product on the buffer, by a name that is its own.

    ``values`` is a folder: the values of a picture and the grids that they lie on.
    """

    product: Path
    state: Path | None
    values: Path

    @classmethod
    def of(cls, folder: Path, name: str, *, chained: bool) -> Files:
        """The files of that name; only a chained product has a state."""
        state = folder / f"{name}.state" if chained else None
        return cls(folder / name, state, folder / f"{name}.values")

    def remove(self) -> None:
        """Delete what is there."""
        remove(self.product)
        if self.state is not None:
            remove(self.state)
        if self.values.is_dir():
            for path in self.values.iterdir():
                remove(path)
            self.values.rmdir()


def stage(
    buffer: BufferRef,
    files: Files,
    made: Made,
    frame: Frame,
    products: Path,
    name: str,
    clock: Mapping[str, float],
    piece: tuple[int, int] | None = None,
) -> Receipt:
    """Bring a product's files to ``.incoming``, as ``<product>.<stream>.<time>.<name>``, all at
    once. Raises StagingError; then none of them is left there."""
    product = name.partition(".")[0]
    final = f"{product}/{product}_{frame.stream}_{frame.time}.{made.extension}"
    if piece is not None:
        place = f"{frame.stream}_{frame.time}_{frame.attempt}_{piece[0]:04d}"
        final = f"{product}/{PIECES}/{place}.{made.extension}"
    asked = [(files.product, "", final)]
    if files.state is not None:
        kept = f".states/{product}_{frame.stream}_{frame.time}_{frame.attempt}"
        asked.append((files.state, ".state", kept))
    asked += _values(files.values, products, final)
    incoming = [f".incoming/{name}{suffix}" for _, suffix, _ in asked]
    pairs = [
        (source, products / target) for (source, _, _), target in zip(asked, incoming, strict=True)
    ]
    try:
        arrivals = bring_all(buffer.stager(), pairs)
    except StagingError:
        for _, target in pairs:
            remove(target)
        raise
    parts = [
        State(target, goal, arrival.bytes, arrival.crc32)
        for target, (_, _, goal), arrival in zip(incoming, asked, arrivals, strict=True)
    ]
    values = parts[1:] if files.state is None else parts[2:]
    return Receipt(
        product=product,
        stream=frame.stream,
        time=frame.time,
        attempt=frame.attempt,
        uuid=name.rpartition(".")[2],
        incoming=parts[0].incoming,
        name=final,
        bytes=parts[0].bytes,
        crc32=parts[0].crc32,
        clock={**clock, "staged": time.time()},
        facts=made.facts,
        limits=made.limits,
        state=None if files.state is None else parts[1],
        values=tuple(values),
    )


def _values(folder: Path, products: Path, product: str) -> list[tuple[Path, str, str]]:
    """The files of values: source, suffix in ``.incoming``, final name; grids first.

    A grid that the run has already is not brought again: its name is that of its content.
    """
    if not (folder / VALUES).is_file():
        return []
    asked = []
    for grid in sorted(folder.glob(GRID.format("*"))):
        final = grid_path(products, grid.stem.removeprefix(GRID.format("").removesuffix(".js")))
        if not _is_whole(final, grid):
            asked.append((grid, f".{grid.name}", final.relative_to(products).as_posix()))
    return [*asked, (folder / VALUES, f".{VALUES}", values_path(Path(product)).as_posix())]


def _is_whole(final: Path, grid: Path) -> bool:
    """Whether a grid stands; a copy or a repair of the disk may have cut it."""
    try:
        return final.stat().st_size == grid.stat().st_size
    except OSError:
        return False
