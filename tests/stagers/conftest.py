"""The emulator of libdatawarp, an instance of a buffer, trouble made on purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from emulated import build_emulator

from burstlens.stagers import shared_library


@pytest.fixture(scope="session")
def emulator_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The emulator, built once; its pkg-config file is in ``pkgconfig`` beside it."""
    return build_emulator(tmp_path_factory.mktemp("emulator"))


@pytest.fixture
def libdatawarp_at(
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[Path | str | None], None]]:
    """Makes the binding look anew, with that path in its variable (None: without it)."""

    def look(path: Path | str | None) -> None:
        shared_library.load.cache_clear()
        if path is None:
            monkeypatch.delenv(shared_library.VARIABLE, raising=False)
        else:
            monkeypatch.setenv(shared_library.VARIABLE, str(path))

    yield look
    shared_library.load.cache_clear()


@pytest.fixture
def emulator(emulator_library: Path, libdatawarp_at: Callable[[Path], None]) -> Path:
    """The emulator in use; its library's path."""
    libdatawarp_at(emulator_library)
    return emulator_library


@pytest.fixture
def buffer(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty instance, mounted as the persistent buffer ``case`` in this process's job."""
    folder = tmp_path_factory.mktemp("instance") / "case"
    folder.mkdir()
    monkeypatch.setenv("DW_PERSISTENT_STRIPED_case", f"{folder}/")
    return folder


@pytest.fixture
def fault(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes trouble for the file of that name, always or for a number of times.

    ``what`` is an errno's name, ``hang``, ``kill`` or ``short``; see docs/emulator.md.
    """

    def make(what: str, name: str, times: int | None = None) -> None:
        rule = f"{what}:*/{name}" + (f":{times}" if times else "")
        monkeypatch.setenv("DW_EMULATOR_FAULTS", rule)

    return make
