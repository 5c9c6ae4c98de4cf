import re

from burstlens.viz.live.page import module_text, page_text

MOST_BYTES = 300_000


def test_the_page_weighs_less_than_300_kilobytes():
    assert len(page_text().encode()) < MOST_BYTES


def test_comments_that_have_lines_to_themselves_are_left_out():
    assert not re.search(r"^\s*(?:/\*|\*/|//)", module_text(), re.MULTILINE)


def test_the_page_names_no_address_elsewhere():
    addresses = set(re.findall(r"https?://[^\s\"'`<>)]+", page_text()))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a namespace's name, never fetched


def test_nothing_in_the_module_ends_the_element_that_holds_it():
    assert "</script" not in module_text().lower()
    assert "<!--" not in module_text()


def test_every_module_is_joined_in_once_and_after_those_that_it_imports():
    text = module_text()
    made = re.findall(r"^const \$(\w+) = \(", text, re.MULTILINE)
    assert len(made) == len(set(made)) > 20
    for name in set(re.findall(r"= \$(\w+);", text)):
        assert text.index(f"const ${name} = (") < text.index(f"= ${name};")


def test_the_module_imports_nothing():
    assert not re.search(r"^import\b", module_text(), re.MULTILINE)
