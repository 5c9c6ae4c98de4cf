"""Clients, which read or steer runs: the commands, the Python API, the server, the preview.

``opened`` reads a run from its directory and drops requests there; ``pages`` and the others are
built on it. Nothing else imports them.
"""

__all__ = [
    "api", "cli", "crate", "driving", "movies", "opened", "pages", "preview", "serving", "support",
    "terminal", "tuning_view",
]  # fmt: skip
