"""The live page: one front end for browsers and notebooks, and the files that feed it.

``page`` puts its modules together, ``feed`` writes the data of a page that is opened straight from
a file share. Imports ``core`` alone.
"""

__all__ = ["feed", "page"]
