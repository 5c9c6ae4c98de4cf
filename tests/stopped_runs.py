"""Runs that were stopped and have left checkpoints of these times, without any of their files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from awm_texts import PARAMETERS

from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import RunFacts, write_facts
from burstlens.core.run.journal import Journal
from burstlens.core.run.record import stamp


def stopped_run(run: RunDir, inputs: Path, times: Sequence[str]) -> RunDir:
    """A run of awm; its inputs are put into that folder."""
    inputs.mkdir(exist_ok=True)
    (inputs / "awm.toml").write_text(PARAMETERS)
    table = {"simulation": {"model": "awm", "inputs": str(inputs)}, "product": []}
    facts = {"recipe": "any", "source": "any.toml", "table": table, "site": "local", **stamp()}
    write_facts(run, RunFacts(run=run.id, buffer_folder="f", **facts))
    files = [f"checkpoint_{number:07d}.awm" for number, _ in enumerate(times)]
    journal = Journal(run.journal, 1)
    for event in (
        ev.RunStarted(),
        ev.SimulationSubmitting(job="attempt-1", attempt=1),
        *(ev.CheckpointWhole(attempt=1, time=time, files=[file], bytes=10)
          for time, file in zip(times, files, strict=True)),
        ev.SimulationEnded(job="attempt-1", attempt=1, outcome="stopped"),
        ev.RunEnded(outcome="stopped", exit_code=3),
    ):  # fmt: skip
        journal.append(event)
    journal.close()
    return run
