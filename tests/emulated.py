"""The emulator of libdatawarp, built as its users build it."""

from __future__ import annotations

import subprocess
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "emulator"


def build_emulator(prefix: Path, flags: str = "-O2") -> Path:
    """Install it below ``prefix``, compiled with ``flags``; returns the library's path.

    Raises CalledProcessError.
    """
    words = ["make", "--no-print-directory", "-C", SOURCES, f"PREFIX={prefix}", f"CFLAGS={flags}"]
    done = subprocess.run(words, capture_output=True, text=True)
    print(done.stderr, end="")
    done.check_returncode()
    return Path(done.stdout.splitlines()[-1])
