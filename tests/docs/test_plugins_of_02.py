"""Plug-ins of 0.2 run unchanged until 0.4: a kind and a model as its documents had them."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from installed_plugin import install

DATA = Path(__file__).parents[1] / "data" / "plugins_of_0.2"
TEXT = (DATA / "plugins.md").read_text()
KIND = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)[0]
PROJECT, PRODUCT = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
PROTOCOL = '''\
"""A kind that has the methods of 0.2's protocol, and derives from nothing."""

from dataclasses import dataclass

from burstlens.viz.product import Made, whole_file


@dataclass(frozen=True, slots=True)
class LargestOptions:
    variable: str


class LargestKind:
    name = "largest"
    options = LargestOptions

    def extensions(self, options):
        return ("txt",)

    def ships(self, options):
        return ()

    def widens(self, options):
        return False

    def make(self, options, frame, out, context):
        with whole_file(out):
            out.write_text(f"{frame.read(options.variable).max()}\\n")
        return Made("txt")
'''
RECIPE = """\
title = "Plug-ins of 0.2"
[simulation]
model = "shortest"
inputs = "box"
[buffer]
capacity = "10 MiB"
[[product]]
name = "largest"
kind = "largest"
variable = "vz"
"""
BOX = """\
[grid]
nx = 24
ny = 24
nz = 16
spacing_m = 100.0
[time]
step_s = 0.008
steps = 60
[material]
layers = [{ vp_m_s = 5000.0, vs_m_s = 2886.75, rho_kg_m3 = 2700.0 }]
[source]
x_m = 1200.0
y_m = 1200.0
depth_m = 600.0
function = "gaussian"
frequency_hz = 2.5
mxx_n_m = 1e12
myy_n_m = 1e12
mzz_n_m = 1e12
[output]
surface_every = 20
"""


@pytest.mark.integration
def test_a_kind_and_a_model_of_02_make_a_run(own_runs: Any, tmp_path: Path):
    site, folder = tmp_path / "site", own_runs.folder
    project = tomllib.loads(PROJECT)["project"]
    install(site, "burstlens_histogram", project["version"], KIND, project["entry-points"])
    install(site, "largest", "1.0", PROTOCOL, {"burstlens.products": {"l": "largest:LargestKind"}})
    model = (DATA / "awm.py").read_text()
    install(site, "shortest", "1.0", model, {"burstlens.models": {"shortest": "shortest:Awm"}})
    (folder / "box").mkdir()
    (folder / "box" / "awm.toml").write_text(BOX)
    (folder / "old.toml").write_text(RECIPE + PRODUCT)

    words = ("run", "old.toml", "--name", "old", "--set", "product.winds.variable=vz")
    env = {"PYTHONPATH": str(site), "PYTHONWARNINGS": "always::DeprecationWarning"}
    done = own_runs.call(*words, env=env)

    assert done.returncode == 0, done.stderr
    products = own_runs.runs / "old" / "products"
    published = [json.loads(line) for line in (products / "index.jsonl").read_text().splitlines()]
    assert [one["product"] for one in published].count("winds") == 3
    largest = [float(path.read_text()) for path in sorted(products.glob("largest/*.txt"))]
    facts = {one["time"]: one["facts"] for one in published if one["product"] == "winds"}
    assert largest == pytest.approx([facts[time]["max"] for time in sorted(facts)])
    for warning in (
        "PlainKind is now burstlens.viz.kinds.base.ProductKind; the old name goes in 0.4",
        "largest.LargestKind has to derive from burstlens.viz.kinds.base.ProductKind from 0.4 on",
        "shortest.Awm has to derive from burstlens.workflows.models.base.Model from 0.4 on",
    ):
        assert f"DeprecationWarning: {warning}" in done.stderr.replace("burstlens.viz.product.", "")
