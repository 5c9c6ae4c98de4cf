"""The served files: only those of a run, whole or in part, unchanged."""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import socket
from urllib.parse import quote, urljoin

import pytest

SECRET = b"this must not be served"
HOSTILE = [
    "/../outside",
    "/../../etc/passwd",
    "/%2e%2e/outside",
    "/..%2foutside",
    "/%2e%2e%2foutside",
    "/%252e%252e/outside",
    "/trapped/../outside",
    "/trapped/products/../run.json",
    "/trapped/products/%2e%2e/run.json",
    "/trapped/products/..%2frun.json",
    "/trapped/products/..%5crun.json",
    "/trapped/products/%2e%2e%2f%2e%2e%2f%2e%2e%2foutside",
    "/trapped/logs/../../../outside",
    "/trapped//products/index.jsonl",
    "//trapped/products/index.jsonl",
    "/./trapped/products/index.jsonl",
    "/trapped/products/./index.jsonl",
    "/trapped/products/index.jsonl/",
    "/trapped/products/index.jsonl/.",
    "/trapped/products/index.jsonl%00.png",
    "/trapped%00/status.json",
    "/trapped/products/link-out",
    "/trapped/products/link-in",
    "/trapped/products/folder-out/outside",
    "/trapped/logs/link-out",
    "/linked/status.json",
    "/linked/run.json",
    "/linked/products/index.html",
    "/linked/products/index.jsonl",
    "/trapped/products/.incoming/secret",
    "/trapped/products/%2eincoming/secret",
    "/trapped/.hidden",
    "/trapped/parsl/secret",
    "/trapped/control/secret",
    "/trapped/attempts/1/job.json",
    "/trapped/attempts/1/started.json",
    "/trapped/files/secret",
    "/trapped/output/secret",
    "/trapped/products/pipe",
    "/trapped/products/socket",
    "/trapped/products/device",
    "/trapped/products/w/",
    "/trapped/products/w",
    "/trapped/logs/",
    "/trapped/logs",
    "/not-a-run/products/secret",
    "/not-a-run/status.json",
    "/not-a-run/run.json",
    "/not-a-run/products/index.html",
    "/status.json",
    "/run.json",
    "/outside",
    "/proc/self/environ",
    "/etc/passwd",
    "/trapped/products/" + "a" * 3000,
    "/trapped/products" + "/a" * 1500,
    "/\u202e/status.json",
    "/*",
]


@pytest.fixture(scope="module")
def traps(shelf):
    """What must never be served, in and around a run."""
    outside, run = shelf.parent / "outside", shelf / "trapped"
    shutil.copytree(shelf / "done", run)
    outside.write_bytes(SECRET)
    for folder in ("parsl", "control", "files", "output", "products/.incoming"):
        (run / folder).mkdir(exist_ok=True)
        (run / folder / "secret").write_bytes(SECRET)
    (run / ".hidden").write_bytes(SECRET)
    (run / "products" / "link-out").symlink_to(outside)
    (run / "products" / "link-in").symlink_to("index.jsonl")
    (run / "products" / "folder-out").symlink_to(shelf.parent)
    (run / "logs" / "link-out").symlink_to(outside)
    (shelf / "linked").symlink_to(run)
    (shelf / "not-a-run" / "products").mkdir(parents=True)
    (shelf / "not-a-run" / "products" / "secret").write_bytes(SECRET)
    os.mkfifo(run / "products" / "pipe")
    with socket.socket(socket.AF_UNIX) as unix:
        here = os.getcwd()
        os.chdir(run / "products")  # its name may be 108 bytes at most
        unix.bind("socket")
        os.chdir(here)
    if os.getuid() == 0:
        os.mknod(run / "products" / "device", 0o20666, os.makedev(1, 3))


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: ascii(path)[:50])
@pytest.mark.usefixtures("traps")
def test_nothing_but_a_runs_own_files_is_served(server, path, method):
    answer = server.raw(server.head(path, method))
    assert answer.split(b" ", 2)[1] in (b"404", b"303", b"400")
    assert SECRET not in answer
    assert b"burstlens-" not in answer
    if b" 303 " in answer[:13]:
        assert path.rstrip("/").endswith(("products", "trapped"))


