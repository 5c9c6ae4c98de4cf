"""Real kernels, and a real JupyterLab in a real Chromium, without the user's configuration."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

sys.path.append(str(Path(__file__).parents[1] / "live"))  # made runs whose pictures have values

import burstlens

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from burstlens.clients.api.run import Run

STARTS_S = 60.0
TOKEN = "a-token-of-the-tests"


@pytest.fixture(scope="session")
def jupyter_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables that keep Jupyter away from the user's files."""
    home = tmp_path_factory.mktemp("jupyter")
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    found = {name: str(home / name.lower()) for name in names}
    for folder in found.values():
        Path(folder).mkdir(mode=0o700)
    # It would ask for news on another machine.
    settings = home / "jupyter_config_dir" / "labconfig"
    settings.mkdir()
    off = {"@jupyterlab/apputils-extension:announcements": True}
    (settings / "page_config.json").write_text(json.dumps({"disabledExtensions": off}))
    return found


@pytest.fixture
def done(standing: Any) -> Run:
    """The run that is done."""
    standing.done()
    return burstlens.open_run(standing.runs / "done")


@pytest.fixture
def disturbed(standing: Any, tmp_path: Path) -> Run:
    """A copy of the run that is done, to be disturbed."""
    standing.done()
    shutil.copytree(standing.runs / "done", tmp_path / "runs" / "done")
    return burstlens.open_run(tmp_path / "runs" / "done")


@pytest.fixture
def kernel(
    jupyter_environment: dict[str, str], own_runs: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Kernel]:
    """A kernel in the folder of ``own_runs``."""
    from jupyter_client.manager import KernelManager

    for name, value in (jupyter_environment | own_runs.environment).items():
        monkeypatch.setenv(name, value)
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(own_runs.folder))
    made = Kernel(manager)
    yield made
    made.client.stop_channels()
    manager.shutdown_kernel(now=True)


class Kernel:
    """A kernel that runs cells one by one."""

    def __init__(self, manager: Any) -> None:
        self.manager = manager
        self._connect()

    def _connect(self) -> None:
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=STARTS_S)

    def run(self, code: str) -> list[dict[str, Any]]:
        """A cell's outputs, of an error its name, message and traceback."""
        outputs: list[dict[str, Any]] = []

        def take(message: dict[str, Any]) -> None:
            if message["msg_type"] in {"stream", "execute_result", "display_data", "error"}:
                outputs.append(message["content"])

        self.client.execute_interactive(code, output_hook=take, timeout=STARTS_S)
        return outputs

    def restart(self) -> None:
        """As the button does."""
        self.client.stop_channels()
        self.manager.restart_kernel()
        self._connect()


@dataclass
class Lab:
    """A JupyterLab on loopback, serving a folder."""

    url: str
    folder: Path
    browser: Browser
    strayed: list[str]

    def open(self, *cells: str, name: str = "it.ipynb") -> Page:
        """A notebook with these cells, opened and ready to be run."""
        import nbformat  # takes 2 s: not at collection, which each worker does

        made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        made.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
        nbformat.write(made, self.folder / name)
        return self.visit(name)

    def visit(self, name: str) -> Page:
        """A page with that notebook, in a profile of its own."""
        page = self.browser.new_context(viewport={"width": 1440, "height": 1000}).new_page()
        page.set_default_timeout(1000 * STARTS_S)
        page.on("request", self._asked)
        # On a busy machine JupyterLab itself may ask something, such as which kernel to use.
        asks = page.locator(".jp-Dialog").filter(has_not_text="Restart")
        page.add_locator_handler(asks, lambda: asks.locator(".jp-mod-accept").first.click())
        page.goto(f"{self.url}/lab/tree/{name}?token={TOKEN}&reset")
        page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').first.wait_for()
        return page

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self.url, "ws://127.0.0.1", "blob:", "data:")):
            self.strayed.append(request.url)


@pytest.fixture
def lab(jupyter_environment: dict[str, str], own_runs: Any, chromium: Browser) -> Iterator[Lab]:
    """JupyterLab in the folder of ``own_runs``. No request of its pages leaves the machine."""
    words = ["--no-browser", "--allow-root", "--ServerApp.port=0", f"--ServerApp.token={TOKEN}"]
    with (own_runs.folder / "lab.log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *words, f"--ServerApp.root_dir={own_runs.folder}"],
            cwd=own_runs.folder,
            env=os.environ | jupyter_environment | own_runs.environment,
            stdout=log,
            stderr=log,
        )
    try:
        place = Path(jupyter_environment["JUPYTER_RUNTIME_DIR"]) / f"jpserver-{server.pid}.json"
        url = _await_server(place, server, own_runs.folder / "lab.log")
        made = Lab(url, own_runs.folder, chromium, [])
        yield made
        assert made.strayed == []
    finally:
        for context in chromium.contexts:
            context.close()
        server.terminate()
        server.wait(STARTS_S)


def _await_server(place: Path, server: subprocess.Popen[bytes], log: Path) -> str:
    end = time.monotonic() + STARTS_S
    while time.monotonic() < end:
        assert server.poll() is None, log.read_text()
        try:
            url = f"http://127.0.0.1:{json.loads(place.read_text())['port']}"
            with urllib.request.urlopen(f"{url}/api?token={TOKEN}", timeout=60):
                return url
        except (OSError, ValueError, KeyError):
            time.sleep(0.2)
    pytest.fail(f"JupyterLab does not start:\n{log.read_text()}")
