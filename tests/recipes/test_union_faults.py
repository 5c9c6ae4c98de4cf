"""A value of a key that takes several kinds has one fault, of the kind that it is of."""

from __future__ import annotations

import pytest
from recipe_texts import RIGHT

from burstlens.core.errors import RecipeError
from burstlens.workflows.recipe.load import load

pytestmark = pytest.mark.integration


@pytest.mark.parametrize(
    ("setting", "key", "words"),
    [
        ("simulation.segments=0", "simulation.segments", "greater than or equal to 1"),
        ("simulation.segments=often", "simulation.segments", "until done"),
        ("checkpoint.stop_by=12", "checkpoint.stop_by", "SIGUSR2"),
        ("checkpoint.stop_by=SIGKILL", "checkpoint.stop_by", "SIGUSR2"),
        ('checkpoint.stop_by={ file = "/tmp/STOP" }', "checkpoint.stop_by.file", "stay inside"),
    ],
)
def test_a_value_has_one_fault(recipe_file, setting, key, words):
    with pytest.raises(RecipeError) as raised:
        load(str(recipe_file(RIGHT)), [setting])
    [fault] = raised.value.faults
    assert fault.key == key
    assert words in fault.message
