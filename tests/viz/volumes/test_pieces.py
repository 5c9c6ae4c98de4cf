"""Volumes in pieces: read back by VTK's own readers, they are the same as in one file."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import pickle
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burstlens.core.errors import FrameError, RecipeError, StagingError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.kinds.vtk import hdf_file as hdf_file  # h5py starts a process at its import
from burstlens.viz.kinds.vtk import pieces
from burstlens.viz.kinds.vtk.draw import draw_slabs
from burstlens.viz.kinds.vtk.kind import VtkKind
from burstlens.viz.kinds.vtk.options import VtkOptions, WindVector
from burstlens.viz.kinds.vtk.pieces import split_of
from burstlens.viz.kinds.vtk.read import Box
from burstlens.viz.kinds.vtk.split import Part
from burstlens.viz.kinds.vtk.volume import Volume
from burstlens.viz.product import Context, Made

KIND = VtkKind()


def read_back(out: Path) -> Any:
    """The data set as VTK's own reader gives it."""
    if out.suffix == ".vtkhdf":
        vtk_hdf = pytest.importorskip("vtkmodules.vtkIOHDF")
        reader = vtk_hdf.vtkHDFReader()
    else:
        from vtkmodules.vtkIOXML import vtkXMLGenericDataObjectReader

        reader = vtkXMLGenericDataObjectReader()
    reader.SetFileName(str(out))
    reader.Update()
    assert reader.GetErrorCode() == 0
    return reader.GetOutputDataObject(0)


def everything(data: Any) -> dict[str, Any]:
    """Kind, extent, coordinates, arrays and field data of a data set, bit for bit."""
    from vtkmodules.util.numpy_support import vtk_to_numpy

    held: dict[str, Any] = {"kind": data.GetClassName(), "extent": data.GetExtent()}
    if held["kind"] == "vtkImageData":
        held |= {"origin": data.GetOrigin(), "spacing": data.GetSpacing()}
        coordinates = []
    elif held["kind"] == "vtkRectilinearGrid":
        coordinates = [data.GetXCoordinates(), data.GetYCoordinates(), data.GetZCoordinates()]
    else:
        coordinates = [data.GetPoints().GetData()]
    for n, part in enumerate(coordinates):
        values = vtk_to_numpy(part)
        held[f"coordinate {n}"] = (values.dtype, values.shape, values.tobytes())
    for n in range(data.GetPointData().GetNumberOfArrays()):
        part = data.GetPointData().GetArray(n)
        values = vtk_to_numpy(part)
        held[part.GetName()] = (values.dtype, values.shape, values.tobytes())
    for n in range(data.GetFieldData().GetNumberOfArrays()):
        part = data.GetFieldData().GetAbstractArray(n)
        held[f"field {part.GetName()}"] = part.GetValue(0)
    return held


def make_pieces(
    options: VtkOptions, paths: list[Path], context: Context, folder: Path, count: int
) -> tuple[list[Made], list[str]]:
    """The pieces in the folder, each from the frame opened anew."""
    folder.mkdir(exist_ok=True)
    made, names = [], []
    for number in range(count):
        with open_frame(paths, stream=context.stream) as frame:
            out = folder / f"out{number}"
            one = KIND.make_piece(options, frame, out, context, number, count)
        # Through JSON, as the journal keeps the facts.
        made.append(Made(one.extension, json.loads(json.dumps(one.facts, allow_nan=False))))
        names.append(f"core.{number}.{one.extension}")
        out.rename(folder / names[-1])
    return made, names


def both(
    options: VtkOptions, path: Path | list[Path], context: Context, tmp_path: Path, count: int
) -> tuple[tuple[Any, Made], tuple[Any, Made]]:
    """The volume in one file and as the table of its pieces: what VTK reads, and the facts."""
    paths = path if isinstance(path, list) else [path]
    folder = tmp_path / "pieces"
    made, names = make_pieces(options, paths, context, folder, count)
    joined = KIND.join(options, made, folder / "table", context, names)
    assert joined.extension in KIND.extensions(options)
    table = (folder / "table").rename(folder / f"core.{joined.extension}")
    with open_frame(paths, stream=context.stream) as frame:
        whole = KIND.make(options, frame, tmp_path / "whole", context)
    one = (tmp_path / "whole").rename(tmp_path / f"whole.{whole.extension}")
    return (everything(read_back(one)), whole), (everything(read_back(table)), joined)


