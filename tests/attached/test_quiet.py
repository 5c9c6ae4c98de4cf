"""A model that is quiet is not dead: what it has half written stays in progress."""

from __future__ import annotations

import pytest
from look_case import LookCase

pytestmark = pytest.mark.integration


@pytest.mark.fault
def test_a_frame_that_a_quiet_model_is_writing_is_not_damaged_and_comes_later(
    case: LookCase,
) -> None:
    middle = case.frame_starts()[1] + 700
    model = case.write("netcdf4_one", "--pause-at", f"{middle}:70")
    code = case.end(case.start("--recipe", "content.toml", "--quiet-after", "5s"))
    assert code == 0
    ended = case.events("run.ended")[-1]
    assert ended["outcome"] == "quiet"
    assert ended["message"].endswith("; a file there is not whole")
    assert case.events("model.observed")[-1]["state"] == "quiet"
    assert case.events("frame.damaged") == case.events("product.failed") == []
    assert len(case.times()) == 1
    assert model.wait() == 0
    assert case.end(case.burstlens("resume", case.run.name)) == 0
    assert case.faults() == []
    assert len(case.times()) == 3
    assert case.events("run.ended")[-1]["outcome"] == "done"
