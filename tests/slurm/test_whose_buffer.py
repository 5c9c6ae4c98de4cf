"""Whose a persistent buffer is, on a real Slurm: what others made or use is never destroyed."""

from __future__ import annotations

from typing import Any

import pytest
from batch_case import BatchCase
from testbed import ACTIVE, Testbed

pytestmark = pytest.mark.slow
CREATE = (
    "#!/bin/sh\n#BB create_persistent name=storms capacity=1GiB access=striped type=scratch\n:\n"
)


def named(case: BatchCase) -> BatchCase:
    recipe = case.folder / "r.toml"
    recipe.write_text(recipe.read_text().replace("[buffer]\n", '[buffer]\nname = "storms"\n'))
    return case


def event(case: BatchCase, name: str) -> dict[str, Any]:
    return next(line for line in case.journal() if line["event"] == name)


def test_a_named_buffer_that_the_run_made_is_given_back(slurm: Testbed, make_case: Any) -> None:
    case = named(make_case())
    assert case.wait(case.launch()).code == 0, case.said()
    assert not slurm.burst()
    seen = event(case, "buffer.observed")
    assert (seen["owned"], seen["absent"], seen["others"]) == (True, True, [])
    assert seen["created"] >= seen["submitted"]


def test_a_buffer_that_others_made_while_the_run_waited_for_its_own_is_adopted_and_stays(
    slurm: Testbed, make_case: Any
) -> None:
    with slurm.closed():
        case = named(make_case())
        driver = case.launch()
        case.await_that(lambda: case.jobs("buffer-create"), "the create job")
        (job,) = case.jobs("buffer-create")
        slurm.daemons.ask("scontrol", "update", f"JobId={job['JobId']}", "StartTime=now+1hour")
    other = slurm.submit(CREATE)
    slurm.wait(other)
    assert case.wait(driver).code == 0, case.said()
    assert set(slurm.burst()) == {"storms"}
    seen = event(case, "buffer.observed")
    assert (seen["owned"], seen["absent"], seen["others"]) == (False, True, [other])
    assert not [job for job in case.jobs("buffer-create") if job["JobState"] in ACTIVE]
    assert case.burstlens("free", "r").code == 0
    assert set(slurm.burst()) == {"storms"}
