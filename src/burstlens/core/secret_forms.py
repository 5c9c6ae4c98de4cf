"""How texts write secrets: names that speak of one, addresses, keys, tokens, quotes, brackets.

Standard library alone, as :mod:`burstlens.core.redaction`, which reads with these.
"""

from __future__ import annotations

import re

LONGEST = 1 << 16
"""Characters of a value of several lines; one that is not closed until then is a line."""
SHORTEST = 4
"""Characters of a secret that is looked for; a shorter one is a word of many texts."""
NAMES = (
    r"token(?!i[sz])|secret(?!ar)|passw|pass[_-]word|passphrase|passcode|pwd|credential|webhook|authorization"
    r"|cookie|sshpass|(?:api|access|private|secret|shared|account|auth|encryption|signing|master"
    r"|deploy|licen[cs]e|consumer|client|session|ssh|subscription|storage)[ _-]?key"
    r"|(?:user|db|login|sql|ftp|smtp|mail|imap|admin|root|http|proxy|ldap|store)[_-]?pass(?![a-z])"
    r"|(?<![\w-])pass(?=\\*[\"']?\s{0,9}[=:])"
    r"|(?<![a-z])auth(?=\\*[\"']?\s{0,9}[=:]\s{0,9}\\*[\"']?[^\s\"\\\',]{8})"
)
SECRET_NAME = re.compile(NAMES, re.IGNORECASE)
OF_PASSWORDS = {"required", "missing", "given", "needed", "expired", "changed", "invalid", "wrong",
                 "incorrect", "accepted", "rejected", "refused", "prompt", "protected", "found",
                 "failed", "ok", "unknown", "set", "unset", "empty"}  # fmt: skip
OPTION = re.compile(rf"--?[\w-]*(?:{NAMES})[\w-]*", re.IGNORECASE)
PLAIN = re.compile(
    r"[+-]?[\d.,:]+(?:[eE][+-]?\d+)?|true|false|yes|no|on|off|none|null|nil", re.IGNORECASE
)

BEGINS = re.compile(
    rf"(?P<name>{NAMES})|(?P<address>://)|(?P<key>-----? ?begin )|(?P<end_of_key>-----end )"
    r"|(?P<known>gh[pousr]_|github_pat_|gl(?:pat|dt|rt|ft|soat|ptt|cbt|agent|imt|oas)-|xox[a-z]-"
    r"|xapp-|a[ks]ia[0-9a-z]{12}|\bsk-|[srp]k_(?:live|test)_|eyj|hf_|npm_|pypi-|aiza|age-secret"
    r"|dckr_pat|hvs\.|sg\.|ya29\.)"
    r"|(?P<scheme>\b(?:bearer|basic|negotiate)\s)|(?P<lines>private-lines:)"
    r"|(?P<query>[?&](?:sig|signature|key|code|hmac)=)"
    r"|(?P<login>\blogin\s|\bldap\w+\s|\bmysql\w*[\s\"']|\bmariadb\w*\s)"
    r"|(?P<user>[\s\"'](?:-u|--user|--proxy-user|--creds)[\s\"'=,])"
    r"|(?P<at>:[^\s:@/\"'<>]{4,64}@[a-z0-9])"
)
"""Where a secret may begin, in lower case; :class:`_Text` reads on from there."""
NEEDLES = (
    "token", "secret", "pass", "pwd", "credential", "webhook", "auth", "cookie", "key", "://", "@",
    "-begin ", "- begin ", "-end ", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-",
    "gldt-", "glrt-", "glft-", "glsoat-", "glptt-", "glcbt-", "glagent-", "glimt-", "gloas-", "xox",
    "xapp-", "akia", "asia", "sk-", "k_live_", "k_test_", "eyj", "hf_", "npm_", "pypi-", "aiza",
    "age-secret", "dckr_pat", "hvs.", "sg.", "ya29.", "bearer", "basic", "negotiate",
    "private-lines:", "sig=", "signature=", "code=", "hmac=", "login", "ldap", "mysql", "mariadb",
    "-u ", "-u=", "-u\"", "-u'", "-u,", "-u\t", "--user", "--proxy-user", "--creds",
)  # fmt: skip
"""One of these is in each text that ``BEGINS`` matches: they are found a hundred times faster."""
BEFORE_NEEDLE, AROUND_NEEDLE = 24, 160
KNOWN = re.compile(
    r"(?<![A-Za-z0-9])(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|gl[a-z]{2,5}-[\w-]{15,}"
    r"|xox[a-z]-[\w-]{10,}|xapp-[\w-]{10,}|A[KS]IA[0-9A-Z]{16}|sk-[\w-]{20,}"
    r"|[srp]k_(?:live|test)_\w{10,}|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){0,3}|hf_[A-Za-z0-9]{30,}"
    r"|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{20,}|AIza[\w-]{30,}|AGE-SECRET-KEY-\w{20,}"
    r"|dckr_pat_[\w-]{20,}|hvs\.[\w-]{20,}|SG\.[\w-]{16,}\.[\w-]{16,}|ya29\.[\w-]{20,})"
)
ADDRESS = re.compile(
    r"""(?:[^\s/"'<>]{1,256}@|[^\s/:@"'<>]{0,128}:(?!\d{1,5}[/?#])[^\s"'<>]{1,256}@)?"""
    r"""([^\s/?#@"'<>\\]{1,256})([/?#][^\s"'<>]+)?"""
)
KEY = re.compile(
    r"-----? ?BEGIN (?:[A-Z0-9 ]{0,40}(?:PRIVATE|SECRET|STATIC)|PGP MESSAGE)[A-Z0-9 ]{0,40}-----?"
    r".*?(?:-----? ?END [^-\n]{0,80}-----?|\Z)",
    re.DOTALL | re.IGNORECASE,
)
END_OF_KEY = re.compile(r"-----END [A-Z0-9 ]{0,40}(?:PRIVATE|SECRET)[A-Z0-9 ]{0,40}-----")
LINES = re.compile(r"Private-Lines:[ ]*(\d{1,3})", re.IGNORECASE)
SCHEME = re.compile(r"(\w+)\s{1,9}([\w.~+/=:-]{8,})")
USER = re.compile(r"""[\s"']-[\w-]+[\s"'=,]{1,4}[\w.@\\-]{1,64}[:%](?=[^\s:])""")
WITH_P = re.compile(r"""[^\n]{0,200}?[\s"']-[pw](?:[\s"',=]{1,4}|(?=[^\s"',=-]))(?=[^\s-])""")
BEFORE_MAIL = {"mailto", "to", "cc", "bcc", "from", "email", "mail", "xmpp", "sip"}
QUERY = re.compile(r"""[^\s"'&<>]+""")

