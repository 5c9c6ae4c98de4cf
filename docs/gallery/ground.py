"""The gallery's pictures of ground motion, drawn from a new run of awm: a minute or two.

python docs/gallery/ground.py
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from burstlens.core import valid_time
from burstlens.core.version import __version__
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.product import Context
from burstlens.viz.registry import product_kind

HERE = Path(__file__).parent
RECIPE = HERE.parents[1] / "workflows" / "recipes" / "seismic-scenario"
COMMON = {"name", "kind", "stream", "every"}
MORE = {"response": ("seismograms", {"show": "response", "units": None, "duration_s": None})}
"""Pictures that the recipe does not have: like one of its products, with other options."""
SNAPSHOT_S = 9.2
"""When the waves are in the basin."""


def main() -> None:
    """Run the recipe's model, then make each of its pictures from the frames, in their order."""
    recipe = tomllib.loads((RECIPE / "recipe.toml").read_text())
    (prepare,) = (step for step in recipe["step"] if step["name"] == "prepare")
    products = {product["name"]: product for product in recipe["product"]}
    for name, (like, changes) in MORE.items():
        kept = {k: v for k, v in (products[like] | changes).items() if v is not None}
        products[name] = kept | {"name": name}
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        shutil.copytree(RECIPE, work, dirs_exist_ok=True)
        model = [sys.executable, "-m", "burstlens.workflows.awm", "awm.toml"]
        for command in ([sys.executable, *prepare["command"][1:]], model):
            subprocess.run(command, cwd=work, check=True, stdout=subprocess.DEVNULL)
        for name, product in products.items():
            if product.get("format", "png") == "png":
                print(name, picture(work, name, product, recipe["title"]))


def picture(work: Path, name: str, product: dict[str, Any], title: str) -> Any:
    """Make one product of all frames, chained where it is; the final picture is kept."""
    kind = product_kind(product["kind"])
    given = {key: value for key, value in product.items() if key not in COMMON}
    options = TypeAdapter(kind.options).validate_python(given | {"width_px": 800})
    previous = None
    made = None
    for path in sorted(work.glob(f"{product['stream']}_*.nc")):
        with open_frame([path]) as frame:
            seconds = float(frame.read("time"))
        if product["kind"] == "map" and abs(seconds - SNAPSHOT_S) > 1e-6:
            continue
        time = valid_time.elapsed_key(seconds)
        context = Context(
            "gallery",
            title,
            name,
            product["stream"],
            time,
            RECIPE,
            state=work / f"{name}.new",
            version=__version__,
        )
        with open_frame([path], time=time, previous=previous) as frame:
            made = kind.make(options, frame, HERE / f"ground-{name}.png", context)
        if context.state is not None and context.state.exists():
            previous = context.state.replace(work / f"{name}.state")
    return None if made is None else {k: made.facts[k] for k in ("max",) if k in made.facts}


if __name__ == "__main__":
    main()
