"""Removes the folder of a worker pool's sockets with the process that its workers are forked from.

multiprocessing makes that folder in TMPDIR and deletes it at a regular end, which a pool never has:
the driver or the scheduler ends it by a signal. The process that workers are forked from ends after
it in either case. It imports this module first; a worker, being a fork, has no part in this.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
from types import FrameType

FOLDER_VARIABLE = "BURSTLENS_POOL_SOCKETS"


def _remove() -> None:
    shutil.rmtree(_folder, ignore_errors=True)


def _terminate(number: int, _: FrameType | None) -> None:
    _remove()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


if _folder := os.environ.pop(FOLDER_VARIABLE, ""):
    atexit.register(_remove)  # a worker ends by os._exit
    signal.signal(signal.SIGTERM, _terminate)
    os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))
