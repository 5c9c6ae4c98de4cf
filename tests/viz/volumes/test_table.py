"""The table of the pieces of a volume: what it needs, and what it refuses."""

from __future__ import annotations

import dataclasses
import errno
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pieces_case import KIND, everything, make_pieces, read_back

from burstlens.core.errors import FrameError, StagingError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.kinds.vtk import hdf_file
from burstlens.viz.kinds.vtk.options import VtkOptions
from burstlens.viz.product import Context, Made


@pytest.mark.parametrize("layout", ["xml", "vtkhdf"])
def test_a_full_disk_leaves_no_part_of_a_table(
    layout: Any, supercell: Path, context: Context, tmp_path: Path
):
    options = VtkOptions(("T",), format=layout)
    made, names = make_pieces(options, [supercell], context, tmp_path, 2)
    out = tmp_path / "table"
    out.symlink_to("/dev/full")
    with pytest.raises(StagingError) as raised:
        KIND.join(options, made, out, context, names)
    assert raised.value.errno == errno.ENOSPC
    assert not out.is_symlink()


class TestJoin:
    """Tables of pieces that do not belong together are refused, in words."""

    options = VtkOptions(("vx",))

    @pytest.fixture
    def pieces(
        self, cf_volume: Callable[..., Path], context: Context, tmp_path: Path
    ) -> tuple[list[Made], list[str]]:
        return make_pieces(self.options, [cf_volume()], context, tmp_path / "pieces", 3)

    def refused(self, made: list[Made], names: list[str], context: Context, words: str) -> None:
        out = context.files / "table"
        with pytest.raises(FrameError, match=words):
            KIND.join(self.options, made, out, context, names)
        assert not out.exists()

    def test_a_missing_piece(self, pieces: Any, context: Context):
        made, names = pieces
        self.refused(made[:2], names[:2], context, "of its 3 pieces, number 3 is missing")

    def test_no_piece_at_all(self, context: Context):
        self.refused([], [], context, "no pieces")

    def test_a_piece_without_its_name(self, pieces: Any, context: Context):
        made, names = pieces
        self.refused(made, names[:2], context, "3 pieces have 2 names")

    def test_a_piece_given_twice(self, pieces: Any, context: Context):
        made, names = pieces
        self.refused([*made[:2], made[1]], names, context, "core.2.vti and core.1.vti are the same")

    def test_a_piece_of_another_time(self, pieces: Any, context: Context):
        made, names = pieces
        later = dataclasses.replace(context, time="00010101T000900")
        self.refused(made, names, later, r"core.0.vti is not a piece of w at .*00:09.*00:08")

    def test_a_file_that_is_no_piece(self, pieces: Any, context: Context):
        made, names = pieces
        self.refused([*made[:2], Made("vti")], names, context, "core.2.vti is not a piece of w")

    def test_a_frame_that_changed_its_shape(
        self, pieces: Any, context: Context, cf_volume: Callable[..., Path], tmp_path: Path
    ):
        made, names = pieces
        other = cf_volume("other.nc", y=np.arange(9) * 50.0)
        later, _ = make_pieces(self.options, [other], context, tmp_path / "later", 3)
        self.refused([*made[:2], later[2]], names, context, "written anew.*make all of them again")

    def test_a_frame_that_became_too_small_for_its_pieces(
        self, context: Context, cf_volume: Callable[..., Path], tmp_path: Path
    ):
        path = cf_volume("small.nc", x=[0.0, 1.0], y=[0.0, 1.0], z=[0.0, 1.0])
        with (
            open_frame([path]) as frame,
            pytest.raises(FrameError, match="2 x 2 x 2 points cannot be cut into 3 pieces"),
        ):
            KIND.make_piece(self.options, frame, tmp_path / "piece", context, 0, 3)
        assert not (tmp_path / "piece").exists()


@pytest.mark.parametrize("layout", ["xml", "vtkhdf"])
def test_a_table_finds_pieces_of_any_name_wherever_the_run_lies(
    layout: Any, cf_volume: Callable[..., Path], context: Context, tmp_path: Path
):
    options, folder = VtkOptions(("vx",), format=layout), tmp_path / "run"
    made, names = make_pieces(options, [cf_volume()], context, folder, 2)
    strange = [f'a & "b" %{n} ü/{name}' for n, name in enumerate(names)]
    for name, other in zip(names, strange, strict=True):
        (folder / other).parent.mkdir()
        (folder / name).rename(folder / other)
    extension = KIND.join(options, made, folder / "table", context, strange).extension
    (folder / "table").rename(folder / f"table.{extension}")
    moved = shutil.move(folder, tmp_path / "moved")
    assert everything(read_back(Path(moved) / f"table.{extension}"))["extent"] == (0, 6, 0, 5, 0, 4)


def test_a_series_shows_volumes_in_pieces(
    cf_volume: Callable[..., Path], context: Context, tmp_path: Path
):
    reader = pytest.importorskip("vtkmodules.vtkIOHDF").vtkHDFReader()
    options, steps, wholes = VtkOptions(("vx",), format="vtkhdf"), [], []
    for number in range(2):
        path = cf_volume()
        with netCDF4.Dataset(os.fspath(path), "a") as data:
            data["vx"][:] += number
        folder = tmp_path / "products" / f"core{number}"
        folder.parent.mkdir(exist_ok=True)
        made, names = make_pieces(options, [path], context, folder, 2)
        joined = KIND.join(options, made, folder / "table.vtkhdf", context, names)
        layout = hdf_file.layout_of(joined.facts)
        assert layout is not None
        steps.append(hdf_file.Step(f"core{number}/table.vtkhdf", 60.0 * number, layout))
        wholes.append(everything(read_back(folder / "table.vtkhdf"))["vx"])
    hdf_file.write_series(tmp_path / "products" / "core.vtkhdf", steps)
    reader.SetFileName(str(tmp_path / "products" / "core.vtkhdf"))
    for number, whole in enumerate(wholes):
        reader.UpdateInformation()
        reader.SetStep(number)
        reader.Update()
        assert everything(reader.GetOutputDataObject(0))["vx"] == whole
    assert wholes[0] != wholes[1]


@pytest.mark.integration
def test_a_table_is_written_without_numpy(
    cf_volume: Callable[..., Path], context: Context, tmp_path: Path
):
    made, names = make_pieces(VtkOptions(("vx",)), [cf_volume()], context, tmp_path, 2)
    (tmp_path / "made").write_bytes(pickle.dumps((made, names, context)))
    code = (
        "import pickle, sys; from pathlib import Path; folder = Path(sys.argv[1]);"
        "from burstlens.viz.kinds.vtk.kind import VtkKind;"
        "from burstlens.viz.kinds.vtk.options import VtkOptions;"
        "made, names, context = pickle.loads((folder / 'made').read_bytes());"
        "VtkKind().join(VtkOptions(('vx',)), made, folder / 'table', context, names);"
        "sys.exit('numpy' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path], check=True)
    assert (tmp_path / "table").is_file()
