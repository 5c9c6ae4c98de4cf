"""The version, which pyproject.toml and the documentation read here; the answer to ``--version``
and ``--help`` of modules that are started as programs."""

import sys

__version__ = "0.2.0"


def answer(doc: str | None) -> None:
    """``--help`` and ``--version`` of a module that Burstlens starts as a program: if asked for,
    print its docstring or the version and exit with 0."""
    words = set(sys.argv[1:])
    if words & {"-h", "--help"}:
        print((doc or "").strip())
    elif "--version" in words:
        print(f"burstlens {__version__}")
    else:
        return
    sys.exit()
