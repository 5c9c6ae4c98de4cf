"""Plugins written for 0.2, when seams were protocols: they get the defaults of the base classes."""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from burstlens.core.plugins import complete

SOURCE = Path(__file__).parents[2] / "src"
SEAM = """\
from abc import ABC, abstractmethod

class Seam(ABC):
    name: str

    def advice(self):
        return ["none"]

    @property
    def mpi(self):
        return False

    @abstractmethod
    def make(self):
        ...
"""
PLUGINS = """\
from dataclasses import dataclass
from seam import Seam

@dataclass(frozen=True, slots=True)
class Old:
    size: int
    name = "old"

    def make(self):
        return self.size

class Own(Old):
    def advice(self):
        return ["more"]

class New(Seam):
    name = "new"

    def make(self):
        return 1

class Other:
    name = "other"
"""
DERIVE = r"plugins_of_02\.(Old|Own) has to derive from seam\.Seam from 0\.4 on"


@pytest.fixture
def plugins(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "seam.py").write_text(SEAM)
    (tmp_path / "plugins_of_02.py").write_text(PLUGINS)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("seam", "plugins_of_02"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("plugins_of_02")


def test_a_class_with_the_methods_of_a_seam_gets_its_defaults(plugins: Any):
    with pytest.warns(DeprecationWarning, match=DERIVE):
        complete(plugins.Old, plugins.Seam)
    old = plugins.Old(3)
    assert isinstance(old, plugins.Seam)
    assert (old.make(), old.advice(), old.mpi) == (3, ["none"], False)


def test_its_own_methods_stay(plugins: Any):
    with pytest.warns(DeprecationWarning, match=DERIVE):
        complete(plugins.Own, plugins.Seam)
    assert plugins.Own(3).advice() == ["more"]


@pytest.mark.parametrize("name", ["New", "Other"])
def test_a_class_that_derives_from_it_or_has_not_its_methods_stays_as_it_is(
    plugins: Any, name: str, recwarn: pytest.WarningsRecorder
):
    cls = getattr(plugins, name)
    before = dict(vars(cls))
    complete(cls, plugins.Seam)
    assert not recwarn.list
    assert dict(vars(cls)) == before
    assert issubclass(cls, plugins.Seam) == (name == "New")


@pytest.mark.integration
def test_an_object_has_the_defaults_in_the_process_that_it_is_sent_to(plugins: Any, tmp_path: Any):
    with pytest.warns(DeprecationWarning, match=DERIVE):
        complete(plugins.Old, plugins.Seam)
    code = (
        "import pickle, sys; old = pickle.load(sys.stdin.buffer);"
        "print(old.size, old.advice(), old == type(old)(3))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(plugins.Old(3)), check=True,
        capture_output=True, env={**os.environ, "PYTHONPATH": f"{tmp_path}:{SOURCE}"},
    )  # fmt: skip
    assert done.stdout.decode() == "3 ['none'] True\n"
