"""The check of a release: what it refuses. `make release-check` is the whole of it, in minutes."""

from __future__ import annotations

import importlib.util
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def check() -> ModuleType:
    path = Path(__file__).parents[1] / "tools" / "release_check.py"
    spec = importlib.util.spec_from_file_location("release_check", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def archive(path: Path, **files: str) -> Path:
    with zipfile.ZipFile(path, "w") as made:
        for name, text in files.items():
            made.writestr(name, text)
    return path


def test_wheels_differ_by_a_file_that_one_lacks_and_by_another_content(check, tmp_path):
    one = archive(tmp_path / "one.whl", same="1", changed="2", only_here="3")
    other = archive(tmp_path / "other.whl", changed="two", same="1", only_there="3")
    assert check.differences(one, one) == set()
    assert check.differences(one, other) == {"changed", "only_here", "only_there"}


def test_a_long_list_of_names_is_cut(check):
    assert check.listed(["b", "a"]) == "a, b"
    assert check.listed("gfedcba") == "a, b, c, d, e and 2 more"


def test_metadata_that_an_index_refuses_is_one_line(check, tmp_path):
    text = "Metadata-Version: 2.4\nName: burstlens\nVersion: one\n\nSee it."
    wheel = archive(tmp_path / "b.whl", **{"burstlens-1.dist-info/METADATA": text})
    with pytest.raises(check.CheckError, match=r"^metadata: .*version.*$"):
        check.check_metadata(tmp_path / "none.tar.gz", wheel)


@pytest.mark.integration
def test_a_command_that_fails_is_named_and_its_output_is_printed(check, capfd):
    code = "print('why'); raise SystemExit(3)"
    with pytest.raises(check.CheckError, match=r"^`python.* failed with exit code 3$"):
        check.run([sys.executable, "-c", code])
    assert capfd.readouterr().err == "why\n"


def test_a_picture_that_was_cut_off_is_not_a_png(check):
    whole = check.PNG_BEGIN + b"..." + check.PNG_END
    assert check.is_png(whole)
    assert not check.is_png(whole[:-1])
    assert not check.is_png(b"")
