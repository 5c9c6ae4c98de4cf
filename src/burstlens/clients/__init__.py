"""Clients, which read or steer runs: the commands, the Python API, the server, the preview.

``opened`` reads a run from its directory and drops requests there; the others are built on it.
Nothing else imports them, but ``viz.pages`` imports ``opened``.
"""

__all__ = [
    "api",
    "cli",
    "crate",
    "driving",
    "movies",
    "opened",
    "preview",
    "serving",
    "support",
    "terminal",
    "tuning_view",
]
