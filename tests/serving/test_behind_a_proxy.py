"""Behind a proxy that puts a path before ours, as JupyterHub's and VS Code's do."""

from __future__ import annotations

import http.client
import http.server
import json
import re
import shutil
import threading

import pytest
from playwright.sync_api import expect

PREFIX = "/user/me/proxy/8080"
PASSED = ("Accept", "Cookie", "Range", "Content-Type", "X-Burstlens", "Sec-Fetch-Site")


class Proxy(http.server.BaseHTTPRequestHandler):
    """Takes the prefix off and hands on the rest, as it is."""

    protocol_version = "HTTP/1.1"
    behind = 0

    def do_GET(self) -> None:
        if not self.path.startswith(f"{PREFIX}/"):
            self.send_error(404)
            return
        length = int(self.headers.get("Content-Length", 0))
        headers = {name: self.headers[name] for name in PASSED if name in self.headers}
        connection = http.client.HTTPConnection("127.0.0.1", self.behind, timeout=60)
        place = self.path.removeprefix(PREFIX)
        connection.request(self.command, place, self.rfile.read(length), headers)
        answer = connection.getresponse()
        body = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in {"content-length", "transfer-encoding", "date", "server"}:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        connection.close()

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Silent."""


@pytest.fixture
def proxied():
    """The address of a server behind a proxy."""
    proxies = []

    def stand_before(server) -> str:
        handler = type("Handler", (Proxy,), {"behind": server.port})
        proxies.append(http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler))
        threading.Thread(target=proxies[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{proxies[-1].server_port}{PREFIX}{server.folder}/"

    yield stand_before
    for proxy in proxies:
        proxy.shutdown()
        proxy.server_close()


def test_list_page_pictures_and_stop_work_behind_a_prefix(serve, standing, tmp_path, page, proxied):
    standing.done()
    folder = tmp_path / "runs"
    shutil.copytree(standing.runs / "done", folder / "storm")
    server = serve(folder, "--allow-stop")
    root = proxied(server)
    page.goto(f"{root}?token={server.token}")
    assert page.url == root
    card = page.get_by_role("link").filter(has_text="storm")
    expect(card.locator("img")).to_have_js_property("complete", True)
    card.click()
    expect(page).to_have_url(f"{root}storm/products/index.html")
    expect(page.get_by_role("heading", level=1)).to_have_text("Supercell")
    drawn = page.locator("canvas.first").first
    expect(drawn).to_have_attribute("aria-label", re.compile("00:02:00"))
    (folder / "storm" / "attempts" / "1" / "ended.json").unlink()
    status = folder / "storm" / "status.json"
    status.write_text(json.dumps(json.loads(status.read_text()) | {"state": "running"}))
    page.get_by_role("button", name="Stop…").click()
    page.get_by_role("button", name="Stop now").click()
    expect(page.get_by_role("dialog", name="Stop this run?")).to_be_hidden()
    assert [path.name for path in (folder / "storm" / "control").iterdir()] == ["stop-now"]


def test_a_link_to_a_run_leads_in_behind_a_prefix(serve, standing, page, proxied):
    standing.done()
    server = serve(standing.runs)
    root = proxied(server)
    page.goto(f"{root}done/products/index.html?token={server.token}")
    assert page.url == f"{root}done/products/index.html"
    expect(page.get_by_role("heading", level=1)).to_have_text("Supercell")
    (cookie,) = page.context.cookies()
    assert cookie["path"] == f"{PREFIX}{server.folder}"
