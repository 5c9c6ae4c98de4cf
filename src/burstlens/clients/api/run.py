"""A run as Python and notebooks see it: a :class:`.RunView` that shows itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from burstlens.clients.opened.view import RunView
from burstlens.clients.pages.card import card
from burstlens.core.errors import RunError
from burstlens.core.extras import install_command
from burstlens.core.run.directory import open_run_dir

if TYPE_CHECKING:
    from burstlens.clients.pages.widget import Dashboard


class Run(RunView):
    """A run, read from its directory alone, with a card and a live view for notebooks."""

    def dashboard(self, *, allow_stop: bool = False) -> Dashboard:
        """The live view of the run, for a notebook. Raises RunError without ``anywidget``.

        Stopping must be allowed first: notebooks are shared, and run again from top to bottom.
        """
        try:
            from burstlens.clients.pages.widget import Dashboard
        except ImportError as error:
            install = install_command("jupyter")
            raise RunError(f"the dashboard needs {error.name}: {install}") from error
        return Dashboard(self, allow_stop=allow_stop)

    def _repr_html_(self) -> str:
        return card(self)


def open_run(name: str | os.PathLike[str] = "last") -> Run:
    """The run given by id, by the start of its id, by path, or ``last``.

    Raises RunError with near names.
    """
    return Run(open_run_dir(os.fspath(name)))
