"""Orders of products: what is made next, of which frames. It decides, and does no I/O.

``events`` are what happens to a run, ``instructions`` what its state wants done about it, which
``outbox`` collects; ``production`` takes the watcher's reports and gives orders; ``backlog`` and
``needs`` say which order is next, ``batches`` and ``sending`` how orders travel to workers,
``space`` and ``releases`` which raw frames may go, ``pressure`` when the model is stopped for want
of room, ``guarding`` what becomes of guards' readings. Imports ``publishing``, ``making``,
``placement``, ``recipe``, ``guards``, ``frames``, ``viz`` without its pages and ``core``.
"""

__all__ = [
    "batches",
    "events",
    "guarding",
    "instructions",
    "outbox",
    "pressure",
    "production",
    "shown_points",
]
