"""See a simulation while it runs: in-situ visualization on burst buffers, driven by Parsl."""

__version__ = "0.1.0"
