"""Decides when a frame is whole: file formats, the model's log, folder listings, the watcher.

``watch`` is one long poll in a worker, ``watcher`` one scan of the model's folder, ``ready`` the
only rule for when a record is whole, ``cursor`` how far each stream has been processed.
Imports ``models``, the rooms of ``viz`` and ``core``; never ``recipe``, ``placement`` or
``production``.
"""

__all__ = ["arrival", "attached", "cursor", "log_search", "promised", "report", "watch", "watcher"]
