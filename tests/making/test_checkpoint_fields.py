"""Which checkpoints have fields that are not finite, by real files."""

from __future__ import annotations

import tracemalloc

import h5py
import netCDF4
import numpy as np
import pytest

from burstlens.workflows.making import checkpoint_fields
from burstlens.workflows.making.checkpoint_fields import fields_fault, judge_checkpoint, slabs
from burstlens.workflows.models.command import Command
from burstlens.workflows.models.wrf import Wrf
from burstlens.workflows.placement.buffer import BufferRef

FORMATS = ["NETCDF4", "NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"]
MODEL = Command(argv=("./model.sh",), frames="out_*.nc")


def write(path, fields, form="NETCDF4", **attributes):
    """A file with these fields on (z, y), and attributes of each of them."""
    with netCDF4.Dataset(path, "w", format=form) as data:
        data.createDimension("z", 6)
        data.createDimension("y", 5)
        for name, values in fields.items():
            variable = data.createVariable(name, values.dtype, ("z", "y"))
            for key, value in attributes.items():
                variable.setncattr(key, value)
            variable.set_auto_maskandscale(False)
            variable[:] = values
    return path


def field(value: float | None = None) -> np.ndarray:
    values = np.arange(30, dtype=np.float32).reshape(6, 5)
    if value is not None:
        values[4, 3] = value
    return values


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("slab", [1, 40, 64 << 20])
def test_the_first_bad_value_of_a_field_is_named_with_its_place(tmp_path, monkeypatch, form, slab):
    monkeypatch.setattr(checkpoint_fields.slabs, "__defaults__", (slab,))
    path = write(tmp_path / "rst.nc", {"u": field(), "T": field(np.nan)}, form)
    assert fields_fault(path) == "T is nan at z 4, y 3"
    assert fields_fault(path, ["u"]) == ""


@pytest.mark.parametrize("missing", ["_FillValue", "missing_value"])
def test_missing_values_are_not_bad(tmp_path, missing):
    nan = np.float32("nan")
    path = tmp_path / "rst.nc"
    with netCDF4.Dataset(path, "w") as data:
        data.createDimension("z", 6)
        data.createDimension("y", 5)
        fill = nan if missing == "_FillValue" else None
        variable = data.createVariable("T", "f4", ("z", "y"), fill_value=fill)
        if fill is None:
            variable.missing_value = nan
        variable[:] = field(np.nan)
    assert fields_fault(path) == ""
    with netCDF4.Dataset(path, "a") as data:
        data["T"].set_auto_maskandscale(False)
        data["T"][5, 0] = np.inf
    assert fields_fault(path) == "T is inf at z 5, y 0"


def test_a_file_without_any_of_the_fields_is_no_checkpoint(tmp_path):
    path = write(tmp_path / "wrfrst", {"SCRATCH": field()})
    assert fields_fault(path, ["U_1", "U_2"]) == "it has none of the fields U_1, U_2"
    assert fields_fault(path) == ""


def test_fields_of_groups_and_of_plain_hdf5_are_read(tmp_path):
    path = tmp_path / "rst.h5"
    with h5py.File(path, "w") as data:
        data.create_group("state")["p"] = field(np.inf)
    assert fields_fault(path).startswith("p is inf at ")


def test_wrf_is_judged_by_its_prognostic_fields_alone(tmp_path):
    model = Wrf()
    path = write(tmp_path / "wrfrst", {"THM_2": field(), "SCRATCH": field(np.nan)})
    assert fields_fault(path, model.checkpoint_fields) == ""
    path = write(tmp_path / "wrfrst", {"THM_2": field(np.nan)})
    assert fields_fault(path, model.checkpoint_fields) == "THM_2 is nan at z 4, y 3"


@pytest.fixture
def judge(tmp_path):
    """Judges files in the folder of attempt 1."""
    folder = tmp_path / "storm" / "1"
    folder.mkdir(parents=True)

    def call(**sizes):
        files = {path.name: sizes.get(path.stem) for path in sorted(folder.iterdir())}
        return judge_checkpoint(BufferRef("posix", str(tmp_path), "storm"), MODEL, "1", files)

    return folder, call


def test_each_file_of_a_checkpoint_is_read(judge):
    folder, call = judge
    write(folder / "a.nc", {"u": field()})
    write(folder / "b.nc", {"u": field()})
    assert call() == ""
    write(folder / "b.nc", {"u": field(np.nan)})
    assert call() == "b.nc: u is nan at z 4, y 3"


def test_a_file_of_another_size_than_when_it_was_whole_is_named(judge):
    folder, call = judge
    (folder / "a.bin").write_bytes(b"12345")
    assert call(a=5) == ""
    assert call(a=6) == "a.bin: it has 5 bytes instead of 6"


def test_of_other_formats_only_that_they_can_be_read_is_known(judge):
    folder, call = judge
    (folder / "a.bin").write_bytes(np.full(9, np.nan).tobytes())
    assert call() == ""
    (folder / "b.bin").symlink_to("nowhere")
    assert call() == "b.bin: it cannot be read: No such file or directory"


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_that_is_cut_is_suspect(judge, form):
    folder, call = judge
    path = write(folder / "a.nc", {"u": field()}, form)
    path.write_bytes(path.read_bytes()[:-40])
    assert call().startswith("a.nc: it cannot be read: ")


@pytest.mark.parametrize("shape", [(), (7,), (3, 4, 5), (2, 9), (0, 3), (5, 0)])
@pytest.mark.parametrize("most", [1, 8, 64, 1000])
def test_slabs_cover_an_array_once_and_are_bounded(shape, most):
    seen = np.zeros(shape)
    for part in slabs(shape, 8, most):
        assert seen[part].nbytes <= max(most, 8)
        seen[part] += 1
    assert (seen == 1).all()


def test_a_large_field_is_read_in_slabs_of_bounded_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint_fields.slabs, "__defaults__", (1 << 20,))
    path = tmp_path / "rst.nc"
    with netCDF4.Dataset(path, "w") as data:
        data.createDimension("z", 64)
        data.createDimension("y", 1 << 16)
        data.createVariable("T", "f4", ("z", "y"))[:] = 1.0
    tracemalloc.start()
    assert fields_fault(path) == ""
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 << 20
