"""Parsl's interchange, run by the interpreter of the driver."""

from __future__ import annotations

import logging
import runpy
from importlib import import_module

from burstlens.cluster_configs.parsl_internals import INTERCHANGE
from burstlens.core.version import answer


def main() -> None:
    """Run it; its configuration comes pickled on the standard input."""
    logging.raiseExceptions = False  # its log may lie on a full disk: no tracebacks of that
    import_module("burstlens.cluster_configs.unmonitored")
    runpy.run_module(INTERCHANGE, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    answer(__doc__)
    main()
