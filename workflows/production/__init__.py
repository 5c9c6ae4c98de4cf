"""From whole frames to published products: needs, backlog, tasks on workers, publication, space.

``context`` is a run as the parts of its driver share it, ``production`` the driver's side,
``tasks`` what runs on workers, ``publish`` the one place where a product gets its final name,
``sentinel`` the guards of a run that has no driver, ``absence`` word of that. Imports
``placement``, ``recipe``, ``guards``, ``frames``, ``notify``, ``viz`` without its pages and
``core``.
"""

__all__ = [
    "absence",
    "blocks",
    "context",
    "early",
    "flushing",
    "graph",
    "guarding",
    "pressure",
    "production",
    "publish",
    "retries",
    "rewrites",
    "snapshot",
    "tasks",
    "trials",
    "watching",
]
