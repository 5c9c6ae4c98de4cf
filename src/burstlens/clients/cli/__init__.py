"""The command line: parse, call one function, print, exit code. It makes no decisions.

:mod:`burstlens.core.exit_codes` has the exit codes. Heavy modules are imported inside the
commands that need them, so that ``status`` and ``list`` answer at once.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import click
import typer

from burstlens.clients.cli import (
    after,
    attaching,
    describing,
    explaining,
    launching,
    looking,
    placing,
    steering,
    tuning,
)
from burstlens.clients.posted_output import open_standard_streams
from burstlens.core.errors import BurstlensError, RunError
from burstlens.core.printable import print_stderr, say
from burstlens.core.run.log_level import VARIABLE, log_level
from burstlens.core.version import __version__

PANELS = {
    "Launch": [launching], "Look": [attaching, looking, placing, explaining],
    "Steer": [steering], "Keep": [after], "Prepare": [tuning, describing],
}  # fmt: skip
"""The commands' modules in the order and under the titles in which the help lists them."""
DRIVING = ("run", "demo", "resume", "tune", "drive")
"""Commands that take ``-v`` after their name as well."""

app = typer.Typer(
    name="burstlens",
    help="See a simulation while it runs: launch it on fast temporary storage, watch its output "
    "frames, and bring only pictures and small volumes out.",
    no_args_is_help=True,
    rich_markup_mode="markdown",  # joins the lines of a paragraph
    pretty_exceptions_enable=False,
    suggest_commands=False,  # click suggests them already
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="A first run: burstlens demo. Then: burstlens recipes, burstlens check RECIPE.",
)
for panel, groups in PANELS.items():
    for group in groups:
        for entry in group.app.registered_commands:
            entry.rich_help_panel = panel
        app.add_typer(group.app)


@app.callback()
def require_level() -> str:
    """The level of ``$BURSTLENS_LOG``, which is checked ahead of each command. Raises
    click.UsageError, exit code 2, for another value."""
    try:
        return log_level()
    except RunError as error:
        raise click.UsageError(str(error)) from None


def _print_log(context: click.Context, _: click.Parameter, times: int) -> None:
    """Print the log on standard error; given twice, log at the level ``debug`` everywhere."""
    if not times or context.resilient_parsing:
        return
    from burstlens.core.run.logs import print_log

    if times > 1:
        os.environ[VARIABLE] = "debug"  # of the run's other processes, too
    level = require_level()
    print_log(level if level == "debug" else "info")


def _show_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        say(f"burstlens {__version__}")
        context.exit()


_VERSION: dict[str, Any] = {
    "is_flag": True, "is_eager": True, "expose_value": False, "callback": _show_version,
    "help": "Print the version.",
}  # fmt: skip
_VERBOSE: dict[str, Any] = {
    "count": True, "expose_value": False, "callback": _print_log, "metavar": "",
    "help": "Print the log of this process on standard error; -vv prints and keeps more.",
}  # fmt: skip


def program() -> click.Command:
    """The program with all its commands; each one takes ``--version`` as well."""
    whole = typer.main.get_command(app)
    commands = getattr(whole, "commands", {})
    for command in (whole, *commands.values()):
        command.params.append(click.Option(["--version"], **_VERSION))
    for command in (whole, *(commands[name] for name in DRIVING)):
        command.params.append(click.Option(["-v", "--verbose"], **_VERBOSE))
    return whole


def main() -> None:
    """The ``burstlens`` program."""
    open_standard_streams()
    try:
        program()()
    except BurstlensError as error:
        print_stderr(f"burstlens: {error}")
        sys.exit(error.exit_code)
    except ModuleNotFoundError as error:
        room = (error.name or "").removeprefix("burstlens.workflows.")
        if room == error.name or "." in room:
            raise
        print_stderr(f"burstlens: this copy has no workflows/{room}: install Burstlens whole")
        sys.exit(2)
    except BrokenPipeError:
        sys.exit(1)
    except OSError as error:
        if error.filename is None:
            raise
        print_stderr(f"burstlens: cannot use {error.filename}: {error.strerror}")
        sys.exit(1)
