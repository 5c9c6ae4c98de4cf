"""Limits of a machine or session under which no run could end: one line says which."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from burstlens.workflows.placement.machine_limits import require_room

BURSTLENS = [sys.executable, "-m", "burstlens"]
RECIPE = """\
[simulation]
model = "command"
command = ["true"]
inputs = "inputs"
"""
Refused = Callable[..., str]


@pytest.fixture
def refused(tmp_path: Path) -> Refused:
    """What a run says that is refused under the limits that these words of a shell set."""
    (tmp_path / "inputs").mkdir()
    (tmp_path / "it.toml").write_text(RECIPE)

    def run(setup: str, *prefix: str, **more: str) -> str:
        words = [*prefix, "bash", "-c", f'{setup}\nexec "$@"', "-", *BURSTLENS, "run", "it.toml"]
        done = subprocess.run(
            words,
            cwd=tmp_path, env=os.environ | {"HOME": str(tmp_path)} | more, capture_output=True,
            text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 1, done.stderr
        assert done.stdout == ""
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert not (tmp_path / "runs").exists() or not list((tmp_path / "runs").iterdir())
        return done.stderr

    return run


@pytest.mark.integration
@pytest.mark.parametrize(
    ("setup", "named"),
    [("ulimit -n 32", "open files is 32"), ("ulimit -v 600000", "(ulimit -v)")],
)
def test_a_limit_of_the_session_is_named(refused: Refused, setup: str, named: str) -> None:
    assert named in refused(setup)


@pytest.mark.integration
def test_a_long_tmpdir_is_named(refused: Refused, tmp_path: Path) -> None:
    long = tmp_path.joinpath(*["d" * 50] * 4)
    long.mkdir(parents=True)
    said = refused("", TMPDIR=str(long))
    assert f"TMPDIR has {len(str(long))} characters" in said
    assert list(long.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
@pytest.mark.parametrize(
    ("mount", "named"),
    [
        ("mount -t tmpfs -o ro x /dev/shm", "no semaphores (Read-only file system)"),
        ("mount -t tmpfs -o size=4k x /dev/shm", "no semaphores (No space left on device)"),
        ("mount -t tmpfs x /proc", "there is no /proc"),
    ],
)
def test_a_place_of_the_system_is_named(refused: Refused, mount: str, named: str) -> None:
    assert named in refused(mount, "unshare", "-m")


@pytest.mark.integration
@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
def test_a_limit_on_processes_is_named(tmp_path: Path) -> None:
    code = "from burstlens.workflows.placement.machine_limits import require_room as r; r(local=1)"
    words = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    done = subprocess.run(
        ["bash", "-c", 'ulimit -u 40; exec "$@"', "-", *words, sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )
    if "Permission denied" in done.stderr:
        pytest.skip("another user cannot read this Python")
    assert "processes and threads is 40" in done.stderr


def test_an_ordinary_machine_has_room() -> None:
    require_room(local=True)
    require_room(local=False)


def test_of_a_pool_elsewhere_the_tmpdir_here_counts_for_nothing(monkeypatch: Any) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/" + "d" * 200)
    require_room(local=False)
