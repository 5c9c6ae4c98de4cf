"""The ``burstlens`` program, also as ``python -m burstlens``."""

import sys

from burstlens.core.exit_codes import INTERRUPTED


def main() -> None:
    """Load the command line and run it. Ctrl-C while it is loaded ends it as quietly as later."""
    try:
        from burstlens.clients.cli import main as program

        program()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
