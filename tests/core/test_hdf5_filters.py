"""Filters of HDF5: where plugins are looked for, and what is said of one that is missing."""

from __future__ import annotations

import os
from pathlib import Path

import netCDF4
import pytest

from burstlens.core.hdf5_filters import plugin_environment, sentence

OF_NETCDF4 = Path(netCDF4.__file__).with_name("plugins")


@pytest.mark.skipif(not OF_NETCDF4.is_dir(), reason="netCDF4 brings no plugins")
def test_plugins_of_netcdf4_are_found_behind_those_of_the_user():
    assert plugin_environment({}) == {"HDF5_PLUGIN_PATH": str(OF_NETCDF4)}
    given = {"HDF5_PLUGIN_PATH": "/opt/filters"}
    both = os.pathsep.join(["/opt/filters", str(OF_NETCDF4)])
    assert plugin_environment(given) == {"HDF5_PLUGIN_PATH": both}
    assert plugin_environment(plugin_environment(given)) == plugin_environment(given)


def test_a_user_who_wants_no_plugins_gets_none():
    assert plugin_environment({"HDF5_PLUGIN_PATH": "::"}) == {}


def test_plugins_of_hdf5plugin_are_found_where_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "hdf5plugin" / "plugins").mkdir(parents=True)
    (tmp_path / "hdf5plugin" / "__init__.py").write_text("raise ImportError('not needed')")
    monkeypatch.syspath_prepend(tmp_path)
    path = plugin_environment({})["HDF5_PLUGIN_PATH"]
    assert str(tmp_path / "hdf5plugin" / "plugins") in path.split(os.pathsep)


@pytest.mark.parametrize(
    ("number", "name", "remedy"),
    [
        (32004, "lz4", "pip install hdf5plugin"),
        (4, "szip", "built with szip"),
        (32000, "lzf", "HDF5_PLUGIN_PATH"),
        (40000, "without a known name", "HDF5_PLUGIN_PATH"),
    ],
)
def test_a_missing_filter_is_named_with_what_to_do(number: int, name: str, remedy: str):
    text = sentence("tas", number)
    assert text.startswith("tas is compressed by ")
    assert name in text
    assert f"HDF5 filter {number}" in text
    assert remedy in text
