"""Functions and programs of the user that find no room for their product."""

from __future__ import annotations

import errno
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from burstlens.core.errors import StagingError
from burstlens.viz.kinds.command.options import CommandOptions
from burstlens.viz.kinds.netcdf.options import NetcdfOptions
from burstlens.viz.kinds.python.options import PythonOptions
from burstlens.viz.product import Context
from burstlens.workflows.making.order import Order, OrderResult
from burstlens.workflows.making.tasks import produce
from burstlens.workflows.placement.buffer import BufferRef

pytestmark = pytest.mark.integration

WRF = Path(__file__).parents[1] / "data" / "wrf" / "wrfout_d01_2005-08-28_12_00_00"
SIZE = 40 << 20
WRITERS = {
    "plain": "out.write_bytes(bytes(1 << 26))",
    "netCDF4": """\
import netCDF4, numpy
data = netCDF4.Dataset(out, "w")
data.createDimension("x", 1 << 23)
data.createVariable("a", "f8", ("x",))[:] = numpy.random.default_rng(1).random(1 << 23)
data.close()""",
    "h5py": """\
import h5py, numpy
with h5py.File(out, "w") as file:
    file["a"] = numpy.random.default_rng(1).random(1 << 23)""",
    "PIL": """\
from PIL import Image
import numpy
noise = numpy.random.default_rng(1).integers(0, 255, (4000, 4000, 3), numpy.uint8)
Image.fromarray(noise).save(out, format="bmp")""",
    "matplotlib": """\
from matplotlib import image
import numpy
noise = numpy.random.default_rng(1).integers(0, 255, (4000, 4000, 3), numpy.uint8)
image.imsave(out, noise, format="png", pil_kwargs={"compress_level": 1})""",
    "VTK": """\
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkIOXML import vtkXMLImageDataWriter
data = vtkImageData()
data.SetDimensions(200, 200, 200)
data.AllocateScalars(11, 1)
writer = vtkXMLImageDataWriter()
writer.SetFileName(str(out))
writer.SetInputData(data)
writer.SetCompressorTypeToNone()
writer.Write()""",
    "hidden": """\
try:
    out.write_bytes(bytes(1 << 26))
except OSError as error:
    raise ValueError("nothing written")""",
}


@pytest.fixture(params=[SIZE])
def small(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A buffer with a frame and so much room."""
    place = tmp_path / "buffer"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={request.param}", "tmpfs", place]
    done = subprocess.run(mount, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    (place / "storm-1" / "1").mkdir(parents=True)
    shutil.copy(WRF, place / "storm-1" / "1" / "frame.nc")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


@pytest.fixture
def make(small: Path, run_dir: Any, frame: Any) -> Any:
    """Makes the product of a function whose body is this, or of a program."""
    of = frame("20050828T120000", "d01", paths=("storm-1/1/frame.nc",), bytes=WRF.stat().st_size)
    context = Context("storm-1", "Any", "mine", "d01", "20050828T120000", run_dir.files)
    order = Order("", None, context, of, str(run_dir.products))
    buffer = BufferRef("posix", str(small), "storm-1")

    def function(body: str) -> OrderResult:
        lines = "\n    ".join(body.splitlines())
        (run_dir.files / "plots.py").write_text(f"def f(frame, out):\n    {lines}\n")
        return produce(buffer, replace(order, kind="python", options=PythonOptions("plots.py:f")))

    def program(code: str) -> OrderResult:
        (run_dir.files / "s.py").write_text(code)
        options = CommandOptions((sys.executable, "s.py", "{out}"), files=("s.py",))
        return produce(buffer, replace(order, kind="command", options=options))

    return function, program


@pytest.mark.parametrize("library", WRITERS)
def test_a_full_disk_is_tried_again_whatever_the_library_makes_of_it(
    make: Any, small: Path, library: str
) -> None:
    before = shutil.disk_usage(small).used
    with pytest.raises(StagingError) as raised:
        make[0](WRITERS[library])
    assert raised.value.errno == errno.ENOSPC
    # No library keeps the blocks of its file.
    assert shutil.disk_usage(small).used < before + (1 << 20)


def test_a_program_that_finds_the_disk_full_is_tried_again(make: Any) -> None:
    with pytest.raises(StagingError, match="No space left"):
        make[1]("import sys\nopen(sys.argv[1], 'wb').write(bytes(1 << 26))\n")


@pytest.mark.parametrize("form", ["netcdf4", "classic"])
def test_a_crop_that_finds_the_disk_full_is_tried_again(
    make: Any, small: Path, run_dir: Any, frame: Any, form: str
) -> None:
    (small / "ballast").write_bytes(bytes(shutil.disk_usage(small).free - (1 << 13)))
    of = frame("20050828T120000", "d01", paths=("storm-1/1/frame.nc",), bytes=WRF.stat().st_size)
    context = Context("storm-1", "Any", "crop", "d01", "20050828T120000", run_dir.files)
    options = NetcdfOptions(("U10", "V10", "T2", "PSFC"), format=form, compression=0)
    order = Order("netcdf", options, context, of, str(run_dir.products))
    with pytest.raises(StagingError) as raised:
        produce(BufferRef("posix", str(small), "storm-1"), order)
    assert raised.value.errno == errno.ENOSPC
    assert shutil.disk_usage(small).free >= 1 << 12  # nothing of it is left


@pytest.mark.parametrize("small", [1 << 28], indirect=True)
def test_a_mistake_of_the_function_is_a_failure_where_there_is_room(make: Any) -> None:
    failure = make[0]("raise ValueError('mine')").failure
    assert failure is not None
    assert "mine" in failure.reason


@pytest.mark.parametrize("small", [1 << 28], indirect=True)
def test_a_program_that_fails_where_there_is_room_is_a_failure(make: Any) -> None:
    failure = make[1]("raise SystemExit(3)").failure
    assert failure is not None
    assert "exit code 3" in failure.reason


def test_an_error_in_reading_the_frame_is_a_failure_on_a_full_disk_too(
    make: Any, small: Path
) -> None:
    body = "out.with_name('ballast').write_bytes(bytes(36 << 20))\nframe.read('NOTHERE')"
    failure = make[0](body).failure
    assert failure is not None
    assert "no variable 'NOTHERE'" in failure.reason


def test_an_unforeseen_error_of_a_full_disk_is_tried_again(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from burstlens.viz.kinds.python.kind import PythonKind

    def full(*_: object) -> None:
        raise OSError(errno.EDQUOT, "Disk quota exceeded", "/scratch")

    monkeypatch.setattr(PythonKind, "make", full)
    with pytest.raises(StagingError, match="quota") as raised:
        make[0]("pass")
    assert (raised.value.errno, raised.value.path) == (errno.EDQUOT, "/scratch")
