"""Pages and films of a whole run: report, movie, Cinema database, the notebook's widget.

They read a run through ``clients.opened``, so they stand above it. Imports that, ``viz`` and
``core``.
"""

__all__ = ["card", "cinema", "movie", "report", "widget"]
