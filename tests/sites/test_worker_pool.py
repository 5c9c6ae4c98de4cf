"""The pool's workers are forks of one process that has imported what each of them needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

# A worker says which of these modules it has without having imported any.
PROGRAM = """
import parsl.multiprocessing
from burstlens.cluster_configs import worker_pool
worker_pool._fork_workers()
with parsl.multiprocessing.SpawnContext.Pool(1) as workers:
    print(*workers.apply(eval, ("sorted(__import__('sys').modules)",)), sep="\\n")
"""


@pytest.mark.integration
def test_a_worker_has_from_its_start_what_each_product_needs():
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    needed = {"parsl", "netCDF4", "matplotlib.figure", "burstlens.workflows.production.tasks"}
    found = set(done.stdout.split())
    assert needed <= found
    assert "sqlalchemy" not in found  # is installed, with ObsPy


@pytest.mark.integration
def test_what_parsl_is_imported_without_can_be_imported_later():
    program = (
        "import burstlens.cluster_configs.unmonitored, sys; assert 'parsl' in sys.modules;"
        "assert 'sqlalchemy' not in sys.modules; import sqlalchemy; print(sqlalchemy.__name__)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("sqlalchemy\n", "")
