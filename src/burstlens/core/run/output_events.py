"""The events of the journal about how long the model was at its output, and what its MPI library
reported of it."""

from __future__ import annotations

from burstlens.core.decode import Count
from burstlens.core.run.event import Event


class OutputTimed(Event, frozen=True, tag="output.timed", omit_defaults=True):
    """The model's log says how long an output took; without a stream it holds no frame, as a
    restart file. ``late``: the line was not read as it came."""

    attempt: Count
    took_s: float
    stream: str | None = None
    time: str | None = None
    file: str | None = None
    record: Count | None = None
    late: bool = False


class OutputReported(Event, frozen=True, tag="output.reported", omit_defaults=True):
    """What the MPI library reported of writing a file: aggregators, part of the time in which they
    received data (``data_send``), part of the writes that had the stripe's size, their mean size in
    bytes, net rate in bytes/s."""

    attempt: Count
    file: str
    aggregators: Count | None = None
    data_send: float | None = None
    stripe_sized: float | None = None
    mean_write: float | None = None
    rate: float | None = None
