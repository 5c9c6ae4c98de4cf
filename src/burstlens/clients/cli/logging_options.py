"""What is logged and printed: ``$BURSTLENS_LOG``, and ``-v`` of the program and its commands."""

from __future__ import annotations

import os
from typing import Any

import click

from burstlens.core.errors import RunError
from burstlens.core.run.log_level import VARIABLE, log_level


def _print_log(context: click.Context, _: click.Parameter, times: int) -> None:
    """Print the log on standard error; given twice, log at the level ``debug`` everywhere."""
    if not times or context.resilient_parsing:
        return
    from burstlens.core.run.logs import print_log

    if times > 1:
        os.environ[VARIABLE] = "debug"  # of the run's other processes, too
    level = require_level()
    print_log(level if level == "debug" else "info")


def require_level() -> str:
    """The level of ``$BURSTLENS_LOG``. Raises click.UsageError, exit code 2, for another value."""
    try:
        return log_level()
    except RunError as error:
        raise click.UsageError(str(error)) from None


VERBOSE: dict[str, Any] = {
    "count": True, "expose_value": False, "callback": _print_log,
    "metavar": "",
    "help": "Print the log of this process on standard error; -vv prints and keeps more.",
}  # fmt: skip
"""The options of ``-v``."""
DRIVING = ("run", "demo", "resume", "tune", "drive")
"""Commands that take ``-v`` after their name as well."""
