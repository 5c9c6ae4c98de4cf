from __future__ import annotations

import pytest

from burstlens.core.toml.text import read_text

BROKEN = {
    "a word without quotes": ("kind = map", (1, 8), "a text stands in quotes"),
    "a number with a letter": ("nodes = 4x", (1, 10), "unexpected text after the value"),
    "no value": ("nodes =", (1, 8), "a text stands in quotes"),
    "no closing quote": ('name = "t2', (1, 11), "closing quote is missing"),
    "no opening quote": ('name = t2"', (1, 8), "a text stands in quotes"),
    "no equals sign": ('name "t2"', (1, 6), "expected '=' after a key"),
    "no closing bracket": ('keep = ["a",\n  "b",', (1, 13), "closing bracket or quote"),
    "no comma": ('keep = [\n  "a"\n  "b",\n]', (3, 3), "a comma or the closing bracket"),
    "no comma on one line": ("limits = [1 2]", (1, 13), "a comma or the closing bracket"),
    "a header without its bracket": ("[deep", (1, 6), "expected ']'"),
    "a backslash": (r'log = "a\d"', (1, 11), "a backslash in double quotes"),
    "an inline table on two lines": ("crop = { stride = 2,\n  follow = 3 }", (1, 21), "one line"),
    "a key twice": ("a = 1\na = 2", (2, 1), "the key is given twice"),
    "a table twice": ("[t]\nx = 1\n[t]\ny = 1", (3, 1), "the table [t] is given twice"),
    "an invalid date": ("a = 2026-02-31", (1, 5), "invalid date"),
    "a NUL byte": ("a\0 = 1", (1, 2), "expected '='"),
    "a number of 5000 digits": ("a = " + "9" * 5000, (1, 5005), "exceeds the limit"),
    "a number of 20000 bits": ("a = 0x" + "f" * 5000, (1, 1), "more than 64 bits"),
    "a string without its end": ('a = """x\ny', (1, 9), "the closing quote is missing"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_fault_of_syntax_has_its_place_and_hides_nothing_behind_it(what):
    text, place, message = BROKEN[what]
    last = "" if '"""' in text else '\n[after]\nx = "kept"\n'
    found = read_text(text + last)
    [fault] = found.faults
    assert (fault.line, fault.column) == place
    assert message in fault.message
    assert '"""' in text or found.table["after"] == {"x": "kept"}


def test_many_faults_are_found_in_one_text():
    texts = [f"[t{n}]\n{text}" for n, (text, _, _) in enumerate(BROKEN.values())]
    found = read_text("\n".join(texts))
    assert len(found.faults) == len(texts)


def test_one_bracket_instead_of_two_leaves_the_entries():
    found = read_text('[[product]]\nname = "a"\n[product]\nname = "b"\n')
    assert [fault.line for fault in found.faults] == [3]
    assert [entry["name"] for entry in found.table["product"]] == ["a", "b"]


def test_a_statement_in_a_long_string_is_not_read():
    found = read_text('text = """\nkey = 3\n[table]\n"""\nkind = map\n')
    assert [fault.line for fault in found.faults] == [5]
    assert found.table["text"] == "key = 3\n[table]\n"


@pytest.mark.parametrize("text", ["[" * 1000, "a = " + "[" * 1000 + "]" * 1000, "a = {b = " * 1000])
def test_a_thousand_levels_are_one_fault(text):
    [fault] = read_text(text).faults
    assert "nested more than 32 deep" in fault.message


@pytest.mark.parametrize("line", ["x", "a = 1", "[t]", 'a = """', "= 3", "[[[", "a = ["])
def test_faults_on_thousands_of_lines_end(line):
    assert read_text(f"{line}\n" * 3000).faults
