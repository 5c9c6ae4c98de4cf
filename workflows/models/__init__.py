"""Adapters of simulation codes, one a module, behind the seam of :mod:`.base`."""
