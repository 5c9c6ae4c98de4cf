"""What the history keeps of each frame and product: sets and mappings in columns of valid times.

They behave as a set and a dict of tuples, in a tenth of the memory, and are written and read as a
few byte strings.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, MutableMapping, MutableSet
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from burstlens.core.decode import Limits
from burstlens.core.run.event import FrameKey, Key

_ABSENT = -(2**63)
"""No attempt and no checksum is that number."""
_ITEM = "q"
K = TypeVar("K", bound=tuple[Any, ...])


@dataclass(slots=True)
class Times:
    """The valid times of each stream, numbered as they came; all columns of a history share it."""

    numbers: dict[str, dict[str, int]] = field(default_factory=dict)

    def number(self, stream: str, time: str) -> int:
        """The number of that time, which is given to it now if it has none."""
        known = self.numbers.setdefault(stream, {})
        return known.setdefault(time, len(known))

    def find(self, stream: str, time: str) -> int:
        """The number of that time, -1 when it has none."""
        known = self.numbers.get(stream)
        return -1 if known is None else known.get(time, -1)

    def of(self, stream: str) -> list[str]:
        """The times of that stream by number."""
        return list(self.numbers.get(stream, ()))


class _Marks(MutableSet[K], Generic[K]):
    """A set of keys, each one a byte in the column that the rest of the key names."""

    def __init__(self, iterable: Iterable[K] = ()) -> None:
        self.times = Times()
        self._columns: dict[tuple[Any, str], bytearray] = {}
        self._size = 0
        for key in iterable:
            self.add(key)

    @staticmethod
    def _parts(key: K) -> tuple[Any, str, str]:
        """The rest of the key, its stream, its time."""
        raise NotImplementedError

    @staticmethod
    def _key(rest: Any, stream: str, time: str) -> K:
        raise NotImplementedError

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> set[Any]:
        return set(it)  # what ``|`` and ``&`` give

    def __contains__(self, key: object) -> bool:
        try:
            rest, stream, time = self._parts(key)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return False
        column = self._columns.get((rest, stream))
        number = self.times.find(stream, time)
        return column is not None and 0 <= number < len(column) and column[number] == 1

    def __iter__(self) -> Iterator[K]:
        for (rest, stream), column in self._columns.items():
            for time, mark in zip(self.times.of(stream), column, strict=False):
                if mark:
                    yield self._key(rest, stream, time)

    def __len__(self) -> int:
        return self._size

    def add(self, value: K) -> None:
        rest, stream, time = self._parts(value)
        number = self.times.number(stream, time)
        column = self._columns.setdefault((rest, stream), bytearray())
        if number >= len(column):
            column.extend(bytes(number + 1 - len(column)))
        self._size += 1 - column[number]
        column[number] = 1

    def discard(self, value: K) -> None:
        if value in self:
            rest, stream, time = self._parts(value)
            self._columns[rest, stream][self.times.find(stream, time)] = 0
            self._size -= 1

    def __repr__(self) -> str:
        return f"{type(self).__name__}({set(self)!r})"

    def dump(self) -> list[Any]:
        """What :meth:`load` makes it of again, without the times."""
        return [[rest, stream, bytes(column)] for (rest, stream), column in self._columns.items()]

    @classmethod
    def load(cls, dumped: Any) -> Any:
        """The set of what :meth:`dump` gave; ``times`` is to be set. Raises ValueError."""
        made = cls()
        for rest, stream, column in dumped:
            made._columns[rest, stream] = bytearray(memoryview(column))  # not of a number
            made._size += sum(column)
        return made


class FrameSet(_Marks[FrameKey]):
    """A set of frames: stream, valid time, attempt."""

    @staticmethod
    def _parts(key: FrameKey) -> tuple[int, str, str]:
        stream, time, attempt = key
        return attempt, stream, time

    @staticmethod
    def _key(rest: int, stream: str, time: str) -> FrameKey:
        return stream, time, rest


class TimeSet(_Marks[tuple[str, str]]):
    """A set of streams with a valid time."""

    @staticmethod
    def _parts(key: tuple[str, str]) -> tuple[int, str, str]:
        stream, time = key
        return 0, stream, time

    @staticmethod
    def _key(rest: int, stream: str, time: str) -> tuple[str, str]:
        return stream, time


class ProductNumbers(MutableMapping[Key, int]):
    """A whole number of 64 bits for each of many products."""

    def __init__(self) -> None:
        self.times = Times()
        self._columns: dict[tuple[str, str], array[int]] = {}
        self._size = 0

    def _find(self, key: Key) -> int | None:
        product, stream, time = key
        column = self._columns.get((product, stream))
        number = self.times.find(stream, time)
        if column is None or not 0 <= number < len(column) or column[number] == _ABSENT:
            return None
        return column[number]

    def __getitem__(self, key: Key) -> int:
        found = self._find(key)
        if found is None:
            raise KeyError(key)
        return found

    def __contains__(self, key: object) -> bool:
        return isinstance(key, tuple) and len(key) == 3 and self._find(key) is not None

    def __setitem__(self, key: Key, value: int) -> None:
        product, stream, time = key
        number = self.times.number(stream, time)
        column = self._columns.setdefault((product, stream), array(_ITEM))
        if number >= len(column):
            column.extend([_ABSENT] * (number + 1 - len(column)))
        self._size += column[number] == _ABSENT
        column[number] = value

    def of_frame(self, stream: str, time: str) -> list[tuple[Key, int]]:
        """The products of that stream and time, with their numbers."""
        products = [product for product, of in self._columns if of == stream]
        keys = [(product, stream, time) for product in products]
        return [(key, value) for key in keys if (value := self._find(key)) is not None]

    def __delitem__(self, key: Key) -> None:
        if self._find(key) is None:
            raise KeyError(key)
        product, stream, time = key
        self._columns[product, stream][self.times.find(stream, time)] = _ABSENT
        self._size -= 1

    def __iter__(self) -> Iterator[Key]:
        for (product, stream), column in self._columns.items():
            for time, value in zip(self.times.of(stream), column, strict=False):
                if value != _ABSENT:
                    yield product, stream, time

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self)!r})"

    def dump(self) -> list[Any]:
        return [[*names, column.tobytes()] for names, column in self._columns.items()]

    @classmethod
    def load(cls, dumped: Any) -> ProductNumbers:
        """The mapping of what :meth:`dump` gave; ``times`` is to be set. Raises ValueError."""
        made = cls()
        for product, stream, column in dumped:
            found = made._columns[product, stream] = array(_ITEM, column)
            made._size += len(found) - found.count(_ABSENT)
        return made


class LimitsOf(MutableMapping[Key, Limits]):
    """The colour limits of each of many pictures, of which many have the same."""

    def __init__(self) -> None:
        self._numbers = ProductNumbers()
        self._limits: dict[Limits, int] = {}
        self._by_number: list[Limits] = []

    @property
    def times(self) -> Times:
        """The numbered times."""
        return self._numbers.times

    @times.setter
    def times(self, times: Times) -> None:
        self._numbers.times = times

    def __getitem__(self, key: Key) -> Limits:
        return self._by_number[self._numbers[key]]

    def __setitem__(self, key: Key, value: Limits) -> None:
        number = self._limits.setdefault(value, len(self._limits))
        if number == len(self._by_number):
            self._by_number.append(value)
        self._numbers[key] = number

    def __delitem__(self, key: Key) -> None:
        del self._numbers[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def dump(self) -> list[Any]:
        return [self._by_number, self._numbers.dump()]

    @classmethod
    def load(cls, dumped: Any) -> LimitsOf:
        """The mapping of what :meth:`dump` gave; ``times`` is to be set. Raises ValueError."""
        made = cls()
        limits, numbers = dumped
        made._by_number = [(float(low), float(high)) for low, high in limits]
        made._limits = {pair: number for number, pair in enumerate(made._by_number)}
        made._numbers = ProductNumbers.load(numbers)
        return made


Columns = FrameSet | TimeSet | ProductNumbers | LimitsOf
