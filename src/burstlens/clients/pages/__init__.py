"""Pages and films: a run's report, movie, Cinema database, widget of the notebook; I/O explained.

They read a run through ``opened``. Imports that, ``workflows``, ``viz`` and ``core``.
"""

__all__ = ["card", "cinema", "iostats", "movie", "report", "widget"]
