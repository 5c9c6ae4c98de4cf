"""Old public names: they work for a release, and say what they are called now."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import burstlens
from burstlens.cluster_configs.scheduler import BatchSite
from burstlens.core.renamed import METHODS, MODULES, NAMES


@pytest.mark.parametrize("old", sorted(MODULES))
def test_an_old_module_gives_what_the_new_ones_have(old):
    sys.modules.pop(old, None)
    with pytest.warns(DeprecationWarning, match=f"{old} is now burstlens.{MODULES[old][0]}"):
        module = import_module(old)
    for home in MODULES[old]:
        new = import_module(f"burstlens.{home}")
        own = [
            name
            for name, value in vars(new).items()
            if getattr(value, "__module__", "") == new.__name__
        ]
        assert own
        for name in own:
            assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match=f"module '{old}' has no attribute 'nothing'"):
        _ = module.nothing


@pytest.mark.parametrize(("module", "name"), sorted(NAMES))
def test_an_old_name_is_the_new_one(module, name):
    with pytest.warns(DeprecationWarning, match=f"{module}.{name} is now burstlens") as seen:
        found = getattr(import_module(module), name)
    assert seen[0].filename == __file__
    home, _, inner = NAMES[module, name].partition(":")
    assert found is getattr(import_module(f"burstlens.{home}"), inner)


def test_a_name_that_never_was_is_not_found():
    with pytest.raises(AttributeError, match="module 'burstlens' has no attribute 'nothing'"):
        _ = burstlens.nothing
    with pytest.raises(ModuleNotFoundError):
        import_module("burstlens.nothing")


@pytest.mark.integration
def test_the_line_of_the_user_is_named(tmp_path):
    (tmp_path / "own.py").write_text(
        "\nfrom burstlens.errors import FrameError\nprint(FrameError.__module__)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-W", "always", "own.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "burstlens.core.errors\n"
    assert (
        "own.py:2: DeprecationWarning: burstlens.errors is now burstlens.core.errors" in ran.stderr
    )


@pytest.mark.parametrize(("owner", "old"), sorted(METHODS))
def test_an_old_attribute_is_the_new_one(owner, old, run_dir):
    new = METHODS[owner, old]
    holder = {"RunDir": run_dir, "BatchSite": BatchSite()}[owner]
    with pytest.warns(DeprecationWarning, match=f"{owner}.{old} is now {owner}.{new}") as seen:
        found = getattr(holder, old)
    assert seen[0].filename == __file__
    assert found == getattr(holder, new)
    with pytest.raises(AttributeError, match=f"'{owner}' object has no attribute 'nothing'"):
        _ = holder.nothing
