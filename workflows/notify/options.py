"""``[notify]`` of a recipe and of the user's configuration.

A recipe may come from another user, so each way that it asks for must be allowed in
``~/.config/burstlens/config.toml``::

    [notify]
    allow = ["run", "mail", "webhook", "desktop"]
"""

from __future__ import annotations

import contextlib
import math
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from burstlens.core import valid_time
from burstlens.core.errors import OptionsError, RecipeError
from burstlens.core.quantity import parse_duration, show_duration
from burstlens.core.toml.faults import Faults
from burstlens.core.toml.table import read_table
from burstlens.core.user_config import config_path, section
from burstlens.workflows.notify.way import KINDS, Way, is_address

Kind = Literal["run", "mail", "webhook", "desktop"]
On = Literal["done", "failed", "stopped", "trip", "needs-you"]
ALL: tuple[On, ...] = ("done", "failed", "stopped", "trip", "needs-you")


def _several(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


def _text(value: Any) -> Any:
    """A number as text: a fault would show the password."""
    return str(value) if isinstance(value, int | float) else value


def _time(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError('expected a time such as "2005-08-28 12:00", or seconds')
    return valid_time.parse_key(str(value))


Several = Annotated[
    tuple[str, ...], BeforeValidator(_several, json_schema_input_type=str | tuple[str, ...])
]
Time = Annotated[str, BeforeValidator(_time, json_schema_input_type=str | float)]
Seconds = Annotated[
    float, Field(gt=0), BeforeValidator(parse_duration, json_schema_input_type=str | float)
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notify:
    """``[notify]``: who gets word of the run, and when."""

    mail: Several = ()
    """Addresses to write to, with the newest picture."""
    webhook: Several = ()
    """Addresses (https://...) to which the word is posted as JSON."""
    run: tuple[str, ...] = ()
    """A program and its arguments, run where the driver runs, without a shell."""
    desktop: bool = False
    """Whether it is shown on the desktop of the machine where the driver runs (notify-send)."""
    on: tuple[On, ...] = ALL
    """What to send word of: the run's end (`done`, `failed`, `stopped`), a guard's `trip`, and an
    end after which a person has to act (`needs-you`)."""
    at: tuple[Time, ...] = ()
    """Model times to send word at, such as "2015-11-01T12:00", or seconds without a calendar."""
    every: Seconds | None = None
    """Model time between two words, such as "6h": at 00, 06, 12 and 18 UTC."""

    def __post_init__(self) -> None:
        if faults := [way.fault for way in self.ways() if way.fault]:
            raise OptionsError(*faults)

    def ways(self, of: str = "") -> tuple[Way, ...]:
        """The ways that it asks for."""
        return (
            *(Way("mail", (one,), of) for one in self.mail),
            *(Way("webhook", (one,), of) for one in self.webhook),
            *([Way("run", self.run, of)] if self.run else ()),
            *([Way("desktop", (), of)] if self.desktop else ()),
        )

    @property
    def when(self) -> str:
        """When it sends word, in a few words."""
        return ", ".join([*self.on, *self.times])

    @property
    def times(self) -> list[str]:
        """At which model times, in a few words."""
        every = [f"every {show_duration(self.every)} of model time"] if self.every else []
        return [*(f"at {valid_time.label(time)}" for time in self.at), *every]

    def reaches(self, first: str, since: str | None, now: str, calendar: str = "") -> bool:
        """Whether one of its model times lies in (``since``, ``now``], all valid times.

        Without a word before (``since`` None) a time of ``at`` counts from the ``first`` frame that
        was seen on, and a multiple of ``every`` if it is later. Multiples count from midnight, or
        from 0 without a calendar; seconds are those of ``calendar``. Times of another kind of
        calendar than the frames' are never reached.
        """
        if not valid_time.has_time(now):
            return False
        kind = valid_time.is_calendar(now)
        same = [time for time in self.at if valid_time.is_calendar(time) == kind and time <= now]
        if any(time >= first if since is None else time > since for time in same):
            return True
        if self.every is None:
            return False
        before, after = (
            math.floor(valid_time.seconds(time, calendar) / self.every + 1e-9)
            for time in (since or first, now)
        )
        return before < after


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Notify):
    """``[notify]`` of the user's configuration: for all runs of the user, and how mail is sent."""

    allow: tuple[Kind, ...] = ()
    """What recipes may do."""
    smtp: str | None = None
    """The mail server, `host:port`; without it this machine's sendmail sends."""
    smtp_user: str | None = None
    smtp_password: Annotated[str | None, BeforeValidator(_text)] = None
    smtp_tls: Literal["starttls", "tls", "none", "auto"] = "auto"
    """`auto`: TLS on port 465, else STARTTLS where the server offers it."""
    smtp_ca: str | None = None
    """A file of the certificates (PEM) that the mail server's is checked against, instead of the
    machine's."""
    sender: str | None = None
    """The sender's address, by default the user's on this machine."""

    def __post_init__(self) -> None:
        Notify.__post_init__(self)
        faults = []
        if self.smtp is not None and _server(self.smtp) is None:
            faults.append(f"smtp: expected host:port, got {self.smtp!r}")
        if (self.smtp_user is None) != (self.smtp_password is None):
            faults.append("smtp_user and smtp_password go together")
        if self.sender is not None and not is_address(self.sender):
            faults.append(f"sender: {self.sender!r} is not an address")
        if self.smtp_ca is not None and not self.smtp_ca.startswith(("/", "~")):
            faults.append(f"smtp_ca: expected a path from / or ~, got {self.smtp_ca!r}")
        if faults:
            raise OptionsError(*faults)

    @property
    def server(self) -> tuple[str, int]:
        """Host and port of ``smtp``."""
        found = _server(self.smtp or "")
        assert found is not None
        return found


def _server(text: str) -> tuple[str, int] | None:
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    right = port.isascii() and port.isdigit() and 0 < int(port) < 65536
    return (host, int(port)) if host and right and not any(map(str.isspace, host)) else None


def settings() -> Settings:
    """``[notify]`` of the user's configuration. Raises RecipeError for a faulty one."""
    table = section("notify")
    if not isinstance(table, Mapping):
        raise RecipeError(f"{config_path()}: expected a table [notify]")
    faults = Faults()
    made = read_table(Settings, table, ("notify",), faults)
    if faults or made is None:
        raise RecipeError(faults.text(str(config_path())))
    return made


def allowed() -> frozenset[str]:
    """The ways that the user allows recipes: ``allow`` of ``[notify]`` and of ``[guards]``. Raises
    RecipeError for a faulty configuration."""
    table = section("guards")
    ways = table.get("allow", []) if isinstance(table, Mapping) else None
    if not isinstance(ways, list) or not set(map(str, ways)) <= set(KINDS):
        raise RecipeError(f"{config_path()}: guards.allow is a list of {', '.join(KINDS)}")
    return frozenset(map(str, ways)) | frozenset(settings().allow)


def wants_of_anyone(kind: On, of_recipe: Notify) -> bool:
    """Whether the recipe or the user's configuration sends word of that kind to anybody."""
    tables: list[Notify] = [of_recipe]
    with contextlib.suppress(RecipeError, OSError):  # the driver reports it
        tables.append(settings())
    return any(kind in table.on and table.ways() for table in tables)


def exposed(mine: Settings) -> Iterator[str]:
    """A warning where others may read the password in the configuration."""
    path = config_path()
    with contextlib.suppress(OSError):
        if mine.smtp_password is not None and stat.S_IMODE(path.stat().st_mode) & 0o077:
            yield f"others may read the password in {path}: chmod 600 {path}"
