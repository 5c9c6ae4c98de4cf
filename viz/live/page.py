"""The live page and the module in it: ES modules joined into one text, without a build step.

Browsers block imports under ``file://``, and a notebook takes one module only, so the modules of
this folder are joined in the order of their imports. The page is the same for every run: all that
it shows comes from the files beside it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import rjsmin

from burstlens.core.durable import write_whole
from burstlens.core.run.directory import RunDir

_FOLDER = Path(__file__).parent
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "[./\w]+/(\w+)\.js";\n', re.MULTILINE)
_SHEET = re.compile(r'^import (\w+) from "([./\w]+\.css)" with \{ type: "css" \};\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
_DEFAULT = re.compile(r"^export default ", re.MULTILINE)
_CSS_COMMENT = re.compile(r"^/\*[^\n]*\*/\n", re.MULTILINE)
_STYLE = "html,body{height:100%;margin:0}body{background:Canvas}"


@cache
def module_text() -> str:
    """One ES module that exports ``mount``; its default export is what anywidget calls."""
    texts = {path.stem: _text(path) for path in _FOLDER.rglob("*.js")}
    needs = {name: [found[1] for found in _IMPORT.findall(texts[name])] for name in sorted(texts)}
    order = TopologicalSorter(needs).static_order()
    joined = "".join(_scoped(name, texts[name]) for name in order)
    return f"{joined}const {{mount}}=$mount;\nexport {{mount}};\nexport default $widget;\n"


def page_text() -> str:
    """The whole page; the only other files that it needs are a run's data."""
    script = f"{module_text()}\n$open_page.openPage(document);\n"
    fields = {"POLICY": _policy(script), "STYLE": _STYLE, "SCRIPT": script}
    template = (_FOLDER / "page.html").read_text(encoding="utf-8")
    return re.sub(r"@(\w+)@", lambda match: fields[match[1]], template)


def write_page(run: RunDir) -> None:
    """Put the page into a run's products. Raises OSError."""
    write_whole(run.products / "index.html", page_text(), sync=False)


def _text(path: Path) -> str:
    """A module with its style sheets in it."""
    text = path.read_text(encoding="utf-8")
    return _SHEET.sub(lambda match: _sheet(match[1], path.parent / match[2]), text)


def _scoped(name: str, text: str) -> str:
    """A module as the value of a function, so that its names stay private: ``$name.export``."""
    exports = _EXPORT.findall(text)
    text = _IMPORT.sub(r"const \1 = $\2;\n", text)
    text, defaults = _DEFAULT.subn("const $default = ", _EXPORT.sub("", text))
    given = "$default" if defaults else f"{{ {', '.join(exports)} }}"
    return compact(f"const ${name} = (() => {{\n{text}\nreturn {given};\n}})();\n") + "\n"


def compact(text: str) -> str:
    """A module without comments and white space, by rJSmin; what is quoted stays as it is.

    rJSmin takes the text between two backticks for a literal: a template must not lie inside of
    another one.

    >>> compact('/** A unit. */\\nconst a = "// no comment"; // but this\\n')
    'const a="// no comment";'
    """
    return str(rjsmin.jsmin(text))


def _sheet(name: str, file: Path) -> str:
    css = _CSS_COMMENT.sub("", file.read_text(encoding="utf-8"))
    css = re.sub(r"\s*([{};])\s*|(?<=[:,])\s+", r"\1", css)
    css = re.sub(r"\b0(?=\.\d)", "", css).replace(" > ", ">").replace(";}", "}")
    return f"const {name} = new CSSStyleSheet();\n{name}.replaceSync({json.dumps(css)});\n"


def _policy(script: str) -> str:
    """What the page may load: itself, and files beside it (``file:`` where there is no server)."""
    rules = {
        "default-src": "'none'",
        "script-src": f"'sha256-{_digest(script)}' 'self' file:",
        "style-src": f"'sha256-{_digest(_STYLE)}'",
        "img-src": "'self' file: blob: data:",
        "connect-src": "'self'",
        "worker-src": "blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
