"""Adapters of simulation codes, one per module, behind the seam of :mod:`.base`.

``base``, ``continuation`` and ``checkpoint_names`` define the seam, ``registry`` has the models by
name (awm's is in its own room), ``ends`` the patterns of abnormal ends in logs, ``inputs`` the
files to stage in. ``command`` and ``wrf_names`` are also for those who look for a model in a
folder. Imports ``viz`` without its pages, and ``core``; starts nothing.
"""

__all__ = [
    "base", "checkpoint_names", "command", "continuation", "ends", "inputs", "registry",
    "wrf_names",
]  # fmt: skip
