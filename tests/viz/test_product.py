"""The contract that every product kind keeps, and the registry."""

from __future__ import annotations

import json
import pickle
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from pydantic import TypeAdapter, ValidationError

from burstlens.core.errors import BurstlensError, FrameError, RecipeError, StagingError
from burstlens.core.toml.table import adapter
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.kinds.base import ProductKind
from burstlens.viz.product import Context, Made, Wants
from burstlens.viz.registry import product_kind, product_kinds

pytestmark = pytest.mark.integration

CASES: dict[str, dict[str, Any]] = {
    "map": {"variable": "W", "level": 12},
    "vtk": {"variables": ["W", "U", "T"]},
    "netcdf": {"variables": ["W", "T"]},
    "python": {"function": "plots.py:table", "extension": "txt"},
    "command": {
        "command": ["python", "dump.py", "{frame}", "{out}"],
        "files": ["dump.py"],
        "extension": "txt",
    },
}
READS_VARIABLES = ("map", "vtk", "netcdf")

PLOTS = """
def table(frame, out):
    out.write_text("\\n".join(str(value) for value in frame.read("W")[12].ravel()))
"""
DUMP = """
import sys
open(sys.argv[2], "wb").write(open(sys.argv[1], "rb").read(60000))
"""


def options_of(name: str, **changes: Any) -> Any:
    table = CASES[name] | changes
    return TypeAdapter(product_kind(name).options).validate_python(table)


@pytest.fixture
def context(context: Context) -> Context:
    (context.files / "plots.py").write_text(PLOTS)
    (context.files / "dump.py").write_text(DUMP)
    return context


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("name", CASES)
class TestContract:
    def make(self, name: str, path: Path, out: Path, context: Context, **changes: Any) -> Made:
        with open_frame([path], stream=context.stream, time=context.time) as frame:
            return product_kind(name).make(options_of(name, **changes), frame, out, context)

    def test_writes_one_whole_file_at_the_path_it_was_given(
        self, name: str, supercell: Path, tmp_path: Path, context: Context
    ):
        folder = tmp_path / "out"
        folder.mkdir()
        made = self.make(name, supercell, folder / "w.d01.7f3a", context)
        assert [path.name for path in folder.iterdir()] == ["w.d01.7f3a"]
        assert (folder / "w.d01.7f3a").stat().st_size > 1000
        assert made.extension in product_kind(name).extensions(options_of(name))

    def test_facts_are_json(self, name: str, supercell: Path, tmp_path: Path, context: Context):
        made = self.make(name, supercell, tmp_path / "out", context)
        assert json.loads(json.dumps(made.facts, allow_nan=False)) == made.facts

    def test_the_same_frame_gives_the_same_bytes(
        self, name: str, supercell: Path, tmp_path: Path, context: Context
    ):
        # HDF5 writes the time of day into its object headers, the classic format does not.
        changes = {"format": "classic"} if name == "netcdf" else {}
        for out in ("first", "second"):
            self.make(name, supercell, tmp_path / out, context, **changes)
        assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()

    def test_leaves_the_model_file_as_it_is(
        self, name: str, supercell: Path, tmp_path: Path, context: Context
    ):
        before = supercell.read_bytes(), supercell.stat().st_mtime_ns
        self.make(name, supercell, tmp_path / "out", context)
        assert (supercell.read_bytes(), supercell.stat().st_mtime_ns) == before

    def test_a_full_disk_raises_and_leaves_no_half_file(
        self, name: str, supercell: Path, tmp_path: Path, context: Context
    ):
        folder = tmp_path / "full"
        folder.mkdir()
        with (
            file_size_limit(8192),
            pytest.raises(BurstlensError) as caught,
        ):
            self.make(name, supercell, folder / "out", context)
        assert list(folder.iterdir()) == []
        if name in READS_VARIABLES:
            assert isinstance(caught.value, StagingError)
            assert caught.value.errno

    def test_kind_and_options_travel_to_a_worker(self, name: str):
        options = options_of(name)
        assert pickle.loads(pickle.dumps(options)) == options
        assert pickle.loads(pickle.dumps(product_kind(name))).name == name

    def test_an_unknown_option_is_refused(self, name: str):
        with pytest.raises(ValidationError, match="colour"):
            options_of(name, colour="red")

    def test_every_option_is_described_in_the_schema(self, name: str):
        cls = product_kind(name).options
        properties = adapter(cls, described=True).json_schema()["properties"]
        for field in fields(cls):
            assert len(properties[field.name].get("description", "")) > 10, field.name

    def test_limits_are_given_for_the_series_only_by_kinds_that_widen(
        self, name: str, supercell: Path, tmp_path: Path, context: Context
    ):
        made = self.make(name, supercell, tmp_path / "out", context)
        assert (made.limits is not None) == product_kind(name).widens(options_of(name))


