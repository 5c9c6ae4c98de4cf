"""A recipe's hints reach an MPI program that Burstlens launches, as MPICH itself prints them."""

from __future__ import annotations

import os
import re
import shutil

import pytest
from program import as_text, burstlens

pytestmark = pytest.mark.slow

RECIPE = """\
title = "hints"
[simulation]
model = "command"
inputs = "inputs"
command = ["mpiexec", "-n", "2", "./writer", "wrfout_1"]
frames = "*.nc"
mpiio_report = true
[simulation.mpiio_hints]
"wrfout*" = { cb_nodes = 2, romio_cb_write = "disable", ind_wr_buffer_size = 1048576 }
[buffer]
capacity = "1 MiB"
"""


@pytest.fixture
def hinted(mpich, tmp_path):
    """Runs the recipe, with further lines in its [simulation]; what ROMIO prints, by hint."""

    def run(more=""):
        (tmp_path / "inputs").mkdir()
        shutil.copy(mpich / "writer", tmp_path / "inputs")
        text = RECIPE.replace("mpiio_report = true", f"mpiio_report = true\n{more}")
        (tmp_path / "hints.toml").write_text(text)
        buffer = tmp_path / "buffer"
        buffer.mkdir()
        environment = {
            **os.environ,
            "PATH": f"{mpich}{os.pathsep}{os.environ['PATH']}",
            "BURSTLENS_RUNS": str(tmp_path / "runs"),
            "BURSTLENS_BUFFER": str(buffer),
        }
        words = ["run", "hints.toml", "--site", "local"]
        done = as_text(burstlens(words, tmp_path, environment, 120))
        assert done.returncode == 0, done.stdout + done.stderr
        (log,) = tmp_path.glob("runs/*/logs/attempt-1/model.log")
        return dict(re.findall(r"^key = (\S+) +value = (.*?) *$", log.read_text(), re.MULTILINE))

    return run


def test_each_hint_is_in_force_and_the_aggregators_are_not_clipped(hinted):
    shown = hinted()
    asked = {"cb_nodes": "2", "romio_cb_write": "disable", "ind_wr_buffer_size": "1048576"}
    assert asked.items() <= shown.items()
    assert (shown["cb_config_list"], shown["romio_aggregator_list"]) == ("*:2", "0 1")


def test_a_hints_file_of_the_recipe_s_own_is_left_alone(hinted, tmp_path):
    own = tmp_path / "own-hints"
    own.write_text("romio_ds_write disable\n")
    shown = hinted(f'environment = {{ ROMIO_HINTS = "{own}" }}')
    assert (shown["romio_ds_write"], shown["romio_cb_write"]) == ("disable", "automatic")
