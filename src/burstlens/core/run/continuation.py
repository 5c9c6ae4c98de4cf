"""What a person wants the next driver to resume from: ``continuation.json`` of the run."""

from __future__ import annotations

from msgspec import Struct, field

from burstlens.core.decode import Count, record
from burstlens.core.durable import write_json
from burstlens.core.run.directory import RunDir
from burstlens.core.run.record import read_record


class ContinuationWanted(Struct, frozen=True, omit_defaults=True):
    """The checkpoint to resume from, by its time and the attempt that wrote it, and what changes
    from then on: settings of the model by name, the longest time of a job."""

    checkpoint: str
    written_by: Count
    settings: dict[str, str] = field(default_factory=dict)
    walltime_s: float | None = None


def note_wanted(run: RunDir, wanted: ContinuationWanted) -> None:
    """Have the next driver resume so. Raises OSError."""
    write_json(run.continuation, record(wanted))


def forget_wanted(run: RunDir) -> None:
    """Have the next driver resume as it would: none has begun that was to do so. Raises OSError."""
    run.continuation.unlink(missing_ok=True)


def read_wanted(run: RunDir) -> ContinuationWanted | None:
    """What is wanted of the next driver, if anything is. Raises RunError for a damaged file."""
    if not run.continuation.exists():
        return None
    return read_record(run.continuation, ContinuationWanted, f"delete it, and resume {run.id} anew")