def same(one: tuple[Any, Made], table: tuple[Any, Made]) -> None:
    assert table[0].keys() == one[0].keys()
    assert [key for key in one[0] if table[0][key] != one[0][key]] == []
    assert table[1].facts == one[1].facts


HALF = Crop(index={"west_east": (4, 30), "bottom_top": (2, 20)}, stride={"south_north": 3})
WRF = {
    "terrain": VtkOptions(("T", "QVAPOR")),
    "staggered": VtkOptions(("U", "V", "W")),
    "crop and stride": VtkOptions(("U", "V", "W", "vorticity"), HALF),
    "derived": VtkOptions(("vorticity", "temperature", "reflectivity", "U + V [m s-1]")),
    "wind": VtkOptions(("T",), wind=WindVector(), exaggeration=3, units={"T": "degC"}),
    "soil": VtkOptions(("TSLB",)),
    "section": VtkOptions(("U", "W"), Crop(index={"south_north": 7})),
    "wind alone": VtkOptions(wind=WindVector()),
}


@pytest.mark.parametrize("layout", ["raw", "zlib", "vtkhdf"])
@pytest.mark.parametrize("name", WRF)
def test_pieces_are_the_whole_bit_for_bit(
    name: str, layout: str, supercell: Path, context: Context, tmp_path: Path
):
    options = WRF[name]
    if layout == "zlib":
        options = dataclasses.replace(options, compress=True)
    elif layout == "vtkhdf":
        options = dataclasses.replace(options, format="vtkhdf")
    same(*both(options, supercell, context, tmp_path, 3))


@pytest.mark.parametrize("coordinates", ["projection", "lonlat", "sphere"])
def test_pieces_lie_where_the_whole_lies(
    coordinates: Any, cyclone: Path, context: Context, tmp_path: Path
):
    options = VtkOptions(("temperature",), coordinates=coordinates, wind=WindVector())
    same(*both(options, cyclone, context, tmp_path, 4))


def test_a_surface_is_split_as_well(cyclone: Path, context: Context, tmp_path: Path):
    same(*both(VtkOptions(("slp", "T2"), surface="HGT"), cyclone, context, tmp_path, 2))


def test_pieces_of_tiles_are_the_whole(tiles: list[Path], context: Context, tmp_path: Path):
    same(*both(VtkOptions(("V", "T", "V + T [m s-1]")), tiles, context, tmp_path, 3))


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("axes", [
    {}, {"depth": True}, {"y": np.arange(6)[::-1] * 50.0}, {"z": [0, 10, 30, 70, 150]},
    {"z": [0, 10, 30, 70, 150], "y": np.arange(6)[::-1] * 50.0},
])  # fmt: skip
@pytest.mark.parametrize("count", [2, 5])
def test_straight_grids_are_split_whichever_way_they_run(
    count: int, axes: Any, compress: bool, cf_volume: Callable[..., Path], context: Context,
    tmp_path: Path,
):  # fmt: skip
    same(*both(VtkOptions(("vx", "vy"), compress=compress), cf_volume(**axes), context, tmp_path,
               count))  # fmt: skip


@pytest.mark.parametrize("options", [VtkOptions(("vx",)), VtkOptions(("vx",), format="vtkhdf")])
def test_values_that_are_missing_are_counted_once(
    options: VtkOptions, cf_volume: Callable[..., Path], context: Context, tmp_path: Path
):
    path = cf_volume()
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        data["vx"][0, :, 2:4] = np.nan  # the whole of a piece, and the points that it shares
        data["vx"][0, 1, 0, 0] = np.inf
    one, table = both(options, path, context, tmp_path, 3)
    same(one, table)
    assert table[1].facts["variables"]["vx"]["nan"] == 5 * 2 * 7 + 1


def test_a_variable_without_any_value_fails_as_a_whole(
    cf_volume: Callable[..., Path], context: Context, tmp_path: Path
):
    path = cf_volume()
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        data["vx"][:] = np.nan
    options = VtkOptions(("vx",))
    made, names = make_pieces(options, [path], context, tmp_path, 2)
    with pytest.raises(FrameError, match="vx: all values are NaN"):
        KIND.join(options, made, tmp_path / "table", context, names)
    assert not (tmp_path / "table").exists()


