"""Changes of single settings in a namelist: what changes, and that nothing else does."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burstlens.core.errors import RecipeError
from burstlens.workflows.models.namelist import Value, parse
from burstlens.workflows.models.namelist_edit import edit, fortran


@pytest.mark.parametrize(
    ("text", "values", "edited"),
    [
        ("&a x = 1 /", [2], "&a x = 2 /"),
        ("&a\n X  =  00,   00,   00, ! three\n/", [2, 2, 2], "&a\n X  =  2,   2,   2, ! three\n/"),
        ("&a x = 1, 2, 3 /", [None, 5], "&a x = 1, 5, 3 /"),
        ("&a x = 3*1 y = 2 /", [4, 4, 4], "&a x = 3*4 y = 2 /"),
        ("&a x = 3*1 y = 2 /", [4], "&a x = 4, 1, 1 y = 2 /"),
        ("&a x = 1, y = 2 /", [1, 7], "&a x = 1, 7, y = 2 /"),
        ("&a x(1) = 1, x(2) = 2 /", [1, 9], "&a x(1) = 1, x(2) = 9 /"),
        ("&a x(1) = 1 /", [1, 9], "&a x(1) = 1, x(2) = 9 /"),
        ("&a x(3) = 7 /", [1, 2, 8], "&a x(3) = 8, x(1) = 1, x(2) = 2 /"),
        ("&a x(2) = /", [1], "&a x(2) = x(1) = 1  /"),
        ("&a x(2) = 7, 8 x(1) = 6 /", [1, 2, 3], "&a x(2) = 2, 3 x(1) = 1 /"),
        ("&a x = 1, 2\n x = 9 /", [5], "&a x = 1, 2\n x = 5 /"),
        ("&a x = 1,\n  2,\n  3 /", [1, 2, 4], "&a x = 1,\n  2,\n  4 /"),
        ("&a x = , 5 /", [4], "&a x = 4, 5 /"),
        ("&a x = 1,,3 /", [None, 2], "&a x = 1,2,3 /"),
        ("&a x = 3* y = 2 /", [5], "&a x = 5, 2* y = 2 /"),
        ("&a x = y = 2 /", [5], "&a x = 5 y = 2 /"),
        ("&a x =/", [5], "&a x = 5/"),
        ("&a x =y=2/", [5], "&a x = 5 y=2/"),
        ("&a s = 'x = 3' x = 2*'a b' /", ["c", "c"], "&a s = 'x = 3' x = 2*'c' /"),
        ("&a x = .false. /", [True], "&a x = .true. /"),
        ("&a x = 1 / &a x = 3 /", [2], "&a x = 2 / &a x = 3 /"),
        ("&b x = 1 / &a x = 3 /", [2], "&b x = 1 / &a x = 2 /"),
        ("&a x = 1\r\n/\r\n", [2], "&a x = 2\r\n/\r\n"),
    ],
)  # fmt: skip
def test_only_the_text_of_the_values_is_replaced(text: str, values: list, edited: str):
    assert edit(text, {("a", "x"): values}).text == edited


@pytest.mark.parametrize(
    ("text", "edited"),
    [
        ("&a\n y = 1,\n/\n", "&a\n y = 1,\n x = 2,\n/\n"),
        ("&a\n\ty=1\n/\n", "&a\n\ty=1\n\tx=2\n/\n"),
        ("&a\r\n y = 1\r\n/\r\n", "&a\r\n y = 1\r\n x = 2\r\n/\r\n"),
        ("&a\n  long_name   = 1,\n /\n", "&a\n  long_name   = 1,\n  x           = 2,\n /\n"),
        ("&A\n Y = 1\n/\n", "&A\n Y = 1\n X = 2\n/\n"),
        ("&a\n y = 1, z = 3 ! two\n/\n", "&a\n y = 1, z = 3 ! two\n x = 2\n/\n"),
        ("&a\n/\n", "&a\n x = 2,\n/\n"),
        ("&a y = 1/", "&a y = 1 x = 2 /"),
        ("&a y = 1, &end", "&a y = 1, x = 2, &end"),
        ("&a /", "&a x = 2, /"),
    ],
)  # fmt: skip
def test_a_new_setting_is_written_as_its_neighbour(text: str, edited: str):
    assert edit(text, {("a", "x"): [2]}, insert=True).text == edited


def test_each_difference_is_a_line():
    text = "&a m = 00, 00, 00, r = .false., same = 4, s = 'a' /"
    changes = {
        ("a", "m"): [2, None, 2], ("a", "r"): [True], ("a", "same"): [4], ("a", "s"): ["it's"],
        ("a", "new"): [0.5],
    }  # fmt: skip
    assert edit(text, changes, insert=True).changes == (
        "m = 0, 0, 0 -> 2, 0, 2",
        "r = .false. -> .true.",
        "s = 'a' -> 'it''s'",
        "new = not set -> 0.5",
    )


def test_settings_that_stay_leave_the_text_alone():
    text = "&a m = 007, l = T, f = 1d0 /"
    changes = {("a", "m"): [7], ("a", "l"): [True], ("a", "f"): [1.0]}
    assert edit(text, changes) == edit(text, {})
    assert edit(text, {}).text == text


@pytest.mark.parametrize(
    ("text", "where", "insert", "message"),
    [
        ("&domains x = 1 /", ("domain", "x"), True, "no group &domain; did you mean domains"),
        ("&a history = 1 /", ("a", "histroy"), False, "no histroy in &a.*did you mean history"),
        ("&a x(1,2) = 1 /", ("a", "x"), True, "x has an index of several dimensions"),
        ("&a y = 1\n", ("a", "x"), True, "&a does not end with /"),
    ],
)  # fmt: skip
def test_what_cannot_be_changed_is_named(text: str, where: tuple, insert: bool, message: str):
    with pytest.raises(RecipeError, match=message):
        edit(text, {where: [2]}, insert=insert)


def test_a_value_that_no_namelist_can_hold_is_refused():
    with pytest.raises(RecipeError, match="x in &a cannot be edited"):
        edit("&a x = 'a' /", {("a", "x"): [" with blanks around "]})


VALUES = st.one_of(
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.floats(-1e6, 1e6, allow_nan=False, allow_subnormal=False),
    st.text("ab'\"/!&,= <>", max_size=6).map(str.strip),
)
KEYS = ["max_dom", "e_we", "run_hours", "name", "x"]
BLANKS = st.sampled_from(["", " ", "\n ", " ! a = 1, 'b\n", "\t", "\r\n  "])


@st.composite
def statements(draw: st.DrawFn) -> tuple[str, str]:
    """The name of a setting, and the text that sets it, whole or from an index on."""
    key = draw(st.sampled_from(KEYS))
    shown = draw(st.sampled_from([key, key.upper()]))
    index = draw(st.sampled_from(["", "", "", "(1)", "(2)", " (3)"]))
    values = draw(st.lists(st.one_of(st.none(), VALUES), max_size=4))
    texts = []
    for value in values:
        count = draw(st.sampled_from(["", "", "2*", "3*"]))
        texts.append(count + ("" if value is None else fortran(value)))
    comma = f"{draw(BLANKS)},{draw(BLANKS)}"
    text = f"{shown}{index}{draw(st.sampled_from(['=', ' = ']))}{comma.join(texts)}"
    return key, text + draw(st.sampled_from([" ", ", ", "\n ", " ! note, z = 1\n"]))


@st.composite
def namelists(draw: st.DrawFn) -> tuple[list[tuple[str, str]], str, str]:
    """Statements of a group, the text before and the text behind them."""
    inside = draw(st.lists(statements(), min_size=1, max_size=6))
    before = draw(st.sampled_from(["&a ", "\ufeff&A\n", "words\n&other x = 9 /\n&a\n  "]))
    behind = draw(st.sampled_from(["/", "\n/\n", "&end\n&b x = 5 /", " /\n&a x = 6 /\n"]))
    return inside, before, behind


CHANGES = st.dictionaries(
    st.sampled_from([*KEYS, "new"]), st.lists(st.one_of(st.none(), VALUES), min_size=1, max_size=5)
)


def merged(old: list[Value | None], values: list[Value | None]) -> list[Value | None]:
    longer = old + [None] * (len(values) - len(old))
    return [was if new is None else new for was, new in zip(longer, values, strict=False)] + (
        longer[len(values) :]
    )


@settings(deadline=None)
@given(namelists(), CHANGES)
def test_the_edited_text_has_the_old_settings_with_the_changes_and_all_other_text(about, changes):
    inside, before, behind = about
    text = before + "".join(statement for _, statement in inside) + behind
    old = parse(text, {"a"}).settings
    wanted = {**old, **{key: merged(old.get(key, []), new) for key, new in changes.items()}}
    # A last value that is none leaves no trace in a text.
    changes = {key: new for key, new in changes.items() if wanted[key][-1] is not None}
    wanted = {key: wanted[key] if key in changes else old[key] for key in {*old, *changes}}
    edited = edit(text, {("a", key): new for key, new in changes.items()}, insert=True).text
    assert parse(edited, {"a"}).settings == wanted
    assert parse(edited, {"b", "other"}).settings == parse(text, {"b", "other"}).settings
    kept = [re.escape(one) if key not in changes else ".*" for key, one in inside]
    tail = re.escape(behind)
    if changes.keys() - old.keys():  # on lines of their own, before the blanks of the end's
        kept[-1] = re.escape(inside[-1][1].rstrip(" ")) if kept[-1] != ".*" else ".*"
        tail = ".*" + re.escape(behind.lstrip())
    assert re.fullmatch("".join([re.escape(before), *kept, tail]), edited, re.DOTALL)