OF_NAMES = "-._0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
NAME_END = re.compile(r"[\w-]{0,64}(?:\.[\w-]{1,64}(?=\s{0,9}=))?")
NO_SECRET = re.compile(
    r"(?:file|path|dir|directory|folder|type|count|limit|length|lifetime|ttl|expires|expires_in)\Z",
    re.IGNORECASE,
)
"""Ends of names that speak of a secret and have none."""
WEAK = re.compile(r"(?:[\w.-]*(?:tokens|credentials)|token|credential|webhook|auth)\Z")
"""Names that often stand before a number."""
AFTER_PLAIN = re.compile(
    r"""[)\]}]*(?:\\*["'](?=[\s,;:)\]}"'\\]|\Z)|,(?=[ ]?\\*["'])|[ \t]*(?:\r?\n|\Z))"""
)
AFTER_COUNT = re.compile(
    r"""[)\]}]*(?:\\*["'](?=[\s,;:)\]}"'\\]|\Z)|[,;](?=["'])|[,;]?(?:\s|\Z))"""
)
SEPARATOR = re.compile(
    r"""(?:\[[^\]\n]{0,40}\]|\*\*|\\{0,15}["'`]|&quot;)?[\])}]{0,2}"""
    r"(?P<before>[ \t]{0,200})(?P<sign>:{1,2}=|[-=]>|<-|[+?.]?={1,2}|:)(?P<after>[ \t]*)"
)
VALUE_BESIDE = re.compile(
    r"""\\{0,15}["']?\s{0,40},?\s{0,40}\\{0,15}["']?(?:value|content|val)\\{0,15}["']?"""
    r"[ \t]{0,40}[=:][ \t]{0,40}",
    re.IGNORECASE,
)
PAIR = re.compile(r"""\\{0,15}["']\s{0,40},\s{0,40}(?=\\{0,15}["'])""")
BLANKS = re.compile(r"""\\{0,15}["']?[ \t]+(?=\S)""")
TAG = re.compile(r"(?:\s[^<>\n]{0,400})?(>|&gt;)")
TAG_OF_NAME = re.compile(r"""["'][^<>\n/]{0,200}>(?=[^<])""")
SETS = re.compile(
    r"(?<![\w-])(?:setenv|env|set|define|arg|let)[ \t]+(?:-\w+[ \t]+)*\Z", re.IGNORECASE
)
LOGIN = re.compile(r"\b(?:machine|login|user|default|account)\b[^\n]{0,80}\s\Z")
FIRST_OF_LINE = re.compile(r"""[\s"'-]*\Z""")
LAST_WORD = re.compile(
    r"""(?:"[^"\n]{0,400}"|'[^'\n]{0,400}'|[^\s"']{1,400})[ \t]{0,40}\r?(?:\n|\Z)"""
)
PROSE = re.compile(r"""(?:(?:is|was|to|now)[ \t]+)?["'`]?([^\s"'`,;]{8,256})""")
QUOTE = re.compile(r"""(\\*)(["'])""")
OPENING = re.compile(r"""(?:[bBrRuUfF]{1,2}|[@$])?(\\*)(["'`])""")
BRACKET = re.compile(r"[\w.$]{0,64}[(\[{]")
IN_BRACKETS = re.compile(r"""\\.|["'(\[{)\]}]""", re.DOTALL)
AFTER_BRACKET = re.compile(
    r"""[ \t]{0,80}[)\]}]{0,40}(?:[ \t]{0,80}(?:\r?\n|\Z)|(\\*["'])|[,;](?:\s|\\*["']|\Z))"""
)
BLOCK = re.compile(r"[|>][+\d-]{0,3}[ \t]*(?:#[^\n]*)?\r?(?=\n)")
WORD = re.compile(r"""(?:\\.|"(?:\\.|[^"\\\n])*+"|'[^'\n]*+'|[^\s;&|,\\]|[;&|,](?!\s|\Z)|\\)+""")
ONE_WORD = re.compile(r"""(?:\\.|"(?:\\.|[^"\\\n])*+"|'[^'\n]*+'|[^\s"',\\]|,(?=[^\s"']))+""")
NEXT = re.compile(
    r"\s*(?:;|&&|\|\|?)\s+(?:(?:export|setenv|set|unset|echo|cd|source|module|exec|srun|mpi\w+|python)\b"
    r"|\.{0,2}/|[A-Za-z_]\w*=)|,?[ \t]+(?:--?[A-Za-z]|[A-Za-z_][\w.-]*=|\.{0,2}~?/\w)"
)
"""What ends the unquoted value of ``NAME=value``: another command, option, assignment or path."""
ENDS = re.compile(r"""[ \t]*(?:[,;#)\]}"'\\<]|\r?\n|\Z)""")
AFTER_QUOTE = re.compile(r"""[)\]}]{0,40}(?:[,;:]?(?:\s|\Z|\\*["'`])|[,;:]?\\|/?>|[&|<])""")
JOINED = re.compile(r"""[ \t]*(?:\\\r?\n[ \t]*|[+.]\s{0,80}|\r?\n[ \t]*[+.][ \t]*)?(?=["'])""")