@pytest.fixture
def chunked(tmp_path: Path) -> Callable[..., Path]:
    """Writes a compressed CF volume of 12 x 40 x 30 points in chunks of that shape."""

    def write(chunks: tuple[int, int, int]) -> Path:
        path, shape = tmp_path / "chunked.nc", (12, 40, 30)
        with netCDF4.Dataset(os.fspath(path), "w") as data:
            for axis, size in zip("zyx", shape, strict=True):
                data.createDimension(axis, size)
                data.createVariable(axis, "f4", (axis,))[:] = np.arange(size)
                data[axis].setncatts({"units": "m", "axis": axis.upper()})
            variable = data.createVariable("v", "f4", tuple("zyx"), zlib=True, chunksizes=chunks)
            variable[:] = np.random.default_rng(2).normal(size=shape)
        return path

    return write


@pytest.mark.parametrize(("chunks", "firsts"), [
    ((12, 10, 30), [(0, 0, 0), (0, 20, 0)]),
    ((12, 16, 30), [(0, 0, 0), (0, 16, 0)]),
    ((1, 40, 30), [(0, 0, 0), (6, 0, 0)]),
    ((12, 40, 10), [(0, 0, 0), (0, 0, 10)]),
    ((12, 40, 30), [(0, 0, 0), (0, 20, 0)]),
])  # fmt: skip
def test_pieces_begin_where_compressed_chunks_do(
    chunks: Any, firsts: Any, chunked: Callable[..., Path], context: Context, tmp_path: Path
):
    options, path = VtkOptions(("v",), format="vtkhdf"), chunked(chunks)
    made, _ = make_pieces(options, [path], context, tmp_path, 2)
    assert [tuple(one.facts["piece"]["first"]) for one in made] == firsts
    same(*both(options, path, context, tmp_path, 2))


def test_a_stride_keeps_pieces_at_the_chunks_of_the_file(
    chunked: Callable[..., Path], context: Context, tmp_path: Path
):
    options = VtkOptions(("v",), Crop(index={"y": (3, 40)}, stride=4), format="vtkhdf")
    made, _ = make_pieces(options, [chunked((12, 10, 30))], context, tmp_path, 4)
    # Rows 3, 7 | 11, 15, 19 | 23, 27 | 31, 35, 39.
    assert [one.facts["piece"]["first"][1] for one in made] == [0, 2, 5, 7]


def test_what_fits_the_memory_is_one_file(supercell: Path):
    with open_frame([supercell]) as frame:
        assert KIND.pieces(VtkOptions(("T", "W"), wind=WindVector()), frame) == 1


@pytest.mark.parametrize("layout", [{}, {"format": "vtkhdf"}])
def test_less_memory_makes_more_pieces(supercell: Path, layout: Any):
    options = VtkOptions(("T", "W"), compress=True, **layout)
    with open_frame([supercell]) as frame:
        counts = [KIND.pieces(options, frame, n) for n in (3_500_000, 2_500_000, 1_700_000)]
    assert 1 < counts[0] < counts[1] < counts[2] < 41


@pytest.mark.parametrize(("layout", "counts"), [("xml", (1, 1, 2, 4)), ("vtkhdf", (1, 2, 4, 8))])
def test_no_more_pieces_than_spare_inflating_chunks_again(
    layout: Any, counts: Any, chunked: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pieces, "PIECE", 1 << 14)
    options = VtkOptions(("v",), format=layout, grid="curvilinear")
    for rows, count in zip((40, 20, 10, 5), counts, strict=True):
        with open_frame([chunked((12, rows, 30))]) as frame:
            assert KIND.pieces(options, frame, 1 << 16) == count


def test_memory_for_no_piece_at_all_is_refused_with_what_to_do(supercell: Path):
    with (
        open_frame([supercell]) as frame,
        pytest.raises(RecipeError, match=r"smallest piece .* needs \d+ MiB .* crop or stride"),
    ):
        KIND.pieces(VtkOptions(("T",), compress=True), frame, 10_000)


def test_pieces_that_are_written_in_slabs_are_large_enough_to_be_worth_a_task(
    supercell: Path, monkeypatch: pytest.MonkeyPatch
):
    with open_frame([supercell]) as frame:
        assert KIND.pieces(VtkOptions(("T",)), frame, 1 << 20) == 1
        monkeypatch.setattr(pieces, "PIECE", 1 << 18)
        # 40 x 41 x 41 points of 16 bytes, in two layers of chunks.
        options = VtkOptions(("T",), format="vtkhdf")
        assert KIND.pieces(options, frame, 1 << 10) == 2
        assert KIND.pieces(options, frame, 1 << 23) == 1