def test_the_address_of_a_folder_leads_to_the_page(server):
    for place in ("/done", "/done/", "/done/products", "/done/products/"):
        answer = server.ask(place)
        assert answer.status == 303
        goal = urljoin(server.root + place[1:], answer.headers["location"])
        assert goal == f"{server.root}done/products/index.html"


@pytest.mark.parametrize(
    "target",
    ["http://evil.example/done/status.json", "//evil.example/x", "*", "", "done/status.json"],
)
def test_odd_request_targets_do_no_harm(server, target):
    answer = server.raw(server.head(target))
    assert SECRET not in answer
    assert server.ask("/done/status.json").status == 200


@pytest.mark.parametrize(
    "name",
    [
        "w d01 100 %.png",
        "<img src=x onerror=alert(1)>.png",
        "a?b#c&d.png",
        "\u6ce2 \u202e.png",
        "quote\"'`$(id);.png",
        "back\\slash.png",
        "line\nbreak.png",
        os.fsdecode(b"latin-\xe9.png"),
    ],
    ids=ascii,
)
def test_a_file_of_any_name_is_served_as_it_is(server, crowded, name):
    content = os.urandom(200)
    (crowded / "products" / "w" / name).write_bytes(content)
    answer = server.ask(f"/crowded/products/w/{quote(os.fsencode(name), safe='')}")
    assert (answer.status, answer.body) == (200, content)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("products/w/w_d01_00010101T000000.png", "image/png"),
        ("products/index.jsonl", "text/plain; charset=utf-8"),
        ("products/core.pvd", "text/plain; charset=utf-8"),
        ("logs/attempt-1/rsl.error.0000", "text/plain; charset=utf-8"),
        ("logs/attempt-1/page.html", "text/plain; charset=utf-8"),
        ("journal.jsonl", "text/plain; charset=utf-8"),
        ("recipe.toml", "text/plain; charset=utf-8"),
        ("run.json", "application/json"),
        ("products/w/any.vti", "application/octet-stream"),
    ],
)
def test_each_file_says_what_it_is(server, crowded, name, kind):
    path = crowded / name
    if not path.exists():
        path.write_bytes(b"<script>alert(1)</script>")
    answer = server.ask(f"/crowded/{name}")
    assert (answer.status, answer.headers["content-type"]) == (200, kind)
    assert answer.body == path.read_bytes()


@pytest.mark.parametrize("name", ["page.html", "drawing.svg", "PAGE.HTML", "data.xml"])
def test_a_document_among_the_products_cannot_act_as_the_page(server, crowded, name):
    (crowded / "products" / name).write_text("<script>1</script>")
    policy = server.ask(f"/crowded/products/{name}").headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts; default-src 'none'")
    assert "allow-same-origin" not in policy


def test_the_page_is_the_packages_own_also_for_older_runs(server, crowded):
    from burstlens.viz.live.page import page_text

    (crowded / "products" / "index.html").write_text("an older page")
    answer = server.ask("/crowded/products/index.html")
    assert answer.body.decode() == page_text()
    (crowded / "products" / "index.html").unlink()
    assert server.ask("/crowded/products/index.html").body == answer.body


def test_a_part_is_sent_when_a_part_is_asked_for(server, shelf):
    whole = (shelf / "done" / "journal.jsonl").read_bytes()
    part = server.ask("/done/journal.jsonl", Range="bytes=100-199")
    assert (part.status, part.body) == (206, whole[100:200])
    assert part.headers["content-range"] == f"bytes 100-199/{len(whole)}"
    assert server.ask("/done/journal.jsonl", Range="bytes=-50").body == whole[-50:]
    assert server.ask("/done/journal.jsonl", Range=f"bytes={len(whole) - 1}-").body == whole[-1:]
    beyond = server.ask("/done/journal.jsonl", Range=f"bytes={len(whole)}-")
    assert (beyond.status, beyond.headers["content-range"]) == (416, f"bytes */{len(whole)}")
    assert server.ask("/done/journal.jsonl", Range="bytes=9-1,x").status == 416


def test_what_has_not_changed_is_not_sent_again(server):
    place = "/done/products/w/w_d01_00010101T000000.png"
    first = server.ask(place)
    assert server.ask(place, If_None_Match=first.headers["etag"]).status == 304
    assert server.ask(place, If_Modified_Since=first.headers["last-modified"]).status == 304
    assert first.headers["cache-control"] == "no-cache"
    assert "immutable" in server.ask(f"{place}?1234567").headers["cache-control"]


