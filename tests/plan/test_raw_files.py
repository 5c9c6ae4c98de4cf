"""What a plan says of the raw files."""

from __future__ import annotations

from dataclasses import replace

import pytest

from burstlens.cluster_configs.site import choose
from burstlens.workflows.plan.plan import raw_files_text
from burstlens.workflows.recipe.recipe import StageOut

HOME = "out_*.nc come home to output/ ([stage_out] keep)"


@pytest.mark.parametrize(
    ("buffer", "keep", "placement", "text"),
    [
        ({}, True, None, f"deleted at the latest when the run is done, with the buffer; {HOME}"),
        ({}, False, None, "all raw files are deleted at the latest when the run is done, with the "
         "buffer: [stage_out] keep names none"),
        ({"raw": "release"}, True, None, f"deleted when their products are made; {HOME}"),
        ({"destroy": "never"}, False, None, 'stay on the buffer ([buffer] destroy = "never")'),
        ({"destroy": "never"}, True, None, f'destroy = "never"); {HOME}'),
        ({"destroy": "never", "raw": "release"}, False, None, "deleted when their products"),
        ({"destroy": "never"}, False, "same-job", "at the latest when its job ends"),
    ],
)  # fmt: skip
def test_one_line_says_which_raw_files_go_and_which_stay(recipe, buffer, keep, placement, text):
    made = replace(recipe(**buffer), stage_out=StageOut(keep=("out_*.nc",) if keep else ()))
    site = choose("frontier" if placement else "local")
    assert placement in {None, site.viewing.placement}
    found = raw_files_text(made, site)
    assert text in found
    assert "\n" not in found
