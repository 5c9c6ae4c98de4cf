"""docs/adding.md: each walk-through is followed as written, in a copy of the source."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from copied_source import ROOT, CopiedSource

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "adding.md").read_text()
STORM = ROOT / "tests" / "data" / "wrf" / "wrfout_d01_2005-08-28_12_00_00"
_BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
_PATH = re.compile(r"`((?:\w+/)+\w+\.py)`")
_EMPTY = re.compile(r"`((?:\w+/)+\w+\.py)` is empty")

WAVES = """\
#!{python}
import netCDF4, numpy, time
for number in (10, 20, 30):
    name = f"wave_{{number:04d}}.nc"
    with netCDF4.Dataset(name, "w", format="NETCDF3_64BIT_OFFSET") as data:
        for dimension, size in (("time", None), ("y", 20), ("x", 30)):
            data.createDimension(dimension, size)
        when = data.createVariable("time", "f8", ("time",))
        when.units = "s"
        when[0] = number
        height = data.createVariable("h", "f4", ("time", "y", "x"))
        height.units = "m"
        height[0] = numpy.sin(numpy.arange(600).reshape(20, 30) / number)
    print("wrote", name, flush=True)
    time.sleep(0.3)
print("done", flush=True)
"""


class Copy(CopiedSource):
    """A copy of the source, in which a walk-through of the page is followed."""

    def follow(self, heading: str) -> str:
        """Write and change the files of a walk-through; returns its text."""
        (walk,) = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
        for block in _BLOCK.finditer(walk):
            named = _PATH.findall(walk[: block.start()])
            if block[1] == "python":
                path = self.folder / named[-1]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block[2])
            elif block[1] == "diff":
                self._change(self.folder / named[-1], block[2].splitlines(keepends=True))
        for name in _EMPTY.findall(walk):
            (self.folder / name).touch()
        return walk

    @staticmethod
    def _change(path: Path, lines: list[str]) -> None:
        before = "".join(line[1:] for line in lines if not line.startswith("+"))
        after = "".join(line[1:] for line in lines)
        text = path.read_text()
        assert text.count(before) == 1, f"{path} has not once:\n{before}"
        path.write_text(text.replace(before, after))


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path / "copy")


@pytest.fixture
def followed(copy: Copy) -> Callable[[str], str]:
    def follow(heading: str) -> str:
        walk = copy.follow(heading)
        copy.check_style()
        return walk

    return follow


def test_a_product_kind(copy, followed):
    walk = followed("A product kind")
    (command,) = re.findall(r"```console\n\$ burstlens (.*?) \|", walk)
    assert "How many bars" in copy.python("-m", "burstlens", command)
    copy.python("-c", f"""\
from pathlib import Path
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.product import Context
from burstlens.viz.registry import product_kind
kind = product_kind("histogram")
with open_frame([{str(STORM)!r}]) as frame:
    options = kind.options("T2", bins=20)
    context = Context("run", "Storm", "t2", "d01", "20050828T120000", Path())
    made = kind.make(options, frame, Path("t2.png"), context)
assert 250 < made.facts["min"] < made.facts["max"] < 320
""")  # fmt: skip
    assert (copy.folder / "t2.png").read_bytes().startswith(b"\x89PNG")


def test_a_diagnostic(copy, followed):
    walk = followed("A diagnostic")
    (name,) = re.findall(r'variable = "(.*?)"', walk)
    values = copy.python("-c", f"""\
from burstlens.viz.diagnostics.derived import open_frame
with open_frame([{str(STORM)!r}]) as frame:
    virtual = frame.read("virtual_temperature")
    dry, vapour = frame.read("temperature"), frame.read("QVAPOR")
    apart = abs(virtual - dry * (1 + vapour / 0.622) / (1 + vapour)).max()
    print(apart, frame.read({name!r}).mean())
""")  # fmt: skip
    apart, mean = (float(value) for value in values.split())
    assert apart < 1e-3
    assert 285 < mean < 305


def test_a_model(copy, followed, tmp_path):
    walk = followed("A model")
    inputs = copy.folder / "inputs"
    inputs.mkdir()
    program = inputs / "waves.sh"
    program.write_text(WAVES.format(python=sys.executable))
    program.chmod(0o755)
    recipe = copy.folder / "waves.toml"
    recipe.write_text(re.findall(r"```toml\n(.*?)```", walk, re.DOTALL)[0])
    places = {
        "BURSTLENS_RUNS": str(tmp_path / "runs"),
        "BURSTLENS_BUFFER": str(tmp_path / "buffer"),
    }
    copy.python("-m", "burstlens", "run", recipe, "--name", "waves", **places)
    products = tmp_path / "runs" / "waves" / "products" / "height"
    assert len(list(products.glob("*.png"))) == 3


def test_a_scheduler(copy, followed, tmp_path):
    walk = followed("A scheduler")
    passed = copy.tests("tests/sites/test_pbs.py")
    assert re.search(r"^1 passed", passed, re.MULTILINE)
    site = copy.folder / "ourpbs.toml"
    site.write_text(re.findall(r"```toml\n(.*?)```", walk, re.DOTALL)[0])
    places = {
        "BURSTLENS_RUNS": str(tmp_path / "runs"),
        "SCRATCH": str(tmp_path),
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
    }
    words = ("run", "seismic-basin", "--site", site, "--dry-run")
    plan = copy.python("-m", "burstlens", *words, **places)
    scripts = dict(
        re.findall(r"^batch script, (.*):\n(#!(?:.+\n|\n(?!batch))*)", plan, re.MULTILINE)
    )
    assert "#PBS -l select=1:ncpus=1:mpiprocs=1\n" in scripts["simulation"]
    assert "#PBS -l filesystems=scratch\n" in scripts["simulation"]
    assert "#PBS -W depend=after:SIMULATION\n" in scripts["viewing block"]
    for script in scripts.values():
        assert re.search(r"^#PBS -N RUN-TOKEN-\S+$", script, re.MULTILINE)
        assert re.search(r"^#PBS -l walltime=\d\d:\d\d:00$", script, re.MULTILINE)
        assert "#PBS -v BURSTLENS_COMMENT=RUN\n" in script
        assert "SBATCH" not in script
        assert "SLURM" not in script
    refused = copy.start(sys.executable, "-m", "burstlens", *words[:-1], **places)
    assert refused.stderr == "burstlens: qsub is not on PATH: is this a login node of PBS?\n"


def test_a_stager(copy, followed):
    followed("A stager")
    said = copy.tests("tests/stagers/test_kernel.py")
    assert re.search(r"^\d{2} passed", said, re.MULTILINE)
    copy.python(
        "-c",
        "from burstlens.stagers.registry import stager; assert stager('kernel').name == 'kernel'",
    )
