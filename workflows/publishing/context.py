"""A run as the parts of its driver share it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from burstlens.cluster_configs.schedulers import LOCAL
from burstlens.cluster_configs.site import Site
from burstlens.core.run.directory import RunDir
from burstlens.core.run.history import History
from burstlens.core.run.journal import Journal
from burstlens.core.run.requests import RunRequests, requests_of
from burstlens.workflows.models.base import Facts
from burstlens.workflows.notify.notices import Notices
from burstlens.workflows.publishing.snapshot import Snapshot
from burstlens.workflows.recipe.recipe import Recipe


def settings_of(run: RunDir, recipe: Recipe) -> Path:
    """The folder with the model's settings: the run's own copies, or the inputs where a run of an
    older version has none."""
    return run.settings if run.settings.is_dir() else recipe.inputs


@dataclass(frozen=True, slots=True)
class RunContext:
    """What a driver has of its run: where it is, what was asked for, what has happened.

    ``journal`` hands each event to ``history`` and to ``snapshot``, which shows both. ``facts`` and
    ``main_stream`` are what the model's inputs say, read once.
    """

    run: RunDir
    recipe: Recipe
    site: Site
    journal: Journal
    history: History
    snapshot: Snapshot
    notices: Notices
    requests: RunRequests
    facts: Facts
    main_stream: str | None
    cuts: tuple[float, ...] = ()
    """Seconds of the run at which attempts stop, so that the next resumes from there."""

    @classmethod
    def of(
        cls, run: RunDir, recipe: Recipe, site: Site, journal: Journal, history: History
    ) -> RunContext:
        """With a snapshot that nothing was noted in yet. Raises RecipeError where the model's run
        cannot be cut as the recipe says."""
        snapshot = Snapshot(run, recipe, history, journal.epoch)
        journal.readers.append(snapshot.apply)
        names = [product.name for product in recipe.products]
        notices = Notices(
            run, recipe.title, names, recipe.notify, journal, history.noticed, snapshot.alarm
        )
        site = site.allowing(recipe.viewing.memory)
        requests = requests_of(run)
        requests.report_failure = snapshot.alarm
        model, inputs = recipe.model, recipe.inputs
        said = model.facts(inputs), model.main_stream(inputs)
        segments = recipe.simulation.segments
        cuts: tuple[float, ...] = ()
        if isinstance(segments, int) and segments > 1 and site.scheduler == LOCAL:
            cuts = tuple(model.cuts(settings_of(run, recipe), segments, recipe.checkpoint.every))
        return cls(run, recipe, site, journal, history, snapshot, notices, requests, *said, cuts)
