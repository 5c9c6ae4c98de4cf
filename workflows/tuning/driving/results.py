"""What a tuning leaves in its run directory: ``tuning/`` with table, picture and ``tuned.toml``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from burstlens.core.durable import write_json, write_whole
from burstlens.core.errors import RecipeError
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import RunFacts, facts_of
from burstlens.core.toml.written import lines, written
from burstlens.workflows.recipe.file import known, read
from burstlens.workflows.tuning import plot, summary
from burstlens.workflows.tuning.course import Ending
from burstlens.workflows.tuning.options import TuneOptions
from burstlens.workflows.tuning.space import Configuration, Space, Trial, steps


def event_of(ending: Ending) -> ev.TuningEnded:
    """The verdict as the journal has it."""
    values = dict(ending.leader.configuration.values) if ending.leader else None
    return ev.TuningEnded(values=values, **asdict(ending.verdict))


def write(run: RunDir, space: Space, trials: Sequence[Trial], ending: Ending) -> str:
    """Write the files, whole, into ``tuning/`` of the run directory; returns the verdict in words.
    ``tuned.toml`` is written only where a gain was proved. Raises OSError."""
    folder, facts = run.path / "tuning", facts_of(run, "source", "table")
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


def tuned_recipe(source: str, leader: Configuration, about: Sequence[str], inputs: str = "") -> str:
    """The text of ``tuned.toml``, a recipe that extends the one that was tuned, with the leader's
    values; ``about`` becomes comments at its head. ``inputs`` is their folder where it does not
    follow from the recipe ``source`` alone."""
    whole: dict[str, Any] = {"simulation": {"inputs": inputs}} if inputs else {}
    for key, value in leader.values:
        *above, last = steps(key)
        table = whole
        for step in above:
            table = table.setdefault(step, {})
        table[last] = value
    head = [f"# {' '.join(line.split())}".rstrip() for line in about]
    return "\n".join([*head, f"extends = {written(source)}", *_tables(whole, ())]) + "\n"


def base_of(source: str, recipes: Mapping[str, Path]) -> str:
    """What to extend: the name of a recipe that has one, which holds after an update, else its
    path."""
    return next((name for name, path in recipes.items() if str(path.resolve()) == source), source)


def _tables(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """The lines of a table and of those in it, each below its header."""
    own = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
    if own and path:
        yield ""
        yield f"[{'.'.join(map(_quoted, path))}]"
    yield from lines(own)
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _tables(value, (*path, key))


def _quoted(step: str) -> str:
    return step if step.replace("_", "").isalnum() and step.isascii() else written(step)
