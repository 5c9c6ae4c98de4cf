"""The workers of a run: its graph of nodes, and the viewing blocks that run them.

``graph`` runs nodes on workers and beside the driver's loop, ``blocks`` has the viewing blocks of
this machine and ``scheduled_blocks`` those that are batch jobs, ``result_files`` reads what workers
write before their tasks end, ``orphans`` ends what an earlier driver has left. Imports
``ordering``, ``making``, ``placement`` and ``core``.
"""

__all__ = [
    "blocks",
    "graph",
    "orphans",
    "result_files",
    "scheduled_blocks",
]
