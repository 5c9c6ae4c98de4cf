"""Which answers of Slurm about burst buffers count, and which say nothing."""

from __future__ import annotations

import pytest
from burst_case import EMPTY, SILENT, UNLISTED, holding, on_path

from burstlens.cluster_configs import slurm as client
from burstlens.cluster_configs.scheduler import SchedulerError
from burstlens.cluster_configs.slurm import Slurm

pytestmark = pytest.mark.integration
SILENCE = {
    "a silent service": SILENT,
    "nothing": "",
    "a blank line": "\n",
    "garbage": "\x00\x17 \udcff%%% Name=storms Size=20GB\n".encode(errors="replace").decode(),
    "half an answer": EMPTY[:60],
}


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    monkeypatch.setattr(client, "PAUSE_S", 0.01)
    return on_path(tmp_path / "slurm", monkeypatch)


@pytest.mark.parametrize("said", SILENCE.values(), ids=SILENCE)
def test_an_answer_without_a_pools_size_is_no_answer(slurm, said):
    slurm.answers(said)
    for ask in (Slurm(patience_s=0).buffers, lambda: Slurm(patience_s=0).buffer("storms")):
        with pytest.raises(SchedulerError, match="names no pool with its size") as caught:
            ask()
        assert caught.value.passing


@pytest.mark.parametrize("said", [SILENT, "", UNLISTED], ids=["silent", "nothing", "unlisted"])
def test_it_is_asked_again_until_an_answer_counts(slurm, said):
    slurm.answers(said, said, holding("storms"))
    found = Slurm().buffer("storms")
    assert found is not None
    assert found.size == 20 * 10**9
    assert slurm.calls.count("scontrol show burst") == 3


def test_pools_in_use_without_any_buffer_do_not_mean_that_there_is_none(slurm):
    slurm.answers(UNLISTED)
    with pytest.raises(SchedulerError, match=r"lists no buffer, though 18\.6 GiB of pool wlm_pool"):
        Slurm(patience_s=0).buffer("storms")
    (pool,), bursts = Slurm(patience_s=0).buffers()
    assert (pool.name, bursts) == ("wlm_pool", [])


def test_an_empty_pool_and_other_buffers_mean_that_there_is_none(slurm):
    slurm.answers(EMPTY, holding("winds"))
    assert Slurm(patience_s=0).buffer("storms") is None
    assert Slurm(patience_s=0).buffer("storms") is None


@pytest.mark.parametrize("said", ["garbage\n", "1\x01me\x01RUNNING\x02"])
def test_a_list_of_jobs_that_is_none_does_not_mean_that_no_job_has_a_buffer(slurm, said):
    (slurm.folder / "holders").write_text(said)
    with pytest.raises(SchedulerError, match="which of them have a buffer") as caught:
        Slurm(patience_s=0).holders()
    assert caught.value.passing


def test_no_jobs_with_buffers_are_none(slurm):
    slurm.jobs()
    assert Slurm().holders() == []
    slurm.jobs(("7", "RUNNING", "#DW persistentdw name=storms"), ("8", "PENDING", "(null)"))
    (holder,) = Slurm().holders()
    assert holder.job_id == "7"
    assert holder.mounts("storms")
    assert not holder.mounts("storm")
    assert not holder.creates("storms")
    slurm.jobs(("9", "PENDING", "#BB create_persistent name=storms capacity=1GiB"))
    (holder,) = Slurm().holders(ended=True)
    assert (holder.creates("storms"), holder.mounts("storms")) == (True, False)


def test_how_long_slurm_remembers_jobs_is_reckoned_by_its_own_clock(slurm):
    assert Slurm().remembers_since() == "2026-11-26T11:16:50"
    slurm.config("0 sec")
    assert Slurm().remembers_since() < "1971"
    (slurm.folder / "config").write_text("no configuration\n")
    assert Slurm().remembers_since() == ""
