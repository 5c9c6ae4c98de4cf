"""HTML by elements: text is text, whatever it holds, since only the serializer writes markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement

from burstlens.printable import printable

Child = Element | str


def element(tag: str, *children: Child, **attributes: str) -> Element:
    """An element with these children; texts are shown as they are, without control characters.

    A trailing underscore makes an attribute of a Python keyword (``class_``).
    """
    made = Element(tag, {name.rstrip("_"): value for name, value in attributes.items()})
    last: Element | None = None
    for child in children:
        if isinstance(child, Element):
            made.append(child)
            last = child
        elif last is None:
            made.text = (made.text or "") + printable(child)
        else:
            last.tail = (last.tail or "") + printable(child)
    return made


def section(title: str, *children: Child) -> Element:
    """A part of the page with its heading."""
    return element("section", element("h2", title), *children)


def pairs(rows: Iterable[tuple[str, str]]) -> Element:
    """Labels with their texts."""
    made = Element("dl")
    for label, text in rows:
        if text:
            SubElement(made, "dt").text = printable(label)
            SubElement(made, "dd").text = printable(text)
    return made


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Element:
    """A table of texts; a column whose head ends with ``#`` holds numbers."""
    right = [head.endswith("#") for head in heads]
    style = ["number" if it else "text" for it in right]
    titles = [
        element("th", it.rstrip("#"), scope="col", class_=way)
        for it, way in zip(heads, style, strict=True)
    ]
    head = element("tr", *titles)
    body = Element("tbody")
    for row in rows:
        cells = [element("td", cell, class_=way) for cell, way in zip(row, style, strict=True)]
        body.append(element("tr", *cells))
    return element("div", element("table", element("thead", head), body), class_="wide")


def listing(text: str) -> Element:
    """Several lines as they stand, long ones broken."""
    made = Element("pre")
    made.text = "\n".join(printable(line) for line in text.splitlines())
    return made
