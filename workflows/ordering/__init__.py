"""The driver's side of production: what is made next, of which frames, and where it is made.

``production`` takes the watcher's reports and gives orders; ``backlog`` and ``needs`` say which
order is next, ``batches`` and ``sending`` how orders travel to workers, ``graph`` and ``blocks``
what workers there are, ``space`` and ``releases`` which raw frames may go, ``guarding`` what
becomes of guards' readings. Imports ``publishing``, ``making``, ``placement``, ``recipe``,
``guards``, ``frames``, ``viz`` without its pages and ``core``.
"""

__all__ = [
    "blocks",
    "graph",
    "guarding",
    "pressure",
    "production",
    "retries",
    "rewrites",
]
