"""Names that other tools use lead to existing diagnostics."""

from __future__ import annotations

from burstlens.viz.diagnostics.synonyms import SYNONYMS
from burstlens.viz.diagnostics.table import DIAGNOSTICS


def test_each_leads_to_a_diagnostic_and_is_not_the_name_of_one():
    assert set(SYNONYMS.values()) <= DIAGNOSTICS.keys()
    assert not SYNONYMS.keys() & DIAGNOSTICS.keys()
    assert all(name == name.casefold() for name in SYNONYMS)
