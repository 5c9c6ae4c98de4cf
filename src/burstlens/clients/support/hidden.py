"""What a support archive masks: secrets of the run, its site and its user, in whatever file."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from burstlens.core import redaction

_WITH_VARIABLES = {"recipe.toml", "run.json", "job.json"}
_TOKEN = re.compile(r"\s*[\w-]{32,200}\s*", re.ASCII)
"""A file with nothing else in it is a token file, as of ``burstlens serve --token-file``."""
_ESCAPED = re.compile(
    r'"""(?=[^\\]{0,4096}\\)(?:\\.|[^\\"]|""?(?!"))*+"""|"(?=[^"\\\n]*+\\)(?:\\.|[^"\\\n])*+"',
    re.DOTALL,
)
"""A text of TOML or JSON with an escape in it, which may be any of its letters."""


class Hidden:
    """Masks secrets in text; ``count`` says how often it did."""

    def __init__(self, files: Mapping[str, bytes], others: Iterable[Path]) -> None:
        """Collect them from a run's own ``files`` (JSON and TOML) and the ``others`` (TOML): the
        site's and the user's."""
        found: set[str] = set(redaction.named_secrets(os.environ))
        variables: set[str] = set()
        for value in _tables(files, others):
            found.update(redaction.secrets_in(value))
            variables.update(redaction.variables_in(value))
        found.update(value for value in variables if redaction.is_random(value))
        self._secrets, self._words = frozenset(found), frozenset(variables)
        self._everywhere = {form for secret in found for form in _forms(secret)}
        self._variables = {f'"{form}"' for value in variables for form in _forms(value)}
        self._variables |= {f"'{value}'" for value in variables}
        self.count = 0

    def mask(self, name: str, text: str) -> str:
        """The text of that file without secrets. Variables that may be words, such as ``close``,
        are masked in recipes and job files alone."""
        if len(text) < 1024 and _TOKEN.fullmatch(text):
            clean = f"{redaction.MASK}\n"
        else:
            words: frozenset[str] = frozenset()
            if PurePath(name).name in _WITH_VARIABLES:
                words = self._words
                for value in self._variables:
                    text = text.replace(value, f'"{redaction.MASK}"')
            if PurePath(name).suffix in {".toml", ".json", ".jsonl"}:
                text = _ESCAPED.sub(lambda it: self._decoded(it[0], words), text)
            clean = redaction.redacted(text, self._everywhere)
        self.count += clean.count(redaction.MASK)
        return clean

    def _decoded(self, literal: str, words: frozenset[str]) -> str:
        """The literal, or a mask where it is a secret whose letters are written by their codes."""
        with suppress(ValueError, KeyError):
            value = tomllib.loads(f"x = {literal}".replace("\\/", "/"))["x"].removesuffix("\n")
            if value in words or any(secret in value for secret in self._secrets):
                return f'"{redaction.MASK}"'
        return literal


def _forms(secret: str) -> Iterator[str]:
    """A secret as JSON, Python and addresses write it."""
    yield secret
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield repr(secret)[1:-1]
    yield quote(secret, safe="")


def _tables(files: Mapping[str, bytes], others: Iterable[Path]) -> Iterator[Any]:
    for name, data in files.items():
        with suppress(ValueError, RecursionError):
            if name.endswith(".json"):
                yield json.loads(data)
            elif name.endswith(".toml"):
                yield tomllib.loads(data.decode())
    for path in others:
        with suppress(OSError, ValueError, RecursionError):
            yield tomllib.loads(path.read_text(encoding="utf-8"))
