"""What a tuning leaves in its run directory: ``tuning/`` with table, picture and ``tuned.toml``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from burstlens.core.durable import write_json, write_whole
from burstlens.core.errors import RecipeError
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import RunFacts, facts_of
from burstlens.workflows.recipe.file import known, read
from burstlens.workflows.tuning import plot, summary
from burstlens.workflows.tuning.course import Ending
from burstlens.workflows.tuning.options import TuneOptions
from burstlens.workflows.tuning.space import Space
from burstlens.workflows.tuning.trial import Trial
from burstlens.workflows.tuning.tuned import base_of, tuned_recipe


def folder_of(run: RunDir) -> Path:
    """``tuning/`` in the run directory."""
    return run.path / "tuning"


def event_of(ending: Ending) -> ev.TuningEnded:
    """The verdict as the journal has it."""
    verdict = ending.verdict
    return ev.TuningEnded(
        gain=verdict.gain,
        reason=verdict.reason,
        values=dict(ending.leader.configuration.values) if ending.leader else None,
        default_s=verdict.default_s,
        leader_s=verdict.leader_s,
        factor=verdict.factor,
        least=verdict.least,
        most=verdict.most,
    )


def write(run: RunDir, space: Space, trials: Sequence[Trial], ending: Ending) -> str:
    """Write the files, whole; returns the verdict in words. Raises OSError.

    ``tuned.toml`` is written only where a gain was proved.
    """
    folder, facts = folder_of(run), facts_of(run, "source", "table")
    folder.mkdir(exist_ok=True)
    text = summary.sentence(trials, ending)
    remarks = summary.remarks(trials, ending) if trials else []
    write_whole(folder / "trials.tsv", summary.as_tsv(trials))
    write_json(folder / "tuning.json", summary.as_json(trials, ending))
    write_whole(folder / "verdict.txt", "\n".join([text, *remarks]) + "\n")
    if trials:
        part = folder / ".tuning.png.part"
        plot.draw(part, facts.title or "", space, trials, ending)
        part.replace(folder / "tuning.png")
    if ending.verdict.gain and ending.leader is not None:
        about = [text, *remarks, f"Found by burstlens tune, in the run {run.id}.", *_again(facts)]
        base, leader = base_of(str(facts.source), known()), ending.leader.configuration
        recipe = tuned_recipe(base, leader, about, _inputs(facts))
        write_whole(folder / "tuned.toml", recipe)
    return text


def _inputs(facts: RunFacts) -> str:
    """The folder of the inputs where the tuned recipe has to name it: a parameter's default, such
    as ".", is relative to the recipe that is run, and not to the one that it extends."""
    try:
        raw = read(str(facts.source)).table["simulation"]["inputs"]
    except (RecipeError, KeyError, TypeError):  # changed since
        raw = "{"
    known = (facts.table or {}).get("simulation", {}).get("inputs")
    return str(known) if known and "{" in str(raw) else ""


def _again(facts: RunFacts) -> list[str]:
    """How the tuned recipe is run where the tuned one took settings."""
    given = TuneOptions.of(facts.tuning or {}).again
    return [f"Tuned with {given}: give these again."] if given else []
