"""Ranks whose files of a frame are there, and those whose are missing."""

from __future__ import annotations

from collections.abc import Collection


def absent(ranks: Collection[int]) -> str:
    """Whose tiles are missing, in words, where only those of ``ranks`` are there."""
    gone = [str(rank) for rank in range(max(ranks)) if rank not in ranks]
    if not gone:
        return f"ranks after {max(ranks)} missing"
    return f"rank{'s' if len(gone) > 1 else ''} {', '.join(gone)} missing"
