"""Slurm: the contract of all schedulers."""

from __future__ import annotations

import pytest

from burstlens.cluster_configs.scheduler import BatchSite
from burstlens.cluster_configs.scheduler_contract import SchedulerContract
from burstlens.cluster_configs.slurm import Slurm


class TestSlurm(SchedulerContract):
    @pytest.fixture
    def scheduler(self, slurm, monkeypatch):
        for name in ("SLURM_CONF", "PATH"):
            monkeypatch.setenv(name, slurm.env[name])
        yield Slurm(BatchSite(query_interval_s=1.0))
        slurm.clear()

    @pytest.fixture
    def folder(self, tmp_path):
        return tmp_path
