"""Names that other tools use lead to existing diagnostics."""

from __future__ import annotations

from burstlens.viz.diagnostics.synonyms import SYNONYMS, same_quantity
from burstlens.viz.diagnostics.table import DIAGNOSTICS


def test_each_leads_to_a_diagnostic_and_is_not_the_name_of_one():
    assert set(SYNONYMS.values()) <= DIAGNOSTICS.keys()
    assert not SYNONYMS.keys() & DIAGNOSTICS.keys()
    assert all(name == name.casefold() for name in SYNONYMS)


def test_short_names_of_ecmwf_lead_to_those_of_other_tools():
    assert same_quantity("2t", ["t2m", "sp"]) == "t2m"
    assert same_quantity("10u", ["U10", "V10"]) == "U10"
    assert same_quantity("msl", ["psl"]) == "psl"
    assert same_quantity("u10", ["10u"]) == "10u"
    assert same_quantity("2t", ["sp"]) == ""
