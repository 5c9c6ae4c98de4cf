"""A run that goes back to a checkpoint: equal products are kept, a damaged one is passed over."""

from __future__ import annotations

import pytest
from parts_case import RECIPE, TIMES, prepare

pytestmark = pytest.mark.slow

GUARD = RECIPE.index("[[guard]]")
CHECKPOINTS = "[checkpoint]\nevery = 0.18\nkeep = 9\n"


@pytest.fixture(scope="module")
def resumed(scene):
    """A run without guards that was done. One of its checkpoints was cut then; it has gone back to
    that one."""
    run = prepare(scene("kept"), recipe=RECIPE[:GUARD] + CHECKPOINTS)
    output, _ = (process := run.start()).communicate(timeout=250)
    assert process.returncode == 0, output
    before = {path: path.stat() for path in pictures(run)}
    cut = run.events("checkpoint.whole")[-2]  # the last one is of the end
    (file,) = (path for path in run.on_buffer() if path.name == cut["files"][0])
    file.write_bytes(file.read_bytes()[:-100])
    done = run.call("resume", "it", "--from", cut["time"].lstrip("t0"))
    assert done.returncode == 0, done.stdout + done.stderr
    return run, before, cut


def pictures(run):
    return sorted((run.run_dir / "products" / "motion").glob("*.png"))


def test_checkpoints_are_judged_by_their_own_fields(resumed):
    run, _, _ = resumed
    assert run.events("checkpoint.judged")
    assert all(one["sizes"] == [one["bytes"]] for one in run.events("checkpoint.whole"))


def test_a_checkpoint_that_was_cut_is_suspect_and_the_one_before_is_used(resumed):
    run, _, cut = resumed
    (suspect,) = run.events("checkpoint.suspect")
    assert (suspect["time"], suspect["attempt"]) == (cut["time"], 1)
    assert f"bytes instead of {cut['bytes']}" in suspect["reason"]
    begun = [one.get("checkpoint") for one in run.events("simulation.submitting")]
    whole = [one["time"] for one in run.events("checkpoint.whole") if one["attempt"] == 1]
    assert begun == [None, cut["time"], whole[-3]]
    assert "could not continue from it" in suspect["reason"]


def test_products_that_come_out_the_same_are_kept_as_they_are(resumed):
    run, before, _ = resumed
    begin = run.events("simulation.submitting")[-1]["checkpoint"]
    again = [time for time in TIMES if time > begin]
    kept = {(one["product"], one["time"]) for one in run.events("product.kept")}
    assert {time for product, time in kept if product == "motion"} == set(again)
    assert not run.events("product.superseded")
    after = {path: path.stat() for path in pictures(run)}
    assert {path: found.st_mtime_ns for path, found in after.items()} == {
        path: found.st_mtime_ns for path, found in before.items()
    }


def test_they_belong_to_the_attempt_that_computed_them_and_are_counted(resumed):
    run, _, _ = resumed
    begin = run.events("simulation.submitting")[-1]["checkpoint"]
    owners = {line["time"]: line["attempt"] for line in run.index() if line["product"] == "motion"}
    assert owners == {time: 3 if time > begin else 1 for time in TIMES}
    count = sum(time > begin for time in TIMES)
    assert f"12 published, {count} kept" in run.call("status", "it").stdout
