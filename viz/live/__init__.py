"""The live page: one front end for browsers and notebooks, and the files that feed it.

``page`` joins its modules, ``feed`` writes the data of a page that is opened from a file share.
Imports ``core`` only.
"""

__all__ = ["feed", "page"]
