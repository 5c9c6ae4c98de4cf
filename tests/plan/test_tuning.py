"""What a new tuning refuses and warns of, before anything runs."""

from __future__ import annotations

import pytest

from burstlens.cluster_configs.site import SITES
from burstlens.core.errors import RecipeError
from burstlens.workflows.tuning.planning import new_tuning

pytest.importorskip("optuna")
pytestmark = pytest.mark.integration
RECIPE = """
title = "A"
[simulation]
model = "command"
inputs = "inputs"
command = ["true"]
ranks_per_node = 4
frames = "out_*.nc"
parallel = true
written = 'written (?P<file>\\S+) (?P<seconds>[0-9.]+) s'
[buffer]
capacity = "1 MB"
"""
HINT = "simulation.mpiio_hints.out*"


@pytest.fixture
def tuned(tmp_path, monkeypatch):
    """The warnings of a tuning of that recipe, on a site with that MPI."""
    monkeypatch.setenv("BURSTLENS_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("BURSTLENS_BUFFER", str(tmp_path))
    (tmp_path / "inputs").mkdir()

    def make(more: str, mpi: str) -> list[str]:
        (tmp_path / "r.toml").write_text(RECIPE + more)
        site = tmp_path / "s.toml"
        site.write_text(f'mpi = "{mpi}"\n{(SITES / "local.toml").read_text()}')
        _, warnings = new_tuning(
            str(tmp_path / "r.toml"), str(site), (), "t", runs=2, node_hours=None
        )
        return warnings

    return make


def factors(**values: str) -> str:
    return "[tune.factors]\n" + "".join(f'"{HINT}.{name}" = {v}\n' for name, v in values.items())


def test_hints_that_reach_the_model_are_tried_without_a_word(tuned):
    assert tuned("", "romio") == []


def test_nothing_but_hints_is_not_tried_on_a_site_whose_mpi_takes_none(tuned, tmp_path):
    with pytest.raises(RecipeError, match=r'has mpi = "none": they have no effect'):
        tuned("", "none")
    assert not (tmp_path / "runs").exists()


def test_a_hint_that_the_sites_mpi_does_not_know_is_warned_of(tuned):
    (one,) = tuned(factors(cb_nodes="[1, 2]", ind_wr_buffer_size="[65536, 524288]"), "openmpi")
    assert "ind_wr_buffer_size of 'out*': Open MPI has no such hint" in one


def test_a_hint_that_one_of_the_recipe_outweighs_is_warned_of(tuned):
    own = "[simulation.mpiio_hints]\n'a*' = { cb_nodes = 1 }\n"
    (one,) = tuned(own + factors(cb_nodes="[2]"), "romio")
    assert "1 of 'a*' counts, 2 of 'out*' does not" in one


def test_a_size_with_a_unit_is_refused_before_anything_is_made(tuned, tmp_path):
    with pytest.raises(RecipeError, match=r"cb_buffer_size = '4M': .* not a whole number above 0"):
        tuned(factors(cb_buffer_size='[65536, "4M"]'), "romio")
    assert not (tmp_path / "runs").exists()
