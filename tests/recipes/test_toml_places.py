from __future__ import annotations

import tomllib
from itertools import chain

import pytest

from burstlens.core.toml.places import places, too_deep
from burstlens.workflows.recipe.file import BUILT_IN

TEXT = '''
a = """ "x" = y
b = 3 """
"q.r" = 'z' # c
c.d = [ [1,2], # k
  {x = 1, "y y" = [true]}, 1979-05-27 07:32:00 , "a,]"
]
[[p]]
name = "1"
[p.sub.deep]
x=1
[[p]]
[[p.q]]
y={}
'''


def paths(value, path=()):
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, entry in inner:
        yield (*path, key)
        if isinstance(entry, dict | list):
            yield from paths(entry, (*path, key))


@pytest.mark.parametrize(
    "text",
    [TEXT, TEXT.replace("\n", "\r\n")]
    + [path.read_text() for path in sorted(BUILT_IN.rglob("*.toml"))],
)
def test_every_value_has_a_place_and_nothing_else_has(text):
    assert set(places(text)) == set(paths(tomllib.loads(text)))


def test_places_are_those_of_keys_of_headers_and_of_entries():
    found = places(TEXT)
    assert found["a",] == (2, 1)
    assert found["q.r",] == (4, 1)
    assert found["c", "d", 1, "y y", 0] == (6, 20)
    assert found["c", "d", 2] == (6, 28)
    assert found["p", 0, "sub", "deep", "x"] == (11, 1)
    assert found["p", 1] == (12, 1)
    assert found["p", 1, "q", 0, "y"] == (14, 1)


def test_brackets_that_are_too_deep_are_found_but_not_those_in_strings():
    assert too_deep("a = 1\nb = " + "[" * 1000) == (2, 37)
    assert too_deep("b = " + "[{x = " * 1000) == (1, 101)
    assert too_deep(f'a = "{"[" * 1000}" # {"[" * 99}') is None
    assert too_deep("\n".join(chain(["a = [1]"] * 100))) is None
