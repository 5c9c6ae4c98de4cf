"""When a frame is whole: the file formats, the model's log, the listing of a folder, the watcher.

``watch`` is one long poll in a worker, ``watcher`` what it sees of a folder, ``ready`` the one
place where the rule lives that a record is whole, ``cursor`` how far a stream has been seen.
Imports ``models``, the rooms of ``viz`` and ``core``; never ``recipe``, ``placement`` or
``production``.
"""

__all__ = ["cursor", "log_search", "promised", "watch", "watcher"]
