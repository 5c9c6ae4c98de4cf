"""What a worker has made, on its way to the run: its values and their grid come with a picture."""

from __future__ import annotations

import pytest

from burstlens.core.errors import StagingError
from burstlens.core.model import Frame
from burstlens.viz.product import Made
from burstlens.workflows.making.staged import Files, stage
from burstlens.workflows.placement.buffer import BufferRef

NAME = "t2.d01.t00000001.000.0123"
FRAME = Frame("r", 1, "d01", "t00000001.000", ("r/1/out.nc",), 0, 0, 0.0, 0.0, "log")


@pytest.fixture
def files(tmp_path):
    found = Files.of(tmp_path, NAME, chained=False)
    found.product.write_bytes(b"picture")
    found.values.mkdir()
    (found.values / "grid-00ff.js").write_bytes(b"a whole grid")
    (found.values / "values.js").write_bytes(b"values")
    return found


def staged(tmp_path, files, run_dir):
    buffer = BufferRef("posix", str(tmp_path), "r")
    return stage(buffer, files, Made("png"), FRAME, run_dir.products, NAME, {})


def test_a_grid_comes_before_the_values_and_both_with_their_picture(tmp_path, files, run_dir):
    receipt = staged(tmp_path, files, run_dir)
    names = [part.name for part in receipt.values]
    assert names == ["live/grid-00ff.js", "t2/t2_d01_t00000001.000.values.js"]
    assert (run_dir.products / receipt.values[1].incoming).read_bytes() == b"values"


@pytest.mark.parametrize(("stands", "brought"), [(b"a whole grid", False), (b"a who", True)])
def test_a_grid_that_stands_whole_is_not_brought_again(tmp_path, files, run_dir, stands, brought):
    (run_dir.products / "live").mkdir(exist_ok=True)
    (run_dir.products / "live" / "grid-00ff.js").write_bytes(stands)
    receipt = staged(tmp_path, files, run_dir)
    assert ("live/grid-00ff.js" in {part.name for part in receipt.values}) == brought


def test_nothing_is_left_where_one_file_cannot_be_brought(tmp_path, files, run_dir):
    files.product.unlink()
    with pytest.raises((StagingError, OSError)):
        staged(tmp_path, files, run_dir)
    assert list(run_dir.incoming.iterdir()) == []
