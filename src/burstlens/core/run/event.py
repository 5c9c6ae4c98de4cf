"""What all events of a run's journal have, and the types of their common keys."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from burstlens.core.decode import Clock, Count

Key = tuple[str, str, str]
"""Product, stream, valid time: what is published exactly once."""
FrameKey = tuple[str, str, int]
"""Stream, valid time, attempt."""
Inode = Annotated[int, Meta(ge=0, description="device or inode number, unsigned, 64 bits")]
"""The number of a device or of an inode: some file systems use all 64 bits."""
Fingerprint = tuple[Inode, Inode, Count, Count]
"""Device, inode, size in bytes, mtime in ns: a file that was written anew has another one."""


class Event(Struct, frozen=True, kw_only=True, gc=False, tag_field="event"):
    """A line of the journal: ``t`` in Unix seconds (UTC), ``driver`` the epoch of its writer."""

    t: Clock = 0.0
    driver: Count = 0

    @property
    def event(self) -> str:
        """Its name, such as ``frame.ready``."""
        return str(self.__struct_config__.tag)
