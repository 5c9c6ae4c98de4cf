"""The folder of an attempt that continues: the files of its checkpoint are those of the run."""

from __future__ import annotations

import pytest

from burstlens.workflows.placement.model_folder import make

STATE = "state_7.bin"


@pytest.fixture
def base(tmp_path):
    """A buffer with the checkpoint of attempt 1, and with one of another run among the inputs."""
    for folder, text in (("1", "of attempt 1"), ("inputs", "of another run")):
        (tmp_path / "run" / folder).mkdir(parents=True)
        (tmp_path / "run" / folder / STATE).write_text(text)
    return tmp_path


def job(**about):
    checkpoint = [[f"run/1/{STATE}", STATE]]
    return {"folder": "run/2", "inputs": "run/inputs", "checkpoint": checkpoint} | about


@pytest.mark.parametrize("copied", [False, True])
def test_a_file_of_another_run_does_not_take_the_place_of_the_checkpoint(base, copied):
    folder = make(base, job(copied=r"state_.*", checkpoint_copied=copied))
    assert (folder / STATE).read_text() == "of attempt 1"
    make(base, job(copied=r"state_.*", checkpoint_copied=copied))  # as after a crash
    assert (folder / STATE).read_text() == "of attempt 1"


def test_a_program_that_writes_its_checkpoint_again_does_not_write_to_the_one_before(base):
    folder = make(base, job(checkpoint_copied=True))
    (folder / STATE).open("w").write("half")
    assert (base / "run" / "1" / STATE).read_text() == "of attempt 1"


def test_others_share_its_bytes(base):
    folder = make(base, job())
    assert (folder / STATE).samefile(base / "run" / "1" / STATE)


@pytest.mark.parametrize("copied", [False, True])
def test_one_that_is_gone_is_an_error(base, copied):
    (base / "run" / "1" / STATE).unlink()
    with pytest.raises(ValueError, match=r"state_7\.bin is gone"):
        make(base, job(checkpoint_copied=copied))
