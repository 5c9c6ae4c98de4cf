"""Decides when a frame is whole: file formats, the model's log, folder listings, the watcher.

``watch`` is one long poll in a worker, ``watcher`` one scan of the model's folder, ``ready`` the
only rule for when a record is whole, ``cursor`` how far each stream has been processed,
``contents`` what a file holds without its fields.
Imports ``models``, the rooms of ``viz`` and ``core``; never ``recipe``, ``placement`` or
``ordering``.
"""

__all__ = [
    "arrival", "attached", "contents", "cursor", "hdf5", "log_search", "model_log", "promised",
    "report", "speech", "structure", "watch", "watcher", "writers",
]  # fmt: skip
