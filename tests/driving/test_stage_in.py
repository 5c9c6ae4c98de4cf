"""The program that stages in where only the simulation's job sees the buffer."""

from __future__ import annotations

import json
import shutil
import socket
import sys

import pytest

from burstlens.core.durable import read_json
from burstlens.workflows.hints.stripes import Stripe, folder_stripes
from burstlens.workflows.models.wrf import Wrf
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.stage_in import DONE, LIST, main, stage_in, write_list

NAMELIST = "&time_control history_outname = 'out/wrfout_d<domain>_<date>', restart = .false. /\n"


@pytest.fixture
def listed(tmp_path):
    """The list of inputs with an empty folder and old output; the files that directives bring."""
    inputs = tmp_path / "inputs"
    (inputs / "empty" / "deeper").mkdir(parents=True)
    (inputs / "namelist.input").write_text(NAMELIST)
    (inputs / "wrfout_d01_2005-08-28_12:00:00").write_text("old")
    (tmp_path / "run").mkdir()
    buffer = BufferRef("posix", str(tmp_path / "bb"), "storm-1")
    return write_list(tmp_path / "run", buffer, inputs, Wrf(), ())


@pytest.mark.parametrize("brought", [False, True])
def test_folders_are_made_whichever_process_brings_the_files(tmp_path, listed, brought):
    folder = tmp_path / "bb" / "storm-1"
    assert [name for _, name in listed] == ["namelist.input"]
    if brought:
        (folder / "inputs").mkdir(parents=True)
        for source, name in listed:
            shutil.copy(source, folder / "inputs" / name)
    done = stage_in(tmp_path / "run" / LIST, folder)
    assert (done["files"], done["bytes"], done["left"]) == (1, len(NAMELIST), 1)
    found = {str(path.relative_to(folder / "inputs")) for path in (folder / "inputs").rglob("*")}
    assert found == {"namelist.input", "empty", "empty/deeper", "out"}
    assert read_json(tmp_path / "run" / DONE) == done


def test_a_list_without_folders_of_an_older_version_is_still_obeyed(tmp_path, listed):
    place = tmp_path / "run" / LIST
    content = json.loads(place.read_text())
    del content["folders"]
    place.write_text(json.dumps(content))
    assert stage_in(place, tmp_path / "bb" / "storm-1")["files"] == 1


def test_of_several_nodes_the_first_one_reports(tmp_path, listed, monkeypatch):
    done = tmp_path / "run" / DONE
    words = ["stage_in", str(tmp_path / "run" / LIST), str(tmp_path / "bb" / "storm-1")]
    monkeypatch.setattr(sys, "argv", [*words, "first-node"])
    assert main() == 0
    assert not done.exists()
    monkeypatch.setattr(sys, "argv", [*words, socket.gethostname()])
    assert main() == 0
    assert read_json(done)["files"] == 1


def test_folders_get_the_stripes_of_inputs_that_a_pattern_means(tmp_path, listed, caplog):
    inputs, buffer = tmp_path / "inputs", BufferRef("posix", str(tmp_path / "bb"), "storm-1")
    stripes = {"namelist*": Stripe(count=4), "out/wrfrst*": Stripe(count=144)}
    wanted = folder_stripes(stripes, 8)
    write_list(tmp_path / "run", buffer, inputs, Wrf(), (), wanted)
    place = tmp_path / "run" / LIST
    assert json.loads(place.read_text())["stripes"] == [{"folder": "", "count": 4, "size": None}]
    stage_in(place, tmp_path / "bb" / "storm-1")
    (said,) = [one.message for one in caplog.records if "stripes" in one.message]
    assert said.startswith(f"{tmp_path / 'bb' / 'storm-1' / 'inputs'} is on ")
    assert said.endswith("4 stripes have no effect")  # there is no Lustre here
