"""When a burst buffer pays for a recipe on a site: ``burstlens io --plan``.

``storage`` is the stated model of a storage's time for output, ``output`` what a run writes,
``comparison`` lays the buffer and the parallel file system side by side. A leaf room: imports
``plan`` and what is below it.
"""

__all__ = ["comparison"]
