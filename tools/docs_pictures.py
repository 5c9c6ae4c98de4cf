"""Draw the pictures of README and docs again, from the tests' frames and from runs on this machine.

    python tools/docs_pictures.py [PART ...]

Without parts it draws all of them, which takes some ten minutes: most of it are runs of awm. Parts
are the scripts of ``docs/gallery`` and the functions of ``PARTS``. ``tests/docs/test_pictures.py``
holds the version in each picture; ``live`` and ``look`` need Chromium and playwright.
"""

from __future__ import annotations

import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from burstlens.core.version import __version__

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
TUTORIALS = DOCS / "tutorials"
FRAMES = ROOT / "tests" / "data" / "wrf"
_ENOUGH = 8
"""Pictures of the look that its page shows."""
STAMP = f"Burstlens {__version__}"
"""What the text chunk ``Software`` of each picture says."""


_REPLACE = """([from, to]) => {
  const replace = (node) => {
    if (node.nodeType === Node.TEXT_NODE) node.data = node.data.replaceAll(from, to);
    if (node.shadowRoot) replace(node.shadowRoot);
    node.childNodes.forEach(replace);
  };
  if (from) setInterval(() => replace(document.body), 20); // a live page writes it again
}"""


def demo(folder: Path) -> None:
    """The run of the demo: a picture of it, and its page with two places kept."""
    _call(folder, "demo")
    (run,) = (path.parent for path in folder.glob("*/run.json"))
    pictures = sorted((run / "products" / "ground").glob("*.png"))
    shutil.copy(pictures[len(pictures) // 2], DOCS / "demo.png")
    view = "show=ground&pins=Ax8524.4;12396_Bx17777;14792&time=t00000009.920"
    screenshot(run / "products" / "index.html", view, DOCS / "live.png", (1440, 900))


def look(folder: Path) -> None:
    """The page of a look at somebody else's folder: a hurricane, four times in one file."""
    storm = folder / "storm"
    storm.mkdir()
    shutil.copy(FRAMES / "wrfout_d01_2005-08-28_12_00_00", storm)
    words = "look", str(storm), "--no-page", "--all", "--name", "view"
    products = folder / "view" / "products"
    with subprocess.Popen(_command(*words), env=_environment(folder)) as looking:
        try:
            while looking.poll() is None and len(list(products.glob("*/*.png"))) < _ENOUGH:
                time.sleep(1.0)
            shown = str(storm), "/scratch/storm"
            screenshot(products / "index.html", "", DOCS / "look.png", (1280, 860), shown)
        finally:
            looking.send_signal(signal.SIGINT)


def plate(folder: Path) -> None:
    """The tutorial about a model of one's own."""
    (program,), (recipe,) = (_blocks("my-own-model", of) for of in ("python", "toml"))
    made = _tutorial(folder, "heat", recipe, {"heat.py": program})
    pictures = sorted((made / "plate").glob("*.png"))
    shutil.copy(pictures[len(pictures) // 2], TUTORIALS / "plate.png")


def quake(folder: Path) -> None:
    """The tutorial about earthquakes: the final peak ground velocity."""
    settings, recipe, *_ = _blocks("my-seismic-run", "toml")
    made = _tutorial(folder, "quake", recipe, {"awm.toml": settings})
    shutil.copy(sorted((made / "pgv").glob("*.png"))[-1], TUTORIALS / "quake.png")


PARTS: Mapping[str, Callable[[Path], None]] = {
    "demo": demo, "look": look, "plate": plate, "quake": quake,
}  # fmt: skip
SCRIPTS = ("maps", "columns", "storms", "scenes", "recipes", "ground")


def screenshot(
    page: Path, view: str, out: Path, size: tuple[int, int], shown: tuple[str, str] = ("", "")
) -> None:
    """The page of a run, opened as a file at that view, as a picture with the stamp; ``shown`` is a
    text of the page and what stands there in the picture."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))))
    arguments = ["--no-sandbox"] if os.getuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        tab = browser.new_page(viewport={"width": size[0], "height": size[1]})
        tab.goto(f"{page.as_uri()}#{view}")
        tab.wait_for_timeout(8000)  # pictures and curves come after the page, which polls for ever
        tab.evaluate(_REPLACE, shown)
        tab.wait_for_timeout(500)
        tab.screenshot(path=out)
        browser.close()
    stamp(out)


def stamp(path: Path) -> None:
    """Write the version into a picture that does not have it."""
    with Image.open(path) as image:
        image.load()
        info = PngInfo()
        info.add_text("Software", STAMP)
        image.convert("RGB").save(path, pnginfo=info, optimize=True)


def _blocks(page: str, language: str) -> list[str]:
    """The code of one language on a page of the tutorials, in order."""
    text = (TUTORIALS / f"{page}.md").read_text()
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def _tutorial(folder: Path, name: str, recipe: str, files: Mapping[str, str]) -> Path:
    """Run a tutorial's recipe; returns the folder of its products."""
    home = folder / "home" / name
    home.mkdir(parents=True)
    for file, text in ({"recipe.toml": recipe} | dict(files)).items():
        (home / file).write_text(text)
    _call(folder, "run", str(home), "--name", f"{name}-run")
    return folder / f"{name}-run" / "products"


def _call(runs: Path, *words: str) -> None:
    subprocess.run(_command(*words), env=_environment(runs), check=True, stdout=subprocess.DEVNULL)


def _command(*words: str) -> list[str]:
    return [sys.executable, "-m", "burstlens", *words]


def _environment(runs: Path) -> dict[str, str]:
    return os.environ | {"BURSTLENS_RUNS": str(runs), "BURSTLENS_BUFFER": str(runs / "buf")}


def main(parts: list[str]) -> None:
    """Draw these parts, or all."""
    for part in parts or [*SCRIPTS, *PARTS]:
        print(part, flush=True)
        if part in PARTS:
            with tempfile.TemporaryDirectory() as folder:
                PARTS[part](Path(folder))
        else:
            runpy.run_path(str(DOCS / "gallery" / f"{part}.py"), run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
