"""What a step leaves in the process that takes it."""

from pathlib import Path

import numpy as np

from burstlens.workflows.awm.solver import Solver


def test_a_step_leaves_denormal_numbers_to_the_caller(parameters):
    least = np.finfo(np.float64).tiny
    Solver(parameters(source={"mxx_n_m": 1e15}), Path()).advance()  # in this thread
    assert least / np.float64(4) > 0
