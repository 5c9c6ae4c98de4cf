"""Lines for the buffer that no golden script has, and what cannot stand in one."""

from __future__ import annotations

import pytest

from burstlens.cluster_configs.directives import directives
from burstlens.cluster_configs.site import BufferSite
from burstlens.core.errors import SiteError

DATAWARP = directives(BufferSite(kind="datawarp"))
RABBIT = directives(BufferSite(kind="rabbit", type="lustre"))


def test_datawarp_stages_a_file_in_before_the_job_starts():
    root = f"${DATAWARP.variable('run', persistent=False)}"
    assert DATAWARP.stage_in("/project/wrfinput_d01", f"{root}/in/wrfinput_d01") == (
        "#DW stage_in type=file source=/project/wrfinput_d01 "
        "destination=$DW_JOB_STRIPED/in/wrfinput_d01"
    )


def test_access_and_further_words_of_the_site_stand_in_the_line_of_a_job_s_buffer():
    options = ("optimization_strategy=bandwidth", "mfs=1TiB")
    access = "striped(client_cache=yes)"
    site = BufferSite(kind="datawarp", lifetime="job", access=access, options=options)
    assert directives(site).own("x", 2**40) == (
        "#DW jobdw type=scratch access_mode=striped(client_cache=yes) capacity=1024GiB "
        "optimization_strategy=bandwidth mfs=1TiB"
    )
    with pytest.raises(SiteError, match="cannot stand in a burst-buffer directive"):
        directives(BufferSite(kind="datawarp", options=("a b",))).own("x", 2**40)


def test_rabbit_copies_in_and_writes_its_variables_with_underscores():
    root = f"${RABBIT.variable('my-run', persistent=True)}"
    assert root == "$DW_PERSISTENT_my_run"
    assert RABBIT.stage_in("/lus/wrfinput_d01", f"{root}/wrfinput_d01") == (
        "#DW copy_in source=/lus/wrfinput_d01 destination=$DW_PERSISTENT_my_run/wrfinput_d01"
    )


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (600 * 2**30, "600GiB"),
        (20 * 10**9, "20GB"),
        (2**20, "1MiB"),
        (1_500_000_000, "1500MB"),
        (2**30 + 1, "1025MiB"),
    ],
)
def test_a_capacity_is_said_exactly_in_whole_units_else_rounded_up(size, said):
    """NERSC's known issues: Slurm takes a capacity with a decimal point for one granule."""
    assert f"capacity={said} " in f"{DATAWARP.create('x', size)} "
    assert f"capacity={said} " in f"{DATAWARP.own('x', size)} "


@pytest.mark.parametrize("kind", [DATAWARP, RABBIT])
@pytest.mark.parametrize("word", ["two words", "a%j", "a\nb", "$(id)", ""])
def test_a_word_that_slurm_would_read_otherwise_is_refused(kind, word):
    with pytest.raises(SiteError, match="cannot stand in a burst-buffer directive"):
        kind.use(word)
    with pytest.raises(SiteError, match="cannot stand in a burst-buffer directive"):
        kind.stage_in(f"/project/{word} ", "$DW_JOB_STRIPED/x")
