"""Storms: the extreme of a field near a guess, and the track of one over time. Imports as
``diagnostics`` does.
"""

__all__ = ["extreme", "track"]
