"""A run read from its directory, for any owner and even if its driver has died.

``view`` is the run as an object, ``status`` its state in words, ``steering`` drops the requests to
stop, pause or add. Imports ``workflows``, ``viz`` without its pages, ``cluster_configs`` and
``core``.
"""

__all__ = [
    "asked", "file_errors", "listing", "picture", "pictured", "points", "products",
    "segment_texts", "series", "spot", "status", "steering", "table", "view",
]  # fmt: skip
