"""The driver's side of production: what is made next, of which frames, and where it is made.

``events`` are what happens to a run, ``instructions`` what its state wants done about it;
``production`` takes the watcher's reports and gives orders; ``backlog`` and ``needs`` say which
order is next, ``batches`` and ``sending`` how orders travel to workers, ``graph`` and ``blocks``
what workers there are, ``space`` and ``releases`` which raw frames may go, ``guarding`` what
becomes of guards' readings. Imports ``publishing``, ``making``, ``placement``, ``recipe``,
``guards``, ``frames``, ``viz`` without its pages and ``core``.
"""

__all__ = [
    "blocks",
    "events",
    "graph",
    "guarding",
    "instructions",
    "pressure",
    "production",
]
