"""The measured tables that searches are replayed on, as the bench reads them."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from burstlens.workflows.tuning.space import DEFAULT

sys.path.append(str(Path(__file__).parents[2]))
from bench import tuning


@pytest.mark.parametrize("name", tuning.TABLES)
def test_each_configuration_of_a_table_has_its_times(name):
    found = tuning.table(name)
    assert len(found.seconds) == 73
    assert all(len(runs) >= 5 for runs in found.seconds.values())
    assert found.score(DEFAULT) > 1.2
    assert min(map(found.score, found.seconds)) == 1.0


@pytest.mark.parametrize("strategy", tuning.STRATEGIES)
def test_each_strategy_picks_a_configuration_of_the_table(strategy):
    if "TPE" in strategy:
        pytest.importorskip("optuna")
    table = tuning.table("btio.loaded")
    picked = {tuning.STRATEGIES[strategy](table, random.Random(seed)) for seed in range(5)}
    assert picked <= set(table.seconds)