def test_only_the_head_is_sent_when_it_is_asked_for(server, shelf):
    for place in ("products/index.jsonl", "status.json", "products/index.html"):
        answer = server.ask(f"/done/{place}", "HEAD")
        assert (answer.status, answer.body) == (200, b"")
        assert int(answer.headers["content-length"]) > 100


def test_long_lists_are_compressed_for_those_who_take_it(server, shelf):
    import zlib

    whole = (shelf / "done" / "journal.jsonl").read_bytes()
    answer = server.ask("/done/journal.jsonl", Accept_Encoding="gzip, deflate")
    kind = {"gzip": 31, "deflate": 15}[answer.headers["content-encoding"]]
    assert zlib.decompress(answer.body, kind) == whole
    part = server.ask("/done/journal.jsonl", Accept_Encoding="gzip", Range="bytes=0-9")
    assert "content-encoding" not in part.headers
    assert part.body == whole[:10]


def test_a_file_that_grows_is_sent_as_long_as_it_was(server, crowded):
    path = crowded / "logs" / "grows"
    path.write_bytes(b"a" * 3_000_000)
    with server.connect(receive_bytes=4096) as connection:
        connection.sendall(server.head("/crowded/logs/grows"))
        got = connection.recv(4096)
        with path.open("ab") as file:
            file.write(b"b" * 1_000_000)
        got += server.everything(connection)
    head, _, body = got.partition(b"\r\n\r\n")
    assert b"Content-Length: 3000000" in head
    assert body == b"a" * 3_000_000


def test_a_file_that_is_replaced_is_sent_as_it_was(server, crowded):
    path = crowded / "logs" / "replaced"
    path.write_bytes(b"a" * 3_000_000)
    with server.connect(receive_bytes=4096) as connection:
        connection.sendall(server.head("/crowded/logs/replaced"))
        got = connection.recv(4096)
        other = path.with_name("other")
        other.write_bytes(b"b" * 5_000_000)
        other.replace(path)
        got += server.everything(connection)
    assert got.partition(b"\r\n\r\n")[2] == b"a" * 3_000_000
    assert server.ask("/crowded/logs/replaced").body == b"b" * 5_000_000


def test_a_file_that_is_cut_while_it_is_sent_ends_the_connection(server, crowded):
    """The client must not wait for the rest, nor take the next answer for it."""
    path = crowded / "logs" / "cut"
    path.write_bytes(b"a" * 30_000_000)
    with server.connect(receive_bytes=4096) as connection:
        connection.sendall(server.head("/crowded/logs/cut").replace(b"Connection: close\r\n", b""))
        got = len(connection.recv(4096))
        os.truncate(path, 1_000_000)
        with contextlib.suppress(ConnectionResetError):
            got += len(server.everything(connection))
    assert got < 30_000_000


def test_what_the_server_may_not_read_is_refused(stranger, crowded):
    path = crowded / "logs" / "private"
    path.write_bytes(SECRET)
    path.chmod(0)
    answer = stranger.ask("/crowded/logs/private")
    assert answer.status == 403
    assert SECRET not in answer.body


def test_a_connection_is_used_again_after_each_kind_of_answer(server):
    picture = "/done/products/w/w_d01_00010101T000000.png"
    token = {"Authorization": f"Bearer {server.token}"}
    asked = [
        (picture, {}, 200),
        (picture, {"Range": "bytes=5-9"}, 206),
        (picture, {"If-None-Match": "*"}, 304),
        (picture, {"If-Match": '"x"'}, 412),
        (picture, {"Range": "bytes=999999999-"}, 416),
        ("/done/products/w/none.png", {}, 404),
        ("/done/journal.jsonl", {"Accept-Encoding": "gzip"}, 200),
        ("/done/status.json", {}, 200),
        ("/done/products/index.html", {}, 200),
    ]
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    with contextlib.closing(connection):
        sockets = set()
        for place, headers, status in asked:
            connection.request("GET", server.folder + place, headers=token | headers)
            response = connection.getresponse()
            assert response.status == status
            response.read()
            sockets.add(connection.sock)
    assert len(sockets) == 1
