"""What lies in a folder that somebody else's model writes, and what to show of it.

``recognition`` says which model writes there and names its streams, ``wanted`` which products and
guards fit its frames, and makes a recipe of both, ``fitting`` which still fit when frames have
come. Reads names and headers only. Imports ``recipe``, ``models``, ``frames``, the rooms of ``viz``
without pages, and ``core``; starts no run and writes nothing.
"""

__all__ = ["fitting", "found", "recognition", "wanted"]
