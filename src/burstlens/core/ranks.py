"""Ranks whose files of a frame are missing."""

from __future__ import annotations

from collections.abc import Collection


def absent(ranks: Collection[int]) -> str:
    """The ranks whose tiles are missing, as text, where only those of ``ranks`` exist."""
    gone = [str(rank) for rank in range(max(ranks)) if rank not in ranks]
    if not gone:
        return f"ranks after {max(ranks)} missing"
    return f"rank{'s' if len(gone) > 1 else ''} {', '.join(gone)} missing"
