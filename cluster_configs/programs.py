"""The programs that a run needs beside Python: found before anything is started."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from shutil import which

from burstlens.core.errors import SiteError


def ensure_programs() -> None:
    """Put the environment's programs on PATH for the driver. Raises SiteError when one is not."""
    here = str(Path(sys.executable).parent)
    if here not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = here + os.pathsep + os.environ.get("PATH", "")
    for program in ("setsid", "setpriv", "ps"):
        if which(program) is None:
            package = "procps" if program == "ps" else "util-linux"
            raise SiteError(f"{program} is not on PATH; it comes with {package}")
