"""Secrets masked in text that leaves the run: passwords, tokens, keys, addresses that hold one.

A value is masked as a whole: to its closing quote, bracket or tag, else to the end of its line with
the lines that continue it. In doubt more is masked, not less.

Standard library alone: the log of the supervisor, on any python3, uses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from heapq import heapify, heappop, heapreplace
from typing import Any

from burstlens.core import secret_forms as forms

is_random, is_secret, SHORTEST = forms.is_random, forms.is_secret, forms.SHORTEST

MASK = "[redacted]"
_Span = tuple[int, int, str]
"""Where a secret begins and ends, and what takes its place."""
_OF_A_PARAMETER = {"type", "help", "choices"}
"""Keys of a recipe's parameter that hold no value of it."""


def redacted(text: str, known: Iterable[str] = ()) -> str:
    """``text`` with what looks like a secret masked, and each of the ``known`` ones wherever it is.

    >>> redacted("posted to https://hooks.example.org/services/T0/B1/x9")
    'posted to https://hooks.example.org/[redacted]'
    >>> redacted("export API_TOKEN=abc; export OMP_NUM_THREADS=4")
    'export API_TOKEN=[redacted]; export OMP_NUM_THREADS=4'
    """
    for secret in sorted(known, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return _Text(text).masked()


class _Text(forms.SecretValues):
    """A text that is read once from its beginning to its end. Each reader takes a match of
    ``forms.BEGINS`` and gives where the secret begins and ends and what takes its place, or None.
    What it looks at, it masks, or it is bounded: the time is linear."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.lower = text.lower()
        if len(self.lower) != len(text):  # a few letters become two
            self.lower = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
        self._done = 0

    def masked(self) -> str:
        """The text with its secrets masked."""
        parts: list[str] = []
        after = 0
        for at in self._needles():
            begin = max(after, at - forms.BEFORE_NEEDLE)
            while found := forms.BEGINS.search(self.lower, begin, at + forms.AROUND_NEEDLE):
                span = getattr(self, f"_{found.lastgroup}")(found)
                begin = after = found.end()
                if span is not None:
                    begin = after = max(after, span[1])
                    if span[1] > span[0] and self.text[span[0] : span[1]] != MASK:
                        parts += self.text[self._done : span[0]], span[2]
                        self._done = span[1]
                if after > at:
                    break
        return "".join((*parts, self.text[self._done :])) if parts else self.text

    def _needles(self) -> Iterator[int]:
        """Where the needles are, in order; a search begins anew behind what was masked since."""
        heap = [(at, one) for one in forms.NEEDLES if (at := self.lower.find(one)) >= 0]
        heapify(heap)
        while heap:
            at, one = heap[0]
            if at >= self._done:
                yield at
            following = self.lower.find(one, max(at + 1, self._done))
            if following >= 0:
                heapreplace(heap, (following, one))
            else:
                heappop(heap)

    def _known(self, found: re.Match[str]) -> _Span | None:
        token = forms.KNOWN.match(self.text, found.start())
        return (token.start(), token.end(), MASK) if token else None

    def _address(self, found: re.Match[str]) -> _Span | None:
        """The host of an address stays: user names, paths and queries hold keys."""
        it = forms.ADDRESS.match(self.text, found.end())
        if it is None or not (it[2] or "@" in it[0]) or it[2] == f"/{MASK}":
            return None
        return it.start(), it.end(), f"{it[1]}/{MASK}"

    def _key(self, found: re.Match[str]) -> _Span | None:
        key = forms.KEY.match(self.text, found.start())
        return (key.start(), key.end(), MASK) if key else None

    def _end_of_key(self, found: re.Match[str]) -> _Span | None:
        """The end of a key whose beginning was cut off."""
        key = forms.END_OF_KEY.match(self.text, found.start())
        begin = found.start()
        while key and begin > self._done and re.match(r"[\w+/=\\\r\n]", self.text[begin - 1]):
            begin -= 1
        return (begin, key.end(), MASK) if key and key.start() - begin > 16 else None

    def _lines(self, found: re.Match[str]) -> _Span | None:
        """The private lines of a key of PuTTY."""
        head = forms.LINES.match(self.text, found.start())
        if head is None:
            return None
        end = begin = self.end_of_line(head.end())
        for _ in range(int(head[1]) + 1):
            end = self.end_of_line(min(end + 1, len(self.text)))
        return begin, end, f"\n{MASK}"

    def _scheme(self, found: re.Match[str]) -> _Span | None:
        it = forms.SCHEME.match(self.text, found.start())
        if it is None or not re.search(r"[\d=]|[a-z][A-Z]", it[2]):
            return None
        if it[1].lower() == "basic" and len(it[2]) < 12:
            return None
        return it.start(2), it.end(), MASK

    def _query(self, found: re.Match[str]) -> _Span | None:
        it = forms.QUERY.match(self.text, found.end())
        return (it.start(), it.end(), MASK) if it else None

    def _login(self, found: re.Match[str]) -> _Span | None:
        """``docker login -p value``, ``ldapsearch -w value``, ``mysql -pvalue``."""
        it = forms.WITH_P.match(self.text, found.end() - 1)
        return self._one_word(it.end()) if it else None

    def _user(self, found: re.Match[str]) -> _Span | None:
        """``curl -u name:value``."""
        it = forms.USER.match(self.text, found.start())
        return self._one_word(it.end()) if it else None

    def _at(self, found: re.Match[str]) -> _Span | None:
        """``name:value@host``."""
        left = self.text[max(self._done, found.start() - 40) : found.start()]
        before = left[len(left.rstrip(forms.OF_NAMES)) :].lower()
        value = self.text[found.start() + 1 : found.end() - 2]
        if not before or forms.PLAIN.fullmatch(value) or before in forms.BEFORE_MAIL:
            return None
        return found.start() + 1, found.end() - 2, MASK

    def _name(self, found: re.Match[str]) -> _Span | None:
        text = self.text
        begin = max(self._done, found.start() - 64)
        begin += len(text[begin : found.start()].rstrip(forms.OF_NAMES))
        end = forms.NAME_END.match(text, found.end()).end()  # type: ignore[union-attr]
        name = text[begin:end].lower()
        if forms.NO_SECRET.search(name, 1):
            return None
        if name == "sshpass" and (it := forms.WITH_P.match(text, end)):
            return self._one_word(it.end())
        if it := forms.VALUE_BESIDE.match(text, end):
            return self._value(begin, name, it.end())
        if it := forms.SEPARATOR.match(text, end):
            tight = it["sign"] == "=" and not it["before"] + it["after"]
            if name.lstrip("-") == "pass" and not (
                tight or forms.is_like_a_password(text, it.end())
            ):
                return None
            return self._value(begin, name, it.end(), tight=tight)
        if tagged := self._tagged(begin, end):
            return tagged
        if it := forms.PAIR.match(text, end):
            return self._quoted(it.end())
        if it := forms.BLANKS.match(text, end):
            return self._after_blanks(begin, name, it)
        return None

    def _after_blanks(self, begin: int, name: str, blanks: re.Match[str]) -> _Span | None:
        """``--name value``, ``setenv NAME value``, netrc; other words are left as they are."""
        text, at = self.text, blanks.end()
        left = text[max(self._done, begin - 80) : begin]
        if name.startswith("-"):
            if text[at] == "-" and text[at + 1 : at + 2] in ("-", ""):
                return None
            return self._one_word(at)
        if forms.SETS.search(left) or ("\t" in blanks[0] and not blanks[0].startswith("\n")):
            return self._value(begin, name, at)
        if forms.LOGIN.search(left) and text[at : at + 4] not in ("for ", "is ", "of "):
            return self._one_word(at)
        if self.is_first(begin) and (it := forms.LAST_WORD.match(text, at)):
            named = re.search(r"[_\d-]|[a-z][A-Z]", text[begin : blanks.start()])
            if named or (
                re.search("passw|pwd", name) and it[0].strip().lower() not in forms.OF_PASSWORDS
            ):
                return self._one_word(at)
        word = forms.PROSE.match(text, at)
        if word and forms.is_random(word[1].rstrip(".:)]}")):
            return word.start(1), word.end(1), MASK
        return None

    def _tagged(self, begin: int, end: int) -> _Span | None:
        """``<name>value</name>`` and ``<entry key="name">value</entry>``."""
        text, lower = self.text, self.lower
        left = text[max(self._done, begin - 40) : begin]
        limit = end + forms.LONGEST
        if re.search(r"(?:<|&lt;)(?:\w+:)?\Z", left) and (tag := forms.TAG.match(text, end)):
            if text[tag.end() - 2] == "/":
                return end, tag.end() - 2, f" {MASK}"
            close = lower.find(lower[begin:end] + tag[1], tag.end(), limit)
            close = max(lower.rfind("<", tag.end(), close), lower.rfind("&lt;", tag.end(), close))
        elif re.search(r"""=["']\Z""", left) and (tag := forms.TAG_OF_NAME.match(text, end)):
            close = text.find("</", tag.end(), limit)
        else:
            return None
        return tag.end(), close if close >= 0 else self.end_of_line(tag.end()), MASK

    def _value(self, begin: int, name: str, at: int, *, tight: bool = False) -> _Span | None:
        """The value that begins at ``at``, however it is written."""
        text = self.text
        if re.match(r"old|", name)[0] + "pwd" == name and text[at : at + 1] in "/~":  # type: ignore[index]
            return None
        if text.startswith(MASK, at) and forms.ENDS.match(text, at + len(MASK)):
            return at, at + len(MASK), MASK
        if it := forms.OPENING.match(text, at):
            if not self.is_closing(it):
                return self._quoted(at, tight=tight)
            if forms.ENDS.match(text, it.end()) or text[it.end()].isspace():
                return None
        if it := forms.BLOCK.match(text, at):
            return it.end(), self.continued(begin, it.end(), items=True), f"\n{MASK}"
        if (it := forms.BRACKET.match(text, at)) and (end := self.balanced(it.end() - 1)):
            inner = text[it.end() : end]
            numbers = forms.WEAK.match(name) and not re.search("[A-Za-z\"']", inner)
            if numbers and self.ends_bracket(end, listed=True):
                return None
            quote = forms.QUOTE.search(inner)
            if self.ends_bracket(end, listed=quote is not None):
                return at, end, f"{quote[0]}{MASK}{quote[0]}" if quote else MASK
        end = self.unquoted(at, tight=tight)
        first = self.is_first(begin)
        if end <= at:
            more = self.continued(begin, end, items=True) if first else end
            return (end, more, f"\n{MASK}") if more > end else None
        if self._is_plain(name, at, end):
            return None
        if not tight and first and end >= self.end_of_line(at):
            end = self.continued(begin, end)
        while text[end - 1] in " \t\r":
            end -= 1
        return at, end, MASK

    def _is_plain(self, name: str, at: int, end: int) -> bool:
        """Whether a number or a switch stands there, which is no secret."""
        word = re.match(r"[^\s,;)\]}\"'\\]*", self.text[at : min(end, at + 80)])[0]  # type: ignore[index]
        weak = bool(forms.WEAK.match(name))
        after = forms.AFTER_COUNT if weak else forms.AFTER_PLAIN
        if not forms.PLAIN.fullmatch(word) or not after.match(self.text, at + len(word)):
            return False
        digits = sum(map(str.isdigit, word))
        return digits < SHORTEST or (weak and (digits < 6 or name.endswith("s")))

    def _quoted(self, at: int, *, tight: bool = True) -> _Span:
        """A text in quotes, with those that are joined to it."""
        text = self.text
        opening = forms.OPENING.match(text, at)
        assert opening is not None
        end = self.closing(opening)
        while True:
            if self.closes(end) or end >= len(text):
                break
            if joined := forms.JOINED.match(text, end):
                it = forms.OPENING.match(text, joined.end())
                assert it is not None
                end = self.closing(it)
            elif forms.AFTER_QUOTE.match(text, end):
                break
            else:
                return at, self.unquoted(end, tight=tight), MASK
        quote = opening[1] + opening[2]
        if end - opening.end() <= len(quote):
            return at, at, ""
        return at, end, f"{text[at : opening.end()]}{MASK}{quote}"

    def _one_word(self, at: int) -> _Span | None:
        """An argument of a command."""
        it = forms.OPENING.match(self.text, at)
        if it and not self.is_closing(it):
            return self._quoted(at)
        word = forms.ONE_WORD.match(self.text, at, self.unquoted(at, tight=False))
        if word is None or (forms.PLAIN.fullmatch(word[0]) and len(word[0]) < 6):
            return None
        return word.start(), word.end(), MASK


def secrets_in(value: Any, *, inside: bool = False) -> Iterator[str]:
    """The texts in a parsed file that are secrets by their place: below a key that names one, and
    after an option of a command that does."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not (inside and key in _OF_A_PARAMETER):
                yield from secrets_in(
                    inner, inside=inside or bool(forms.SECRET_NAME.search(str(key)))
                )
    elif isinstance(value, list | tuple):
        before = ""
        for inner in value:
            yield from secrets_in(inner, inside=inside or bool(forms.OPTION.fullmatch(before)))
            before = inner if isinstance(inner, str) else ""
    elif inside and isinstance(value, str) and forms.is_secret(value):
        yield value


def variables_in(value: Any) -> Iterator[str]:
    """The values of all ``environment`` tables of a parsed file, whatever their names, but numbers,
    switches and those of Burstlens."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key == "environment" and isinstance(inner, Mapping):
                others = (it for name, it in inner.items() if not name.startswith("BURSTLENS_"))
                yield from (it for it in others if isinstance(it, str) and forms.is_secret(it))
            else:
                yield from variables_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from variables_in(inner)


def named_secrets(environment: Mapping[str, str]) -> Iterator[str]:
    """The values of the variables whose names say that they hold a secret; a shell's working
    directories, ``PWD`` and ``OLDPWD``, are none."""
    for name, value in environment.items():
        named = name not in ("PWD", "OLDPWD") and forms.SECRET_NAME.search(name)
        if named and forms.is_secret(value):
            yield value