@pytest.mark.parametrize("name", READS_VARIABLES)
class TestDamagedFrames:
    def make(self, name: str, path: Path, context: Context, **changes: Any) -> None:
        out = context.files.parent / "out"
        try:
            with open_frame([path], stream=context.stream, time=context.time) as frame:
                product_kind(name).make(options_of(name, **changes), frame, out, context)
        finally:
            assert not out.exists()

    def test_a_missing_variable_is_named_with_near_names(
        self, name: str, supercell: Path, context: Context
    ):
        key = "variable" if name == "map" else "variables"
        with pytest.raises(FrameError, match=r"no variable 'QRAINE'; did you mean QRAIN"):
            self.make(name, supercell, context, **{key: "QRAINE" if name == "map" else ["QRAINE"]})

    def test_a_crop_outside_names_the_domain(self, name: str, supercell: Path, context: Context):
        with pytest.raises(FrameError, match=r"outside of the domain.*x 1000 to 81000"):
            self.make(name, supercell, context, crop={"range": {"x": (200e3, 300e3)}})
        with pytest.raises(FrameError, match=r"west_east = \(10, 90\) is outside of 0 to 40"):
            self.make(name, supercell, context, crop={"index": {"west_east": (10, 90)}})

    def test_a_truncated_file_is_reported(
        self, name: str, supercell: Path, tmp_path: Path, context: Context
    ):
        cut = tmp_path / "wrfout_cut"
        cut.write_bytes(supercell.read_bytes()[:900_000])
        with pytest.raises(FrameError, match="wrfout_cut cannot be read"):
            self.make(name, cut, context)

    def test_a_field_of_only_nan_is_reported(
        self, name: str, supercell: Path, tmp_path: Path, context: Context, copy_with: Any
    ):
        import numpy as np

        empty = tmp_path / "wrfout_nan"
        kept = ["Times", "W", "T", "PH", "PHB"]
        copy_with(supercell, empty, kept, W=np.full((1, 41, 41, 41), np.nan, "f4"))
        variables = {"variable": "W"} if name == "map" else {"variables": ["W"]}
        with pytest.raises(FrameError, match="W: all values are NaN"):
            self.make(name, empty, context, **variables)


def test_the_registry_loads_on_a_login_node_without_the_heavy_packages():
    code = (
        "import sys; from burstlens.viz.registry import product_kinds; product_kinds();"
        "from burstlens.viz.kinds.vtk import pvd;"
        "print([m for m in ('numpy', 'netCDF4', 'matplotlib', 'vtkmodules', 'h5py')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_preloading_a_kind_imports_all_that_its_products_need():
    code = (
        "import sys; from burstlens.viz.registry import product_kinds;"
        "[kind.preload() for kind in product_kinds().values()];"
        "print([m for m in ('netCDF4', 'matplotlib.figure', 'cmocean',"
        " 'burstlens.viz.kinds.vtk.read', 'burstlens.viz.kinds.netcdf.draw')"
        " if m not in sys.modules], 'vtkmodules' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] False"


def test_an_unknown_kind_is_named_with_near_names():
    with pytest.raises(RecipeError, match=r"no product kind 'maps'; did you mean map\?"):
        product_kind("maps")


class _Plugin(ProductKind[SimpleNamespace]):
    name = "histogram"
    options = SimpleNamespace

    def make(self, *given: Any) -> Made:
        return Made("png")


class _PluginOf02:
    """What the protocol of 0.2 asked for, and no more."""

    name: ClassVar[str] = "histogram"
    options: ClassVar[type[Any]] = SimpleNamespace

    extensions = ships = widens = make = lambda self, *_: ()


def _points(**loaders: Any) -> Any:
    def load(value: Any) -> Any:
        if isinstance(value, Exception):
            raise value
        return value

    return lambda group: [
        SimpleNamespace(name=name, load=lambda value=value: load(value))
        for name, value in loaders.items()
    ]


def test_a_plugin_joins_the_built_in_kinds(monkeypatch: pytest.MonkeyPatch):
    built_in = set(product_kinds())
    assert {"map", "vtk", "netcdf", "track", "python", "command"} <= built_in
    monkeypatch.setattr("burstlens.core.plugins.points", _points(histogram=_Plugin))
    assert set(product_kinds()) == built_in | {"histogram"}


def test_a_plugin_of_02_joins_them_with_a_warning(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("burstlens.core.plugins.points", _points(histogram=_PluginOf02))
    derive = r"_PluginOf02 has to derive from burstlens\.viz\.kinds\.base\.ProductKind from 0\.4 on"
    with pytest.warns(DeprecationWarning, match=derive):
        kind = product_kinds()["histogram"]
    assert isinstance(kind, ProductKind)
    assert (kind.wants(None), kind.runs(None), kind.pieces(None, None, 0)) == (Wants(), "", 1)


def test_a_kind_of_small_products_has_no_pieces():
    kind = _Plugin()
    with pytest.raises(NotImplementedError, match="products of the kind histogram have no pieces"):
        kind.make_piece(None, None, Path("p.png"), None, 0, 2)
    with pytest.raises(NotImplementedError, match="products of the kind histogram have no pieces"):
        kind.join(None, [], Path("p.png"), None, [])


def test_a_broken_plugin_warns_and_the_others_stay(monkeypatch: pytest.MonkeyPatch):
    thief = type("Thief", (_Plugin,), {"name": "map"})
    nameless = type("Nameless", (ProductKind,), {"make": _Plugin.make})
    broken = {"broken": ImportError("no tulip"), "nameless": nameless}
    points = _points(**broken, thief=thief, good=_Plugin, other=object)
    monkeypatch.setattr("burstlens.core.plugins.points", points)
    with pytest.warns(UserWarning, match="is left out") as warned:
        kinds = product_kinds()
    said = " / ".join(str(warning.message) for warning in warned)
    assert "'broken' is left out: no tulip" in said
    assert "'thief' is left out: it takes the name 'map'" in said
    assert "'other' is left out: it is not a product kind" in said
    assert "'nameless' is left out: it is not a product kind" in said
    assert "histogram" in kinds
    assert type(kinds["map"]).__name__ == "MapKind"
