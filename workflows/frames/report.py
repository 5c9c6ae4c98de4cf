"""What one look of the watcher found: the frames, the logs' news, and the cursor for the next."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from burstlens.core.model import Damage, Fingerprint, Frame, Progress
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.log_search import Hit, LogBlock, together
from burstlens.workflows.frames.model_log import TAIL_LINES
from burstlens.workflows.frames.speech import Written


class ClosedFile(Struct, frozen=True):
    """A file of a stream whose writer has closed it after its last record was declared: the file
    has another fingerprint, its frames are the same."""

    stream: str
    file: str
    fingerprint: Fingerprint


class FolderReport(Struct, frozen=True):
    """The folder of a run that others started, as one scan found it.

    ``identity``: its device and inode, None while it is ``lost`` (then in words, why).
    ``changed``: finished files that were written anew, ``closed``: those that their writers have
    closed. ``restarted``: the sign that a log began
    anew, in words. ``arriving``: what was there on arrival is not yet all read. ``newest``: the
    file that was written last, at ``written`` (its mtime), ``quiet_s`` ago: unless ``dated`` that
    counts from the arrival, as no clock of its server is known. ``intervals``: those
    between the latest frames of the busiest stream, in seconds. ``log_is_newest``: the log was
    written after every frame, or a minute before at most, so its last word is about this run.
    ``unsettled``: a file that is not whole was not watched for long enough yet to leave it so.
    """

    identity: tuple[int, int] | None = None
    lost: str = ""
    changed: tuple[str, ...] = ()
    closed: tuple[ClosedFile, ...] = ()
    restarted: str = ""
    arriving: bool = False
    newest: str | None = None
    written: float | None = None
    quiet_s: float = 0.0
    dated: bool = True
    intervals: tuple[float, ...] = ()
    log_is_newest: bool = True
    unsettled: bool = False

    @property
    def urgent(self) -> bool:
        """Whether the driver must know at once."""
        return bool(self.changed or self.closed or self.restarted)


class UndecodedFile(Struct, frozen=True):
    """The first file of a stream whose times cannot be decoded, relative to the model's folder."""

    stream: str
    file: str
    reason: str

    @property
    def sentence(self) -> str:
        """For users."""
        return f"frames of stream {self.stream} have no usable time: {self.file}: {self.reason}"


class WholeCheckpoint(Struct, frozen=True):
    """A checkpoint of which every file is proven whole.

    ``time`` is the key of the valid time of its state; ``files`` are in the order of its parts and
    tiles, relative to the model's folder, ``sizes`` the bytes of each and ``bytes`` those of all.
    ``written`` is the mtime
    of the latest of them, in Unix seconds. ``signal`` says what proves it: the witnesses of
    :mod:`.ready` or ``name``; several where its parts have different ones. ``took_s``: how long the
    model was at it, None where its log does not say that of every part.
    """

    time: str
    files: tuple[str, ...]
    bytes: int
    written: float
    signal: str
    took_s: float | None = None
    sizes: tuple[int, ...] = ()


class Report(Struct, frozen=True):
    """What one call found, and the cursor for the next.

    ``frames`` and ``damaged`` are new, in time order; so are ``trouble`` (lines of the model's
    log), ``notices`` (of the watcher: a folder that does not answer, a file that shrank) and
    ``tail`` (the log's latest new lines; ``missed`` more came before these). ``ended``: the
    model has ended and no more will come.
    ``behind``: the logs have more than was read so far.
    ``written`` are the log's new lines that call a frame written, ``timed`` those about output,
    frames or not, that say how long it took, in the log's order, ``blocks`` what its libraries
    reported of its files.
    ``hits`` are the matches of guards' patterns in the logs; ``given_up`` maps guards to the reason
    why their pattern is no longer searched for. ``stopping``: a stop was requested before this
    scan. ``undecoded``: files whose times cannot be decoded, the first of each stream.
    ``checkpoints`` are new whole ones, in time order; ``unproven_checkpoints`` one sentence about
    each that is not whole and no longer waited for. ``folder`` is what only a watcher of a run that
    others started reports.
    """

    frames: tuple[Frame, ...]
    damaged: tuple[Damage, ...]
    cursor: Cursor
    progress: Progress | None = None
    trouble: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    tail: tuple[str, ...] = ()
    missed: int = 0
    ended: bool = False
    behind: bool = False
    written: tuple[Written, ...] = ()
    timed: tuple[Written, ...] = ()
    blocks: tuple[LogBlock, ...] = ()
    hits: tuple[Hit, ...] = ()
    given_up: Mapping[str, str] = field(default_factory=dict)
    stopping: bool = False
    undecoded: tuple[UndecodedFile, ...] = ()
    checkpoints: tuple[WholeCheckpoint, ...] = ()
    unproven_checkpoints: tuple[str, ...] = ()
    folder: FolderReport | None = None

    def following(self, before: Report | None) -> Report:
        """With what an earlier report of the same call has from the logs, and of checkpoints: it
        was not returned."""
        if before is None:
            return self
        tail, hits = (*before.tail, *self.tail), {hit.guard: hit for hit in before.hits}
        for hit in self.hits:
            hits[hit.guard] = together(hits.get(hit.guard), hit)
        return replace(
            self,
            tail=tail[-TAIL_LINES:],
            missed=before.missed + self.missed + max(0, len(tail) - TAIL_LINES),
            written=before.written + self.written,
            timed=before.timed + self.timed,
            blocks=before.blocks + self.blocks,
            hits=tuple(hits.values()),
            given_up={**before.given_up, **self.given_up},
            checkpoints=tuple(
                sorted(before.checkpoints + self.checkpoints, key=lambda one: one.time)
            ),
            unproven_checkpoints=before.unproven_checkpoints + self.unproven_checkpoints,
        )

    @property
    def alarms(self) -> tuple[str, ...]:
        """The lines of the log and the notices that a person should see; a line that says why a
        frame is damaged is reported with the frame."""
        told = {" ".join(one.reason.split()) for one in self.damaged}
        return (*(line for line in self.trouble if line not in told), *self.notices)

    @property
    def rests(self) -> bool:
        """Whether all that can be said of the folder is said, unless the model writes again."""
        folder = self.folder
        return not (self.behind or folder is None or folder.arriving or folder.unsettled)

    @property
    def in_progress(self) -> bool:
        """Whether a frame is being written."""
        return any(not (unit.whole or unit.undecoded) for unit in self.cursor.open)

    @property
    def urgent(self) -> bool:
        """Whether it should be returned without another scan."""
        news = self.frames or self.damaged or self.trouble or self.notices or self.undecoded
        of_checkpoints = self.checkpoints or self.unproven_checkpoints
        of_folder = self.folder is not None and self.folder.urgent
        return bool(news or of_checkpoints or of_folder or self.ended)
