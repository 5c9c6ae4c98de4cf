"""The command line: parse, call one function, print, exit code. It makes no decisions.

:mod:`burstlens.core.exit_codes` has the exit codes. Heavy modules are imported inside the
commands that need them, so that ``status`` and ``list`` answer at once.
"""

from __future__ import annotations

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
from burstlens.clients.cli.logging_options import DRIVING, VERBOSE, require_level
from burstlens.clients.posted_output import open_standard_streams
from burstlens.core.errors import BurstlensError
from burstlens.core.printable import print_stderr, say
from burstlens.core.version import __version__

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
for group in (
    launching, attaching, looking, placing, explaining, steering, after, tuning, describing,
):  # fmt: skip
    app.add_typer(group.app)


def _show_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        say(f"burstlens {__version__}")
        context.exit()


_VERSION: dict[str, Any] = {
    "is_flag": True, "is_eager": True, "expose_value": False, "callback": _show_version,
    "help": "Print the version.",
}  # fmt: skip


def program() -> click.Command:
    """The program with all its commands; each one takes ``--version`` as well."""
    whole = typer.main.get_command(app)
    commands = getattr(whole, "commands", {})
    for command in (whole, *commands.values()):
        command.params.append(click.Option(["--version"], **_VERSION))
    for command in (whole, *(commands[name] for name in DRIVING)):
        command.params.append(click.Option(["-v", "--verbose"], **VERBOSE))
    return whole


@app.callback()
def _groups() -> None:
    """Refuse a level of the logs that does not exist, whatever the command."""
    require_level()


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
