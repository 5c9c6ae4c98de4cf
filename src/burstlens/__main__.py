"""``python -m burstlens``."""

from burstlens.cli import main

if __name__ == "__main__":
    main()
