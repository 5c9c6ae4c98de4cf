"""Guards: conditions on frames, logs and the pace of a run that raise an alarm or stop the run.

``guard`` is the table of a recipe, ``field`` reads a frame, ``reports`` checks the watcher's
reports, ``judge`` decides which guards trip. Imports ``notify``, ``frames``, ``models``, ``viz``
and ``core``.
"""

__all__ = ["field", "finding", "guard", "judge", "reports", "shown_units"]