class SecretValues:
    """A text, and where the values in it end. Its methods are for rising places: what a line has
    before them is read once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._line = (0, -1)
        self._open: list[tuple[str, int]] = []
        """Quotes that are open at ``_scanned`` in this line, each with its backslashes."""
        self._scanned = 0
        self._looked_through = 0
        """Characters read in vain, for brackets that are not closed: 16 times the text at most."""

    def closing(self, opening: re.Match[str]) -> int:
        """Where the quoted text ends, behind its quotes."""
        text, quote, level = self.text, opening[2], len(opening[1])
        limit = opening.end() + LONGEST
        if not level and text.startswith(quote * 3, opening.start(2)):
            at = text.find(quote * 3, opening.end() + 2, limit)
            while at > 0 and quote == '"' and backslashes(text, at) % 2:
                at = text.find(quote * 3, at + 1, limit)
            if at < 0:
                return min(limit, len(text))
            return at + 3 + len(re.match(f"{quote}*", text[at + 3 : at + 5])[0])  # type: ignore[index]
        if quote == "`":
            at = text.find(quote, opening.end(), limit)
            return at + 1 if at >= 0 else self.end_of_line(opening.end())
        for it in QUOTE.finditer(text, opening.end(), limit):
            if it[2] == quote and ends_level(len(it[1]), level):
                return it.end()
        return self.unquoted(opening.end(), tight=False)

    def balanced(self, at: int) -> int:
        """Where the bracket at ``at`` is closed; 0 when it is not."""
        limit = at + min(LONGEST, LONGEST + 16 * at - self._looked_through)
        depth, quote = 0, ""
        for it in IN_BRACKETS.finditer(self.text, at, limit):
            sign = it[0]
            if quote or sign in "\"'":
                quote = "" if sign == quote else quote or sign
            elif sign in "([{":
                depth += 1
            elif sign in ")]}":
                depth -= 1
                if not depth:
                    return it.end()
        self._looked_through += limit - at
        return 0

    def ends_bracket(self, end: int, *, listed: bool) -> bool:
        """Whether a bracket that closes before ``end`` is the whole value, not its beginning."""
        after = AFTER_BRACKET.match(self.text, end)
        if after is None or after[1]:
            return after is not None and self.closes(0, after.start(1))
        return listed or not after[0].lstrip().startswith((",", ";"))

    def unquoted(self, at: int, *, tight: bool) -> int:
        """Where a value without quotes ends: with its line, or the quotes around it; of
        ``NAME=value`` (``tight``) before the next command, option or assignment."""
        text, end = self.text, self.end_of_line(at)
        opened = self._open_quotes(at)
        for it in QUOTE.finditer(text, at, end) if opened else ():
            level = next((n for q, n in opened if q == it[2] and ends_level(len(it[1]), n)), -1)
            if level >= 0 and not (it[2] == "'" and re.match(r"\w", text[it.end() : it.end() + 1])):
                end = it.end() - 1 - level
                break
        if tight:
            while at < end:
                word = WORD.match(text, at, end)
                at = word.end() if word else at + 1
                if NEXT.match(text, at, end):
                    return at
        while text.startswith("\n", end) and backslashes(text, end) % 2:
            end = self.end_of_line(end + 1)
        return end

    def continued(self, begin: int, end: int, *, items: bool = False) -> int:
        """The end with the lines below that are indented more than the name at ``begin``; with
        ``items`` also those of a list at its own indent."""
        text, limit = self.text, min(len(self.text), end + LONGEST)
        indent = begin - self.begin_of_line(begin)
        while end < limit and text.startswith("\n", end):
            stop = text.find("\n", end + 1)
            line = text[end + 1 : stop if stop >= 0 else len(text)]
            bare = line.lstrip(" \t")
            more = len(line) - len(bare) > indent or (items and bare.startswith("- "))
            if not more or not bare.strip():
                break
            end += 1 + len(line)
        return end

    def is_first(self, begin: int) -> bool:
        """Whether a name is the first word of its line."""
        start = self.begin_of_line(begin)
        return begin - start < 200 and bool(FIRST_OF_LINE.match(self.text[start:begin]))

    def is_closing(self, quote: re.Match[str]) -> bool:
        """Whether it ends quotes that began before the name, so that there is no value."""
        return quote.start() == quote.start(1) and self.closes(quote.end(), quote.start())

    def closes(self, end: int, at: int | None = None) -> bool:
        """Whether a quote around the name ends before ``end``, or begins to end there."""
        if at is None:
            it = QUOTE.match(self.text, end)
            opened = self._open
        else:
            it, opened = QUOTE.match(self.text, at), self._open_quotes(at)
        return it is not None and any(
            q == it[2] and ends_level(len(it[1]), level) for q, level in opened
        )

    def _open_quotes(self, at: int) -> list[tuple[str, int]]:
        """The quotes that are open at ``at``, of those in its line."""
        start = self.begin_of_line(at)
        if not start <= self._scanned <= at:
            self._scanned, self._open = start, []
        for it in QUOTE.finditer(self.text, self._scanned, at):
            quote, level = it[2], len(it[1])
            closed = [
                n for n, o in enumerate(self._open) if o[0] == quote and ends_level(level, o[1])
            ]
            if closed:
                del self._open[closed[-1] :]
            elif quote == '"' or not re.match(r"\w", self.text[max(0, it.start() - 1)]):
                self._open.append((quote, level))
        self._scanned = at
        return self._open

    def begin_of_line(self, at: int) -> int:
        self.end_of_line(at)
        return self._line[0]

    def end_of_line(self, at: int) -> int:
        begin, end = self._line
        if not begin <= at <= end:
            begin = self.text.rfind("\n", max(end, 0) if at > end else 0, at) + 1
            end = self.text.find("\n", at)
            self._line = begin, end if end >= 0 else len(self.text)
        return self._line[1]


def backslashes(text: str, at: int) -> int:
    """How many stand directly before ``at``."""
    count = 0
    while count < at and text[at - 1 - count] == "\\":
        count += 1
    return count


def ends_level(backslashes: int, level: int) -> bool:
    """Whether a quote behind so many backslashes ends one that began behind ``level`` of them: each
    text inside a text doubles them."""
    return backslashes % (2 * (level + 1)) == level


def is_like_a_password(text: str, at: int) -> bool:
    """Whether what stands there is quoted or random: ``pass`` alone is an ordinary word."""
    word = re.match(r"[^\s,;]{0,80}", text[at : at + 80])[0]  # type: ignore[index]
    return word[:1] in {'"', "'"} or is_random(word)


def is_random(value: str) -> bool:
    """Whether it is like a password: digits and letters, and not a path or a sentence."""
    letters, digits = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    return len(value) >= 6 and letters and digits and not re.search(r"[\s/]", value)


def is_secret(value: str) -> bool:
    """Whether a value that stands in a secret's place may be one: neither short nor a number."""
    return len(value) >= SHORTEST and not PLAIN.fullmatch(value)
