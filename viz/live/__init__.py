"""The live page: one front end for browsers and notebooks, and the files that feed it.

``page`` joins its modules, ``feed`` writes the data of a page that is opened from a file share.
Imports ``core`` only.

The modules, from the bottom up; a folder imports only those before it: ``elements`` (what the parts
are made of; numbers and times as text), ``sources`` (where data come from, and their files),
``time`` (which pictures there are; the time line), ``sharing`` (links, tables, what is copied),
``run`` (how the run stands, its logs, its costs), ``values`` (fields on their grids), ``drawing``
(fields as pictures), ``places`` (what is read at places), ``wall`` (the pictures, and those of
other runs). ``mount.js`` puts the parts together; ``open_page.js`` and ``widget.js`` call it.
"""

__all__ = ["feed", "page"]
