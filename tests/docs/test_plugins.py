"""docs/plugins.md: its package is found, its recipe is checked and run, its contract holds."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from installed_plugin import install
from PIL import Image

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "plugins.md").read_text()
WALK = (ROOT / "docs" / "adding.md").read_text().partition("## A scheduler\n")[2]
KIND, CONTRACT = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
PROJECT, PRODUCT = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)


STAGER = """\
import os

from burstlens.stagers.posix import PosixStager


class NotedStager(PosixStager):
    name = "noted"

    def start_out(self, source, target):
        with open(os.environ["NOTES"], "a") as notes:
            notes.write(target.parent.name + "\\n")
        super().start_out(source, target)
"""


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """The environment in which the document's package is installed."""
    project = tomllib.loads(PROJECT)["project"]
    name = project["name"].replace("-", "_")
    install(tmp_path / "site", name, project["version"], KIND, project["entry-points"])
    return {"PYTHONPATH": str(tmp_path / "site")}


@pytest.fixture
def recipe(own_runs: Any) -> None:
    """The document's product in a recipe whose model writes three frames."""
    own_runs.prepare("done", "--interval 0.3")
    path = own_runs.folder / "r.toml"
    head, _, _ = path.read_text().partition("[[product]]")
    path.write_text(head + PRODUCT)


@pytest.mark.slow
def test_a_recipe_takes_the_kind_and_a_run_makes_it(
    own_runs: Any, recipe: None, installed: dict[str, str]
):
    done = own_runs.call(*own_runs.words("done"), env=installed)
    assert done.returncode == 0, done.stderr
    pictures = sorted((own_runs.runs / "done" / "products" / "winds").glob("*.png"))
    assert len(pictures) == 3
    for picture in pictures:
        with Image.open(picture) as image:
            assert image.size == (600, 400)
    index = (own_runs.runs / "done" / "products" / "index.jsonl").read_text().splitlines()
    facts = [json.loads(line)["facts"] for line in index]
    assert sum(fact["min"] < fact["max"] for fact in facts) == 2  # the air is at rest at first


@pytest.mark.slow
def test_its_keys_are_checked_and_in_the_schema(
    own_runs: Any, recipe: None, installed: dict[str, str]
):
    wrong = own_runs.call("check", "r.toml", "--set", "product.winds.bins=0", env=installed)
    assert "bins must be 1 to 1000" in wrong.stderr
    near = own_runs.call("check", "r.toml", "--set", "product.winds.bin=7", env=installed)
    assert "did you mean bins?" in near.stderr
    assert "How many bars." in own_runs.call("schema", env=installed).stdout
    without = own_runs.call("check", "r.toml")
    assert 'there is no kind "histogram"' in without.stderr


@pytest.mark.slow
def test_a_site_names_a_plugins_stager_and_every_product_comes_by_it(own_runs: Any, tmp_path: Path):
    points = {"burstlens.stagers": {"noted": "noted_stager:NotedStager"}}
    install(tmp_path / "site", "noted_stager", "1.0", STAGER, points)
    notes = tmp_path / "notes"
    env = {"PYTHONPATH": str(tmp_path / "site"), "NOTES": str(notes)}
    site = own_runs.folder / "mine.toml"
    text = (ROOT / "cluster_configs" / "sites" / "local.toml").read_text()
    assert "[buffer]\n" in text
    site.write_text(text.replace("[buffer]\n", '[buffer]\nstager = "noted"\n'))
    own_runs.prepare("done", "--interval 0.3")
    done = own_runs.call(*own_runs.words("done"), "--site", "mine.toml", env=env)
    assert done.returncode == 0, done.stderr
    published = own_runs.events("done").count("product.published")
    assert published == 6
    products = own_runs.runs / "done" / "products"
    beside = [*products.glob("*/*.values.js"), *products.glob("live/grid-*.js")]
    assert len(beside) > 3
    assert notes.read_text().splitlines().count(".incoming") == published + len(beside)
    refused = own_runs.call(*own_runs.words("other"), "--site", "mine.toml")
    assert refused.returncode == 1
    assert "there is no stager 'noted'" in refused.stderr
    assert not (own_runs.runs / "other").exists()


@pytest.mark.slow
def test_a_site_names_a_plugins_scheduler(own_runs: Any, tmp_path: Path):
    code = re.findall(r"```python\n(.*?)```", WALK, re.DOTALL)[0]
    site = re.findall(r"```toml\n(.*?)```", WALK, re.DOTALL)[0]
    points = {"burstlens.schedulers": {"pbs": "burstlens_pbs:PBS"}}
    install(tmp_path / "site", "burstlens_pbs", "1.0", code, points)
    (own_runs.folder / "ourpbs.toml").write_text(site)
    env = {"PYTHONPATH": str(tmp_path / "site"), "SCRATCH": str(tmp_path)}
    own_runs.prepare("done", "--interval 0.3")
    words = ("run", "r.toml", "--site", "ourpbs.toml", "--dry-run")
    planned = own_runs.call(*words, env=env)
    assert planned.returncode == 0, planned.stderr
    assert planned.stdout.count("#PBS -A ab0123\n") >= 1
    refused = own_runs.call(*words, env={"SCRATCH": str(tmp_path)})
    assert refused.returncode == 1
    assert 'there is no scheduler "pbs"' in refused.stderr


@pytest.mark.slow
def test_the_stagers_contract_is_subclassed_as_shown(tmp_path: Path):
    (tmp_path / "test_mine.py").write_text(CONTRACT)
    # With a folder of its own: at its end pytest deletes what older sessions left, however long.
    own = f"--basetemp={tmp_path / 'temporary'}"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", own, "test_mine.py"],
        cwd=tmp_path, env={**os.environ, "PYTEST_ADDOPTS": ""},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert re.search(r"\d+ passed", done.stdout)
