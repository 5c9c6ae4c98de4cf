"""A run that another process drives, shown in this terminal."""

from __future__ import annotations

import json
import time

from burstlens.clients.opened.status import is_over, looks, text
from burstlens.clients.terminal import View
from burstlens.core.decode import record
from burstlens.core.exit_codes import FAILED
from burstlens.core.printable import say
from burstlens.core.run.directory import RunDir
from burstlens.core.run.status_file import OutcomePart

PAUSE_S = 0.5


def follow(run: RunDir, *, as_json: bool = False) -> int:
    """Show the run until it ends; returns its exit code. Ctrl-C leaves it alone: KeyboardInterrupt.

    Raises RunError when its directory cannot be read for long.
    """
    with View() as view:
        for found in looks(run):
            if is_over(found):
                break
            if not as_json:
                view.show(found)
            time.sleep(PAUSE_S)
    say(json.dumps(record(found), indent=2) if as_json else text(found))
    code = (found.outcome or OutcomePart()).exit_code
    return FAILED if code is None else code
