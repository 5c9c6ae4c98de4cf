"""Access: nothing is shown without the token, and browsers do not pass it on."""

from __future__ import annotations

import subprocess
from pathlib import Path
from urllib.parse import parse_qs, quote, urljoin, urlsplit

import pytest

PLACES = ["/", "/runs.json", "/done/status.json", "/done/products/index.html", "/nothing"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "given",
    [None, "Bearer", "Bearer ", "Bearer x", "Bearer \u00e9", "Basic {token}", "{token}"],
)
def test_without_the_token_there_is_nothing_to_see(server, place, given):
    value = given and given.format(token=server.token).encode("latin-1")
    answer = server.ask(place, Authorization=value)
    assert answer.status == 403
    assert b"token" in answer.body
    assert b"Supercell" not in answer.body


@pytest.mark.parametrize("change", ["{0}x", "x{0}", "", "%C3%A9", "{0}&token=x"])
def test_a_wrong_token_in_the_address_opens_nothing(server, change):
    place = f"/?token={change.format(server.token[:-1])}"
    answer = server.ask(place, Authorization=None)
    assert answer.status == 403
    assert "set-cookie" not in answer.headers


def test_the_token_opens_every_place_for_scripts(server):
    assert [server.ask(place).status for place in PLACES] == [200, 200, 200, 200, 404]


def test_the_link_sets_a_cookie_and_leads_to_an_address_without_the_token(server):
    answer = server.ask(f"/?token={server.token}", Authorization=None)
    assert answer.status == 303
    assert answer.headers["location"] == "./"
    cookie, *attributes = answer.headers["set-cookie"].split("; ")
    assert cookie == f"burstlens-{server.port}={server.token}"
    # No path: the browser takes the folder of the address, also behind a proxy's prefix.
    assert sorted(attributes) == ["HttpOnly", "SameSite=Strict"]
    assert server.ask("/runs.json", Authorization=None, Cookie=cookie).status == 200


def test_a_link_to_a_run_sets_its_cookie_for_all_of_them(server):
    """It redirects by the topmost address, which the server knows only relative to the others."""
    first = server.ask(f"/done/products/index.html?token={server.token}", Authorization=None)
    assert "set-cookie" not in first.headers
    up, _, words = first.headers["location"].partition("?")
    assert up == f"../../..{server.folder}/"
    second = server.ask(f"/?{words}", Authorization=None)
    assert "set-cookie" in second.headers
    assert second.headers["location"] == "./done/products/index.html"


@pytest.mark.parametrize("place", ["/", "/earlier/", "/runs.json", "/done/products/index.html"])
def test_outside_its_folder_a_server_gives_nothing_even_with_the_token(server, place):
    answer = server.ask(place, below="")
    assert answer.status == 403
    cookie = f"burstlens-{server.port}={server.token}"
    assert server.ask(place, below="", Authorization=None, Cookie=cookie).status == 403


@pytest.mark.parametrize(
    ("place", "inside"),
    [
        ("/", ""),
        ("/earlier/", ""),
        ("/earlier/done/products/index.html", "done/products/index.html"),
    ],
)
def test_the_token_leads_from_any_address_to_the_same_one_in_the_folder(server, place, inside):
    answer = server.ask(f"{place}?token={server.token}", below="", Authorization=None)
    assert "set-cookie" not in answer.headers
    goal = urlsplit(urljoin(f"http://127.0.0.1{place}", answer.headers["location"]))
    assert goal.path == f"{server.folder}/"
    assert parse_qs(goal.query, keep_blank_values=True) == {
        "token": [server.token], "to": [inside]
    }  # fmt: skip


@pytest.mark.parametrize(
    "goal", ["//evil.example/", "https://evil.example", "\\\\evil", "a\r\nX: y"]
)
def test_the_link_leads_nowhere_else(server, goal):
    answer = server.ask(f"/?token={server.token}&to={quote(goal)}", Authorization=None)
    place = urljoin(server.root, answer.headers["location"])
    assert urlsplit(place).netloc == f"127.0.0.1:{server.port}"
    assert "x" not in answer.headers


def test_another_servers_cookie_opens_nothing(serve, shelf):
    one, other = serve(shelf), serve(shelf)
    given = server_cookie(one)
    assert other.ask("/runs.json", Authorization=None, Cookie=given).status == 403
    renamed = f"burstlens-{other.port}={one.token}"
    assert other.ask("/runs.json", Authorization=None, Cookie=renamed).status == 403


def server_cookie(server):
    answer = server.ask(f"/?token={server.token}", Authorization=None)
    return answer.headers["set-cookie"].split(";")[0]


def test_a_name_that_was_rebound_to_this_machine_opens_nothing(server):
    """A browser that another site's name has led here has no cookie for that name."""
    answer = server.ask("/runs.json", Authorization=None, Host="evil.example")
    assert answer.status == 403


def test_browsers_get_instructions_to_enter(server):
    answer = server.ask("/", Authorization=None, Accept="text/html,*/*")
    assert answer.status == 403
    assert b"burstlens serve" in answer.body
    assert b"refresh" not in answer.body


def test_a_link_on_another_site_is_followed_again_by_a_page_of_our_own(server):
    """Strict cookies do not come along with the first request."""
    asked = {"Accept": "text/html", "Sec_Fetch_Site": "cross-site", "Authorization": None}
    assert b'http-equiv="refresh"' in server.ask("/done/", **asked).body


def test_only_this_machine_can_connect(server):
    sockets = subprocess.run(
        ["ss", "-Hltn", f"sport = :{server.port}"], capture_output=True, text=True, check=True
    )
    listening = {line.split()[3].rpartition(":")[0] for line in sockets.stdout.splitlines()}
    assert "127.0.0.1" in listening
    assert listening <= {"127.0.0.1", "[::1]"}


def test_the_token_stands_in_no_file_and_in_no_programs_arguments(server, shelf):
    token = server.token.encode()
    process = Path("/proc") / str(server.process.pid)
    assert token not in (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
    for path in shelf.parent.rglob("*"):
        if path.is_file():
            assert token not in path.read_bytes(), path


def test_tokens_are_long_and_new_each_time(serve, shelf):
    tokens = {serve(shelf).token for _ in range(2)}
    assert len(tokens) == 2
    assert all(len(token) >= 43 for token in tokens)  # 256 bits


@pytest.mark.parametrize("place", PLACES)
def test_no_address_is_given_away(server, place):
    headers = server.ask(place).headers
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("method", ["OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND"])
def test_other_methods_are_refused(server, method):
    assert server.ask("/done/status.json", method).status == 405
