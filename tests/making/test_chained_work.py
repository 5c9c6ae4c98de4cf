"""What a worker does with the states of a chained product: real frames, a real buffer."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from burstlens.core.errors import StagingError
from burstlens.core.model import Failure, Needed
from burstlens.viz.kinds.python.options import PythonOptions
from burstlens.viz.product import Context
from burstlens.viz.registry import product_kind
from burstlens.workflows.making.order import Order
from burstlens.workflows.making.tasks import produce
from burstlens.workflows.placement.buffer import BufferRef

WRF = Path(__file__).parents[1] / "data" / "wrf" / "wrfout_d01_2005-08-28_12_00_00"
PLOTS = """\
from burstlens.core.errors import StateError


def count(frame, out, state):
    frames = 1
    if frame.previous:
        text = frame.previous.read_text()
        if not text.isdigit():
            raise StateError(f"{frame.previous.name} holds no number")
        frames += int(text)
    state.write_text(str(frames))
    out.write_text(str(frames))


def forgets(frame, out, state):
    out.write_text("1")
"""


@pytest.fixture
def work(tmp_path, run_dir, frame):
    """Makes a chained product of a frame from states of these contents, newest first."""
    buffer = tmp_path / "buffer"
    (buffer / "storm-1" / "1").mkdir(parents=True)
    shutil.copy(WRF, buffer / "storm-1" / "1" / "frame.nc")
    (run_dir.files / "plots.py").write_text(PLOTS)
    folder = run_dir.products / ".states"
    folder.mkdir()

    def make(*states, function="count"):
        names = []
        for number, content in enumerate(states):
            names.append(f".states/{number}")
            if content is not None:
                (run_dir.products / names[-1]).write_text(content)
        context = Context("storm-1", "Any", "count", "d01", "20050828T120000", run_dir.files)
        of = frame(
            "20050828T120000", "d01", paths=("storm-1/1/frame.nc",), bytes=WRF.stat().st_size
        )
        options = PythonOptions(f"plots.py:{function}", extension="txt", chained=True)
        order = Order("python", options, context, of, str(run_dir.products))
        order = replace(order, needed=Needed(previous=tuple(names)))
        assert product_kind("python").chained(options)
        result = produce(BufferRef("posix", str(buffer), "storm-1"), order)
        return result.receipt or result.failure

    return make


def test_it_resumes_from_the_newest_state(work, run_dir):
    receipt = work("7", "3")
    assert (run_dir.products / receipt.incoming).read_text() == "8"
    assert (run_dir.products / receipt.state.incoming).read_text() == "8"
    assert "chain" not in receipt.facts


@pytest.mark.parametrize("newest", ["torn", None])
def test_it_resumes_from_an_older_state_if_the_newest_is_damaged_or_gone(work, run_dir, newest):
    receipt = work(newest, "3")
    assert (run_dir.products / receipt.incoming).read_text() == "4"
    assert receipt.facts["chain"].startswith("resumes from an older state: ")


def test_it_starts_afresh_and_says_so_if_no_state_can_be_used(work, run_dir):
    receipt = work("torn", None, "torn")
    assert (run_dir.products / receipt.incoming).read_text() == "1"
    assert receipt.facts["chain"].startswith("starts afresh: 0 holds no number")
    assert json.dumps(dict(receipt.facts))


def test_a_kind_that_writes_no_state_fails(work, run_dir):
    failure = work(function="forgets")
    assert isinstance(failure, Failure)
    assert "wrote no state" in failure.reason


def test_a_buffer_that_was_deleted_is_not_called_a_full_one(work, tmp_path):
    shutil.rmtree(tmp_path / "buffer")
    with pytest.raises(StagingError) as raised:
        work()
    assert str(raised.value) == (
        f"cannot make products on the buffer: {tmp_path}/buffer/storm-1/out "
        "(No such file or directory)"
    )
