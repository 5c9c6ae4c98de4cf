"""The seam of product kinds: how a finished frame becomes one file.

Importable on a login node: neither this module nor the kinds that ship import numpy, netCDF4 or
matplotlib before a product is made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from burstlens.viz.product import Context, Made, ProductFrame, Wants

if TYPE_CHECKING:
    from burstlens.viz.inspection import Inspection

Options = TypeVar("Options")


class OptionsTable:
    """A TOML table as a frozen dataclass: it takes no other keys, and the text below each of its
    attributes is the key's help."""

    __slots__ = ()
    __pydantic_config__: ClassVar[dict[str, Any]] = {
        "extra": "forbid", "use_attribute_docstrings": True,
    }  # fmt: skip


class ProductKind(ABC, Generic[Options]):
    """One kind of product; kinds that ship and plugins are written alike.

    ``options`` is a frozen dataclass whose fields are the keys that a ``[[product]]`` table of
    this kind takes beside the common ones; it raises ValueError where they do not go together.
    Only ``make`` has no default.
    """

    name: ClassVar[str]
    options: type[Options]

    def preload(self) -> None:
        """Import what it needs, before its first frame comes."""

    def extensions(self, options: Options) -> tuple[str, ...]:
        """The extensions that a product may have; :attr:`.Made.extension` is the one it has."""
        return ("png",)

    def ships(self, options: Options) -> tuple[str, ...]:
        """Files of the recipe's folder, by relative path, that travel with the run."""
        return ()

    def runs(self, options: Options) -> str:
        """The code of the recipe's own that it starts, in words; empty for none."""
        return ""

    def chained(self, options: Options) -> bool:
        """See :class:`.Wants`."""
        return False

    def follows(self, options: Options) -> tuple[str, ...]:
        """See :class:`.Wants`."""
        return ()

    def beside(self, options: Options) -> tuple[str, ...]:
        """See :class:`.Wants`."""
        return ()

    def wants(self, options: Options) -> Wants:
        """What a product needs beside its frame; kinds say it by the three methods above."""
        return Wants(self.chained(options), self.follows(options), self.beside(options))

    def widens(self, options: Options) -> bool:
        """Whether :attr:`.Made.limits` may be wider than those of the pictures before, which are
        then made again: not for products that go from frame to frame."""
        return False

    def inspect(self, options: Options, seen: Inspection) -> None:
        """State what ``make`` will read, so that ``check`` finds what does not fit."""

    @abstractmethod
    def make(self, options: Options, frame: ProductFrame, out: Path, context: Context) -> Made:
        """Write the product, whole, as exactly ``out``; nothing is left there on failure.

        Raises FrameError when the frame is damaged or lacks what is needed, StagingError when
        ``out`` cannot be written, RecipeError when an option cannot be met.
        """

    def pieces(self, options: Options, frame: ProductFrame, memory: int) -> int:
        """Into how many pieces the product of this frame is split, each made within ``memory``
        bytes of arrays; 1: it is made as one file by ``make``.

        A piece is a file that is staged and published as a product is; the last file, the table,
        is published when all pieces are there, and is what people open. Raises as ``make`` does,
        and RecipeError where the smallest piece needs more.
        """
        return 1

    def make_piece(
        self, options: Options, frame: ProductFrame, out: Path, context: Context, piece: int,
        pieces: int,
    ) -> Made:  # fmt: skip
        """Write one of ``pieces`` pieces, counted from 0, as ``make`` does a product."""
        raise NotImplementedError(f"products of the kind {self.name} have no pieces")

    def join(
        self, options: Options, made: Sequence[Made], out: Path, context: Context,
        names: Sequence[str],
    ) -> Made:  # fmt: skip
        """Write the table, whole, as exactly ``out``, from what the pieces' facts say; it opens
        neither a piece nor the frame.

        ``names`` are the paths that the pieces have in the end, relative to the table's folder.
        The extension and facts are the product's. Raises FrameError when a piece is missing or
        does not fit the others, StagingError when ``out`` cannot be written.
        """
        raise NotImplementedError(f"products of the kind {self.name} have no pieces")
