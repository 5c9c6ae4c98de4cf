import pytest

from burstlens.workflows.notify.programs import Children


@pytest.mark.integration
@pytest.mark.parametrize("room", [True, False])
def test_a_program_runs_and_its_failure_is_named_also_without_room(tmp_path, monkeypatch, room):
    if not room:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    touch = ["sh", "-c", "touch came; echo why >&2; exit 3"]
    with pytest.raises(OSError, match="ended with exit code 3") as raised:
        Children().run(touch, b"", 10.0, tmp_path)
    assert (tmp_path / "came").exists()
    assert str(raised.value).endswith(": why") is room
