"""What the demo prints: where its products are, and what to run next, ready to be pasted."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

from burstlens.clients.opened.status import aligned
from burstlens.core.run.directory import RunDir

RECIPE = "seismic-basin"


def program() -> str:
    """The command that starts this Burstlens in any folder: its name where the PATH finds it.

    Call this before a run is driven: that puts the folder of this Python first on the PATH.
    """
    called = Path(sys.argv[0]).absolute()
    if called.name != "burstlens":
        return shlex.join([sys.executable, "-m", "burstlens"])
    found = shutil.which("burstlens")
    same = found is not None and os.path.realpath(found) == os.path.realpath(called)
    return "burstlens" if same else shlex.quote(str(called))


@dataclass(frozen=True, slots=True)
class Tour:
    """The texts of a demo's run; made before it is driven."""

    run: RunDir
    program: str = field(default_factory=program)

    def beginning(self) -> str:
        """How to look at the run while it goes on."""
        return f"see it in a browser, from another terminal: {self._about_run('serve')}"

    def end(self) -> str:
        """Where the products are, and what to do next, one command per line."""
        products = [
            ("pictures", str(self.run.products / "ground")),
            ("ParaView opens", str(self.run.products / "waves.pvd")),
            ("peak velocity", str(self.run.output / "peak.nc")),
        ]
        steps = [
            ("see it in a browser", self._about_run("serve")),
            ("make a movie", self._about_run("movie", "ground")),
            ("write a report", self._about_run("report")),
            ("run it in the background", f"{self.program} run {RECIPE} --site local --detach"),
            ("watch that run here", f"{self.program} watch last --picture"),
            ("list other recipes", f"{self.program} recipes"),
        ]
        return "\n".join(["products", *aligned(products), "next", *aligned(steps)])

    def _about_run(self, command: str, *more: str) -> str:
        return " ".join([self.program, command, shlex.quote(str(self.run.path)), *more])
