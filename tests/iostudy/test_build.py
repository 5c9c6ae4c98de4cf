"""The program's compilation, and the command that prepares a study."""

from __future__ import annotations

import sys

import pytest

from burstlens.core.errors import RecipeError
from burstlens.workflows.iostudy import build
from burstlens.workflows.iostudy.__main__ import main

PROFILE = 'title = "t"\npattern = "segments"\nblock = "64 KiB"\n'


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    """Puts a program of that text on PATH as ``mpicc``."""

    def make(text: str) -> None:
        path = tmp_path / "bin" / "mpicc"
        path.parent.mkdir()
        path.write_text(f"#!{sys.executable}\nimport sys\n{text}\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{path.parent}:/usr/bin:/bin")

    return make


def test_without_a_compiler_the_message_says_where_one_comes_from(tmp_path):
    with pytest.raises(RecipeError, match=r"no mpicc-none on PATH.*apt install mpich"):
        build.compile_to(tmp_path / "iostudy", "mpicc-none")


@pytest.mark.integration
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("print('x.c: error: no mpi.h', file=sys.stderr); sys.exit(4)", "ended with 4: x.c: error"),
        ("sys.exit(0)", "ended with 0: no message"),
        ("import time; time.sleep(60)", "did not end within"),
    ],
)
def test_a_compiler_that_fails_leaves_one_message_and_no_program(
    tmp_path, compiler, monkeypatch, text, message
):
    compiler(text)
    monkeypatch.setattr(build, "LIMIT_S", 2.0)
    with pytest.raises(RecipeError, match=message):
        build.compile_to(tmp_path / "iostudy")
    assert list(tmp_path.glob("*iostudy*")) == []


@pytest.mark.integration
def test_the_command_lays_a_study_and_builds_the_program(tmp_path, compiler, monkeypatch, capsys):
    compiler("open(sys.argv[sys.argv.index('-o') + 1], 'w').write('program')")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.toml").write_text(PROFILE)
    words = ["p.toml", "frames=3", "--case=segments=2;block=4 KiB", "--nodes=2"]
    assert main([*words, "--ranks-per-node=3"]) == 0
    assert capsys.readouterr().out == "iostudy: t: 3 frames of 48.0 KiB from 6 ranks\n"
    assert (tmp_path / "iostudy").read_text() == "program"
    assert "block 4096\n" in (tmp_path / "study.txt").read_text()
    assert (tmp_path / "study.head").stat().st_size == 4096


def test_a_program_from_elsewhere_is_not_built(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.toml").write_text(PROFILE)
    assert main(["p.toml", "--program=/opt/iostudy", "--mpicc=mpicc-none"]) == 0
    assert not (tmp_path / "iostudy").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.toml"], "cannot read none.toml"),
        (["p.toml", "--mpicc=mpicc-none"], "there is no mpicc-none"),
        (["p.toml", "blok=3"], "did you mean block"),
        (["p.toml", "pattern=cells", "shape=[8,8,8]", "--nodes=3"], "a square number of ranks"),
        (["p.toml", "--case=frames"], "expected key=value;key=value"),
    ],
)
def test_faults_end_it_with_one_message(tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.toml").write_text(PROFILE)
    assert main(words) == 1
    said = capsys.readouterr().err
    assert said.startswith("iostudy: error: ")
    assert message in said


def test_a_folder_that_takes_no_files_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.toml").write_text(PROFILE)
    (tmp_path / "study.txt").mkdir()
    assert main(["p.toml"]) == 1
    assert "cannot use study.txt" in capsys.readouterr().err