def test_a_product_that_goes_from_frame_to_frame_is_not_split(katrina: Path):
    with open_frame([katrina]) as frame:
        assert KIND.pieces(VtkOptions(("rain_rate",)), frame, 1) == 1


@pytest.mark.parametrize("layout", ["xml", "vtkhdf"])
@pytest.mark.parametrize("name", WRF)
def test_a_file_written_in_slabs_has_the_same_bytes(
    name: str, layout: Any, supercell: Path, context: Context, tmp_path: Path
):
    options = dataclasses.replace(WRF[name], format=layout)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    with open_frame([supercell], stream=context.stream) as frame:
        made = KIND.make(options, frame, whole, context)
        box = KIND.box(options, frame)
        split = split_of(box, shared=False)
        whole_box = split.whole()
        slabs = split.slabs(whole_box, 4, 4)
        assert draw_slabs(box, whole_box, slabs, options, parts, context, frame.start)[0] == made
    assert parts.read_bytes() == whole.read_bytes()


def test_a_large_volume_is_written_in_slabs(
    supercell: Path, context: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    read: list[object] = []
    of_box = Box.read

    def counted(box: Box, part: Part | None = None) -> Volume:
        read.append(part)
        return of_box(box, part)

    monkeypatch.setattr(Box, "read", counted)
    monkeypatch.setattr(pieces, "SLAB", 1 << 20)
    with open_frame([supercell], stream=context.stream) as frame:
        KIND.make(VtkOptions(("T",)), frame, tmp_path / "parts", context)
    assert len(read) > 3
    assert None not in read


def test_a_variable_without_any_value_leaves_no_file_of_parts(
    cf_volume: Callable[..., Path], context: Context, tmp_path: Path
):
    path = cf_volume()
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        data["vx"][:] = np.nan
    with open_frame([path]) as frame:
        box = KIND.box(VtkOptions(("vx",)), frame)
        whole = box.whole()
        slabs = split_of(box, shared=False).slabs(whole, 2, 2)
        with pytest.raises(FrameError, match="vx: all values are NaN"):
            draw_slabs(box, whole, slabs, VtkOptions(("vx",)), tmp_path / "out", context, None)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "layout",
    [{}, {"compress": True}, {"format": "vtkhdf"}, {"format": "vtkhdf", "compress": True}],
)
def test_a_full_disk_leaves_no_part_of_a_piece(
    layout: Any, supercell: Path, context: Context, tmp_path: Path
):
    out, soft_hard = tmp_path / "piece", resource.getrlimit(resource.RLIMIT_FSIZE)
    with open_frame([supercell]) as frame:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, soft_hard[1]))
        try:
            with pytest.raises(StagingError) as raised:
                KIND.make_piece(VtkOptions(("T",), **layout), frame, out, context, 1, 3)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, soft_hard)
    assert raised.value.errno in (errno.EFBIG, errno.ENOSPC)
    assert not out.exists()


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


_PEAK = """
import sys
from pathlib import Path
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.kinds.vtk import draw, hdf_file, kind, options, pieces, read, table, zlib_file
from burstlens.viz.product import Context

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

frame, out, layout, memory = sys.argv[1], Path(sys.argv[2]), eval(sys.argv[3]), int(sys.argv[4])
of, wanted = kind.VtkKind(), options.VtkOptions(("vx", "vy"), **layout)
context = Context("r", "r", "w", "d01", "t00000001.500", out)
before = peak()
with open_frame([frame]) as reader:
    count = of.pieces(wanted, reader, memory)
    of.make_piece(wanted, reader, out, context, count - 1, count)
print(count, peak() - before)
"""


@pytest.mark.integration
@pytest.mark.parametrize("layout", [{"grid": "curvilinear"}, {"compress": True},
                                    {"format": "vtkhdf"},
                                    {"format": "vtkhdf", "compress": True}])  # fmt: skip
def test_a_piece_takes_no_more_memory_than_it_may(
    layout: dict[str, Any], cf_volume: Callable[..., Path], tmp_path: Path
):
    frame = cf_volume(x=np.arange(250.0), y=np.arange(250.0), z=np.arange(120.0))
    memory = 256 << 20
    argv = [sys.executable, "-c", _PEAK, frame, tmp_path / "piece", repr(layout), str(memory)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    count, peak = map(int, done.stdout.split())
    assert count > 1
    # Memory that one array has given back is not always used by the next one.
    assert peak < 1.1 * memory
