"""Records of a growing file that the model's log calls written without naming the file.

Such a line ("into time record = 0000003") means the file that the model writes now. A log may come
late, when the next file has begun, so the newest file is not always the one that is meant. But each
file begins with record 1: the file is as old as the log's 1s are many. A line counts only if as
many files have begun as the log has had first records, and then for the newest of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

Order = tuple[str, int, str]
"""A file's place among those of its stream; the last part is its name."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One stream: how many ``files`` have begun, ``newest`` the last of them; ``begun``, how many
    of them the log has called begun, and the last ``record`` there, from 1."""

    files: int = 0
    newest: Order = ("", 0, "")
    begun: int = 0
    record: int = 0

    @property
    def file(self) -> str | None:
        """The file that the log's latest line means, None if it is not the newest that is known."""
        return self.newest[2] if self.begun == self.files and self.files else None

    def hearing(self, record: int) -> Recorded:
        """A copy after one more line. A smaller record than the last, other than 1, is a record
        that was written again."""
        if record == 1 or not self.begun:
            return replace(self, begun=self.begun + 1, record=record)
        return replace(self, record=max(record, self.record))

    def proves(self, file: str, index: int) -> bool:
        """Whether the log calls that record (from 0) of that file written."""
        return self.file == file and index < self.record


def with_files(
    recorded: Mapping[str, Recorded], files: Iterable[tuple[str, Order]]
) -> Mapping[str, Recorded]:
    """A copy in which these files, each with its stream, have begun."""
    none = Recorded()
    new = [file for file in files if file[1] > recorded.get(file[0], none).newest]
    found = dict(recorded)
    for stream, order in sorted(new, key=lambda file: file[1]):
        known = found.get(stream, none)
        if order > known.newest:  # not a second time
            found[stream] = replace(known, files=known.files + 1, newest=order)
    return found
