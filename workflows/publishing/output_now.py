"""What ``status.json`` says about the model's output."""

from __future__ import annotations

from burstlens.core.run.output import Output, StreamOutput, Written
from burstlens.core.run.status_file import OutputNow, OutputPart, StreamOutputPart

SHOWN = 24
"""Outputs of a stream that are shown one by one."""


def output_now(output: Output, nodes: int | None) -> OutputPart | None:
    """The output of the current attempt, on so many nodes, which are unknown of a model that others
    started; None while no line has timed any."""
    streams = {name: _stream(one) for name, one in sorted(output.streams.items()) if one.count}
    if not streams:
        return None
    took_s = sum(one.took_s for one in streams.values())
    node_hours = None if nodes is None else round(nodes * took_s / 3600, 4)
    return OutputPart(streams, _rounded(output.part, 4), node_hours=node_hours)


def _stream(output: StreamOutput) -> StreamOutputPart:
    return StreamOutputPart(
        output.count,
        round(output.took_s, 3),
        _rounded(output.rate, 0),
        [_written(one) for one in output.latest[-SHOWN:]],
    )


def _written(one: Written) -> OutputNow:
    return OutputNow(
        _rounded(one.took_s, 3), one.time or one.file, _rounded(one.rate, 0), one.aggregators,
        one.data_send,
    )  # fmt: skip


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
