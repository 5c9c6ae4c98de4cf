"""RO-Crates of real runs, read back by the library that others use."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
from urllib.parse import unquote

import pytest

from burstlens.clients.api.run import open_run
from burstlens.clients.crate import write_crate
from burstlens.core.errors import RunError
from burstlens.core.extras import install_command

rocrate = pytest.importorskip("rocrate.rocrate")


@pytest.fixture
def crate(standing, tmp_path):
    """Describes a copy of a real run; returns the crate as the library reads it."""

    def make(name):
        getattr(standing, name)()
        place = shutil.copytree(standing.runs / name, tmp_path / name)
        made = write_crate(open_run(place))
        assert made.path == place / "ro-crate-metadata.json"
        read = rocrate.ROCrate(place)
        [action] = [it for it in read.contextual_entities if it.type == "CreateAction"]
        return read, action, place

    return make


def test_a_run_is_an_action_from_its_recipe_to_its_files(crate):
    read, action, place = crate("done")
    assert read.name == "Supercell"
    assert read.metadata.properties()["conformsTo"]["@id"] == "https://w3id.org/ro/crate/1.1"
    assert read.root_dataset["conformsTo"].id == "https://w3id.org/ro/wfrun/process/0.5"
    assert read.root_dataset["mentions"].id == action.id == "#done"
    assert action["instrument"].properties()["name"] == "wrf"
    assert action["actionStatus"] == "http://schema.org/CompletedActionStatus"
    assert action["startTime"] <= action["endTime"]
    given = {it.id for it in action["object"]}
    came = {it.id for it in action["result"]}
    assert {"recipe.toml", "run.json"} <= given
    published = [json.loads(it) for it in (place / "products/index.jsonl").read_text().splitlines()]
    assert {f"products/{it['name']}" for it in published} < came
    assert {"journal.jsonl", "products/core.pvd"} < came
    assert any(name.startswith("output/wrfout_d01") for name in came)


def test_every_file_is_there_as_it_is_described(crate):
    read, _, place = crate("done")
    files = [it for it in read.data_entities if it.type == "File"]
    assert len(files) > 10
    for it in files:
        path = place / unquote(it.id)
        assert int(it["contentSize"]) == path.stat().st_size
        if "sha256" in it.properties():
            assert it["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert not [it for it in files if it.id.startswith("parsl/")]


def test_the_pieces_of_a_volume_are_in_it(standing, tmp_path):
    standing.done()
    place = shutil.copytree(standing.runs / "done", tmp_path / "done")
    index = place / "products" / "index.jsonl"
    *lines, last = index.read_text().splitlines()
    piece = {"name": "core/pieces/d01_0000.vts", "bytes": 3, "crc32": 1}
    index.write_text("\n".join([*lines, json.dumps(json.loads(last) | {"pieces": [piece]})]) + "\n")
    (place / "products" / piece["name"]).parent.mkdir(parents=True, exist_ok=True)
    (place / "products" / piece["name"]).write_text("abc")
    write_crate(open_run(place))
    assert f"products/{piece['name']}" in {it.id for it in rocrate.ROCrate(place).data_entities}


def test_a_failed_run_says_why(crate, standing):
    _, action, _ = crate("failed")
    assert action["actionStatus"] == "http://schema.org/FailedActionStatus"
    outcome = json.loads(standing.call("status", "failed", "--json").stdout)["outcome"]
    assert outcome["line"] in action["error"]


def test_without_the_library_it_says_what_to_install(standing, monkeypatch):
    standing.done()
    monkeypatch.setitem(sys.modules, "rocrate.rocrate", None)
    with pytest.raises(RunError, match=re.escape(install_command("provenance"))):
        write_crate(open_run(standing.runs / "done"))
    assert not (standing.runs / "done" / "ro-crate-metadata.json").exists()
