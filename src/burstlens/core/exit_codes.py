"""Exit codes of ``burstlens run`` and ``resume``, as the journal and ``status.json`` have them."""

from __future__ import annotations

DONE = 0
FAILED = 1
"""Failed or refused, with one message; 2 is wrong usage."""
STOPPED_BY_GUARD = 3
STOPPED = 4
"""Stopped by a person."""
FRAMES_LOST = 5
"""The model ended well, and frames are lost or damaged."""
NO_SPACE = 6
"""The model was stopped for want of space on the buffer."""
INTERRUPTED = 130
"""Ctrl-C before the run has begun, as shells report it."""
