"""Viewing processes on this machine that a dead driver has left."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

from burstlens.cluster_configs.batch_script import BLOCK_VARIABLE


def end_orphans(parsl_folder: Path) -> int:
    """End the viewing processes on this machine that a dead driver of this run has left.

    They are known by their environment, which names Parsl's folder of this run, and ended by
    process group. Returns how many groups there were.
    """
    marker = os.fsencode(f"{BLOCK_VARIABLE}={parsl_folder}\0")
    groups = set()
    own = os.getpgrp()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            ours = entry.stat().st_uid == os.getuid()
            if ours and marker in (entry / "environ").read_bytes():
                groups.add(os.getpgid(int(entry.name)))
    groups.discard(own)
    for number in (signal.SIGTERM, signal.SIGKILL):
        for group in groups:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, number)
        if groups and number == signal.SIGTERM:
            time.sleep(0.3)
    return len(groups)
