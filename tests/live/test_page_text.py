import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from playwright.sync_api import expect
from pygments.lexers.javascript import JavascriptLexer
from pygments.token import Comment, Literal

from burstlens.viz.live import page as page_module
from burstlens.viz.live.page import compact, module_text, page_text

MOST_BYTES = 320_000
FOLDER = Path(page_module.__file__).parent
MODULES = sorted(FOLDER.rglob("*.js"))


def test_the_page_weighs_less_than_320_kilobytes():
    assert len(page_text().encode()) < MOST_BYTES


def test_the_page_names_no_address_elsewhere():
    addresses = set(re.findall(r"https?://[^\s\"'`<>)]+", page_text()))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a namespace's name, never fetched


def test_nothing_in_the_module_ends_the_element_that_holds_it():
    assert "</script" not in module_text().lower()
    assert "<!--" not in module_text()


def test_every_module_is_joined_in_once_and_after_those_that_it_imports():
    text = module_text()
    made = re.findall(r"^const \$(\w+)=\(", text, re.MULTILINE)
    assert sorted(made) == sorted(path.stem for path in MODULES)
    for name in set(re.findall(r"=\$(\w+);", text)):
        assert text.index(f"const ${name}=(") < text.index(f"=${name};")


def test_folders_of_modules_import_in_one_direction():
    needs = {}
    for path in MODULES:
        imports = re.findall(r'^(?:import|\}) .*from "(.*)\.js";$', path.read_text(), re.MULTILINE)
        used = {(path.parent / name).resolve().parent.name for name in imports}
        needs.setdefault(path.parent.name, set()).update(used - {path.parent.name})
    assert len(needs) == 10
    TopologicalSorter(needs).prepare()  # CycleError names the circle


def test_the_module_imports_nothing():
    assert not re.search(r"^import\b", module_text(), re.MULTILINE)


def meaning(text):
    """Its tokens other than comments and white space, by another reader of JavaScript."""
    tokens = JavascriptLexer().get_tokens(text)
    return [
        (str(kind), value)
        for kind, value in tokens
        if kind not in Comment and (kind in Literal or value.strip())
    ]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_leaving_comments_and_white_space_out_changes_nothing_else(path):
    text = path.read_text(encoding="utf-8")
    stripped = compact(text)
    assert meaning(stripped) == meaning(text)
    assert not any(kind in Comment for kind, _ in JavascriptLexer().get_tokens(stripped))


@pytest.mark.parametrize(
    "code",
    [
        'const a="// no /* comment */";',
        "const a='// no comment';",
        "const a=`\n// in a template\n/** and\n * this */\n`;",
        r"const a=/[/\"'`]\/\//;",
        'const a="it\\"s // quoted";',
        "const a=b/c/d;",
    ],
)
def test_what_looks_like_a_comment_inside_of_a_literal_stays(code):
    with_comments = f"/** It's `one`. */\n{code}  // isn't it\nf(1); // one's \"own\"\n"
    assert compact(with_comments).replace("\n", "") == f"{code}f(1);".replace("\n", "")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_template_lies_inside_of_another_one(path):
    templates = re.findall(r"`[^`]*`", compact(path.read_text(encoding="utf-8")))
    assert all(text.count("${") <= text.count("}") for text in templates)


def test_the_joined_page_runs_in_a_browser_without_its_comments(eight, ways, page):
    page.goto(ways.file("made"))
    expect(page.get_by_role("heading", name="Eight")).to_be_visible()
    assert "/**" not in page.content()
