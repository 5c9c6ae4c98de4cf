"""Adapters of simulation codes, one per module, behind the seam of :mod:`.base`.

``base`` says what a model answers, ``registry`` has the models by name, ``ends`` the words with
which logs end, ``inputs`` the files that travel. Imports ``viz`` without its pages, and ``core``;
starts nothing.
"""

__all__ = ["base", "ends", "inputs", "registry"]
