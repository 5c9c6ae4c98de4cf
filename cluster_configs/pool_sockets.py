"""Removes the folder of a worker pool's sockets when the pool ends.

multiprocessing makes that folder in TMPDIR and deletes it at a regular end, which a pool never has:
the driver or the scheduler ends it by a signal. So the pool removes it on SIGTERM, and so does the
process that its workers are forked from, which ends after the pool in any case. That one imports
this module first; a worker, being a fork of it, has no part in this.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
from types import FrameType

FOLDER_VARIABLE = "BURSTLENS_POOL_SOCKETS"


def remove_on_sigterm(folder: str) -> None:
    """Remove the folder when SIGTERM ends this process."""

    def terminate(number: int, _: FrameType | None) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, terminate)
    os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))


if _folder := os.environ.pop(FOLDER_VARIABLE, ""):
    remove_on_sigterm(_folder)
    atexit.register(shutil.rmtree, _folder, ignore_errors=True)  # a worker ends by os._exit
