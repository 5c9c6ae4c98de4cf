"""Secrets masked in text that leaves the run: passwords, tokens, keys, addresses that hold one.

Standard library alone: the log of the supervisor uses this file by its path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

MASK = "[redacted]"
SHORTEST = 4
"""Characters of a secret that is looked for; a shorter one is a word of many texts."""
_NAMES = (
    r"token|secret|passw(?:or)?d|passphrase|passcode|api[_-]?key|access[_-]?key|private[_-]?key"
    r"|credential|webhook|authorization|cookie"
)
_OF_A_PARAMETER = {"type", "help", "choices"}
"""Keys of a recipe's parameter that hold no value of it."""
_SECRET_NAME = re.compile(_NAMES, re.IGNORECASE)
_VALUE = r"""(?:\\"[^"\n]*"|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|[^\s"',;}\])]+)"""
_PLAIN = re.compile(r"[+-]?[\d.,:]+(?:[eE][+-]?\d+)?|true|false|yes|no|on|off", re.IGNORECASE)
_OPTION = re.compile(rf"--?[\w-]*(?:{_NAMES})[\w-]*", re.IGNORECASE)
_BEFORE = re.compile(r"(?:^|[\s\"'=])--?[\w-]*\Z")

# Each pattern begins with a fixed text, so that a long line is searched once.
_ADDRESS = re.compile(
    r"""(?<=://)(?:[^\s/@"'<>]{1,256}@)?([^\s/?#@"'<>\\]{1,256})([/?#][^\s"'<>]+)?"""
)
_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [^-]*-----|\Z)", re.DOTALL
)
_BEARER = re.compile(r"\b(bearer|basic)\s+[\w.~+/=-]{16,}", re.IGNORECASE)
_KNOWN = re.compile(
    r"\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{15,}|xox[a-z]-[\w-]{10,}"
    r"|AKIA[0-9A-Z]{16}|sk-[\w-]{20,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)"
)
_ASSIGNED = re.compile(
    rf"""((?:{_NAMES})[\w-]{{0,40}}\\?["']?\s{{0,9}}[=:]\s{{0,9}})({_VALUE})""", re.IGNORECASE
)
_GIVEN = re.compile(
    rf"""((?:{_NAMES})[\w-]{{0,40}}["']?,?[ ]{{1,9}}["']?)([^\s"',]+)""", re.IGNORECASE
)
_HINTS = (
    "://", "token", "secret", "passw", "passphrase", "passcode", "api", "access", "private",
    "credential", "webhook", "authorization", "cookie", "bearer", "basic", "ghp_", "gho_", "ghu_",
    "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "akia", "sk-", "eyj",
)  # fmt: skip
"""Without one of these in lower case no pattern fits: most lines of a log are done with them."""


def redacted(text: str, known: Iterable[str] = ()) -> str:
    """``text`` with what looks like a secret masked, and each of the ``known`` ones wherever it is.

    >>> redacted("posted to https://hooks.example.org/services/T0/B1/x9")
    'posted to https://hooks.example.org/[redacted]'
    >>> redacted("export API_TOKEN=abc; export OMP_NUM_THREADS=4")
    'export API_TOKEN=[redacted]; export OMP_NUM_THREADS=4'
    """
    for secret in sorted(known, key=len, reverse=True):
        text = text.replace(secret, MASK)
    lower = text.lower()
    if not any(hint in lower for hint in _HINTS):
        return text
    text = _ADDRESS.sub(_host, text)
    text = _KEY.sub(MASK, text)
    text = _BEARER.sub(rf"\1 {MASK}", text)
    text = _KNOWN.sub(MASK, text)
    text = _ASSIGNED.sub(_assigned, text)
    return _GIVEN.sub(_given, text)


def _host(found: re.Match[str]) -> str:
    """The host of an address: user names, paths and queries hold keys."""
    return f"{found[1]}/{MASK}" if found[2] or "@" in found[0] else found[0]


def _assigned(found: re.Match[str]) -> str:
    """``NAME = value``, ``"name": "value"``, ``--name=value``."""
    quote = {'"': '"', "'": "'", "\\": '\\"'}.get(found[2][0], "")
    return f"{found[1]}{quote}{MASK}{quote}"


def _given(found: re.Match[str]) -> str:
    """``--name value`` and ``"--name", "value"``; other words are left as they are."""
    before = found.string[max(0, found.start() - 40) : found.start()]
    return found[1] + MASK if _BEFORE.search(before) else found[0]


def secrets_in(value: Any, *, inside: bool = False) -> Iterator[str]:
    """The texts in a parsed file that are secrets by their place: below a key that names one, and
    after an option of a command that does."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not (inside and key in _OF_A_PARAMETER):
                yield from secrets_in(inner, inside=inside or bool(_SECRET_NAME.search(str(key))))
    elif isinstance(value, list | tuple):
        before = ""
        for inner in value:
            yield from secrets_in(inner, inside=inside or bool(_OPTION.fullmatch(before)))
            before = inner if isinstance(inner, str) else ""
    elif inside and isinstance(value, str) and is_secret(value):
        yield value


def variables_in(value: Any) -> Iterator[str]:
    """The values of all ``environment`` tables of a parsed file, whatever their names, but numbers,
    switches and those of Burstlens."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key == "environment" and isinstance(inner, Mapping):
                others = (it for name, it in inner.items() if not name.startswith("BURSTLENS_"))
                yield from (it for it in others if isinstance(it, str) and is_secret(it))
            else:
                yield from variables_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from variables_in(inner)


def named_secrets(environment: Mapping[str, str]) -> Iterator[str]:
    """The values of the variables whose names say that they hold a secret."""
    for name, value in environment.items():
        if _SECRET_NAME.search(name) and is_secret(value):
            yield value


def is_random(value: str) -> bool:
    """Whether it is like a password: digits and letters, and not a path or a sentence."""
    letters, digits = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    return len(value) >= 6 and letters and digits and not re.search(r"[\s/]", value)


def is_secret(value: str) -> bool:
    """Whether a value that stands in a secret's place may be one: neither short nor a number."""
    return len(value) >= SHORTEST and not _PLAIN.fullmatch(value)
