"""Regular expressions of recipes: each error is reported, and every search has a time limit.

The ``regex`` library accepts the expressions of ``re`` and has a time limit, so that an expression
of a recipe cannot block who follows a log. It writes repetitions out: what takes gigabytes is
refused before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

LINE_S = 0.05
"""Longest time for one expression on one line."""
LONGEST_LINE = 4000
LONGEST = 500
"""Characters of an expression."""
MOST_REPEATED = 100_000
"""Characters of an expression whose repetitions are written out."""
_PARTS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()]|\{(\d*)(?:,(\d*))?\}|.", re.DOTALL)


@dataclass(slots=True)
class Expression:
    """A compiled expression. ``given_up`` says why it is not searched for any more."""

    text: str
    compiled: Any
    given_up: str = ""

    def search(self, line: str) -> Any:
        """The match in that line's first 4000 characters, or None. After a search that took too
        long there is none any more."""
        if self.given_up:
            return None
        try:
            return self.compiled.search(line[:LONGEST_LINE], timeout=LINE_S)
        except TimeoutError:
            self.given_up = f"the pattern {self.text!r} took longer than {LINE_S:g} s on one line"
        except MemoryError:
            self.given_up = f"the pattern {self.text!r} took too much memory on one line"
        return None


@lru_cache(maxsize=256)
def expression(text: str) -> Expression:
    """The expression, one for all users in this process. Raises ValueError with the reason."""
    import regex

    if not text or len(text) > LONGEST:
        raise ValueError(f"a pattern has 1 to {LONGEST} characters")
    if _written_out(text) > MOST_REPEATED:
        raise ValueError(f"{text!r} repeats too much: its repetitions are multiplied")
    try:
        return Expression(text, regex.compile(text))
    except Exception as error:  # the library has more kinds than it names
        why = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        raise ValueError(f"{text!r} is not a regular expression: {why}") from None


def _written_out(text: str) -> int:
    """About how many characters the expression has when each ``{n}`` is written out."""
    sizes, last = [0], 0
    for part in _PARTS.finditer(text):
        if part[0] == "(":
            sizes.append(0)
            last = 0
        elif part[0] == ")" and len(sizes) > 1:
            last = sizes.pop()
            sizes[-1] += last
        elif part[0][0] == "{" and len(part[0]) > 1:
            times = max(int(number[:9] or 0) for number in (part[1] or "", part[2] or ""))
            sizes[-1] += last * max(0, times - 1)
            last *= max(1, times)
        else:
            last = 1
            sizes[-1] += 1
    return sum(sizes)
