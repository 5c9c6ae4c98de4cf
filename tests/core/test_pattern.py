"""Expressions of recipes: what is refused, and that no search takes long."""

from __future__ import annotations

import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstlens.core.pattern import LINE_S, expression


@pytest.mark.parametrize(
    "text",
    ["", "(", "(" * 3000, "[" * 400, "a" * 501, "a{99999999999}", "[\ud800",
     "x{1,4294967295}", "((a{1000}){1000}){1000}", "(?:(?:a{99}){99}){99}", "(?P<a>(?P<a>x)",
     "(?i", "\\N{x}", "*a", "(?P<1>a)"],
)  # fmt: skip
def test_what_cannot_be_compiled_is_refused_with_one_reason(text):
    with pytest.raises(ValueError, match=r"^[^\n]*\Z"):
        expression(text)


@given(st.text("()[]{}?*+|\\^$.,0129<>PN=:!a", max_size=60))
def test_any_text_is_compiled_or_refused(text):
    with contextlib.suppress(ValueError):
        expression(text).search("a" * 50)


@pytest.mark.parametrize("text", [
    r"\d{4}-\d{2}-\d{2}_\d{2}:\d{2}:\d{2}", ".{1,200}x.{1,200}", "[(]a", r"\(a{2}", "(?:ab){99}",
])  # fmt: skip
def test_ordinary_repetitions_are_accepted(text):
    assert expression(text).search("nothing of that") is None


def test_a_search_that_takes_too_long_is_the_last_one():
    slow = expression("(a+)+$")
    begin = time.process_time()
    for _ in range(100):
        assert slow.search("a" * 3000 + "!") is None
    assert time.process_time() - begin < 20 * LINE_S
    assert "took longer than 0.05 s" in slow.given_up
