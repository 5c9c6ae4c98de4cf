"""A file in memory is one like any other, and takes no room for what is not written."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from burstlens.viz.kinds.vtk.hdf_file import write_vtkhdf_parts
from burstlens.viz.kinds.vtk.image import Image
from burstlens.viz.kinds.vtk.xml_file import Curvilinear

steps = st.lists(
    st.one_of(
        st.tuples(st.just("seek"), st.integers(0, 20_000)),
        st.tuples(st.just("write"), st.binary(max_size=9000)),
        st.tuples(st.just("read"), st.integers(0, 9000)),
    )
)


@settings(deadline=None)
@given(steps)
def test_it_reads_and_writes_as_a_file_does(steps: list[tuple[str, object]]):
    image, file = Image(), io.BytesIO()
    for name, value in steps:
        of_image, of_file = (getattr(one, name)(value) for one in (image, file))
        assert of_image == of_file
        assert image.tell() == file.tell()
    size = file.seek(0, io.SEEK_END)
    assert image.seek(0, io.SEEK_END) == size


@settings(deadline=None)
@given(steps)
def test_its_copy_is_the_same_file(tmp_path_factory, steps: list[tuple[str, object]]):
    image, file = Image(), io.BytesIO()
    for name, value in steps:
        getattr(image, name)(value)
        getattr(file, name)(value)
    out = tmp_path_factory.getbasetemp() / "copy"
    with out.open("wb", buffering=0) as copy:
        image.copy(copy)
    assert out.read_bytes() == file.getvalue()


def test_a_file_in_parts_takes_no_memory_for_the_whole(tmp_path: Path):
    points = np.zeros((1, 500, 500, 3))
    shape = (40, 500, 500)

    def parts():
        for level in range(shape[0]):
            yield Curvilinear(points + level), {"v": points[..., 0]}, (level, 0, 0)

    tracemalloc.start()
    try:
        write_vtkhdf_parts(tmp_path / "out", shape, parts(), fields={"TimeValue": 1.0})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (tmp_path / "out").stat().st_size > 8 * 4 * 40 * 500 * 500
    assert peak < 6 * points.nbytes
