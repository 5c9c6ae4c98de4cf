"""The command: what it prints, what it refuses, how it ends."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time

import pytest

from burstlens.core.extras import install_command


def run_serve(*words, env=None, cwd=None):
    """``burstlens serve words`` to its end."""
    return subprocess.run(
        [sys.executable, "-m", "burstlens", "serve", *map(str, words)],
        cwd=cwd,
        env=os.environ | (env or {}),
        capture_output=True,
        text=True,
        timeout=120,
    )


def printed(shelf, *words, **env):
    """Its text output and errors, until it is ended."""
    process = subprocess.Popen(
        [sys.executable, "-m", "burstlens", "serve", str(shelf), *words],
        env=os.environ | env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = []
    while not lines or "Ctrl-C" not in lines[-1]:
        lines.append(process.stdout.readline())
        assert lines[-1], process.stderr.read()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0
    return "".join(lines), errors


def test_it_prints_the_link_the_tunnel_and_how_to_end_it(shelf):
    text, errors = printed(shelf)
    link = re.search(
        r"^  http://127\.0\.0\.1:(\d+)/[0-9a-f]{16}/\?token=[\w-]{43}$", text, re.MULTILINE
    )
    port = link[1]
    assert re.search(rf"^  ssh -N -L {port}:127\.0\.0\.1:{port} \S+@\S+$", text, re.MULTILINE)
    assert str(shelf) in text
    assert "Ctrl-C ends the server" in text
    assert errors == ""


def test_from_a_compute_node_the_tunnel_leads_through_the_login_node(shelf):
    text, _ = printed(shelf, SLURM_JOB_ID="17", SLURM_SUBMIT_HOST="login3")
    assert re.search(r"ssh -N -L \d+:127\.0\.0\.1:\d+ -J \S+@login3 \S+@\S+", text)
    assert "ends with its job" in text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=str)
def test_it_ends_at_once_also_with_open_connections(serve, shelf, number):
    server = serve(shelf)
    idle, reading = server.connect(), server.connect(receive_bytes=4096)
    reading.sendall(server.head("/done/products/index.html") * 50)
    assert reading.recv(10)
    assert server.end(number) == 0  # before either of them is closed
    assert server.errors.read_text() == ""
    idle.close()
    reading.close()


def test_it_outlives_its_terminal_where_that_is_wanted(serve, shelf):
    server = serve(shelf, prefix=("nohup",))
    server.process.send_signal(signal.SIGHUP)
    for _ in range(5):
        assert server.ask("/done/status.json").status == 200
    assert server.end() == 0


def test_more_clients_get_in_than_a_login_shell_lets_in(serve, shelf):
    server = serve(shelf, prefix=("prlimit", "--nofile=64:4096"))
    with contextlib.ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(server.connect())
        assert server.ask("/done/status.json").status == 200


def test_a_user_without_a_name_is_no_reason_to_fail(serve, shelf):
    if os.getuid() != 0:
        pytest.skip("only root may become an unknown user")
    readable = "+dac_override,+dac_read_search"  # what root has made, all the same
    kept = (f"--inh-caps={readable}", f"--ambient-caps={readable}")
    unknown = ("setpriv", "--reuid=54321", "--clear-groups", *kept)
    server = serve(shelf, prefix=unknown, LOGNAME="", USER="", LNAME="", USERNAME="")
    assert "USER@" in server.ssh


def test_a_port_that_is_taken_is_refused(shelf):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        done = run_serve(shelf, "--port", other.getsockname()[1])
    assert done.returncode == 1
    assert "cannot be had on 127.0.0.1" in done.stderr
    assert "--port" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_whose_other_half_belongs_to_another_user_is_refused(shelf):
    """That user would get what a browser sends to "localhost"."""
    try:
        other = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("no IPv6 here")
    with other:
        done = run_serve(shelf, "--port", other.getsockname()[1])
    assert done.returncode == 1
    assert "::1" in done.stderr


def test_the_port_asked_for_is_taken(serve, shelf):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert serve(shelf, "--port", port).port == port


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_an_invalid_port_is_wrong_usage(shelf, port):
    assert run_serve(shelf, "--port", port).returncode == 2


def test_an_unknown_run_is_reported_with_near_names(shelf):
    done = run_serve("dome", env={"BURSTLENS_RUNS": str(shelf)})
    assert done.returncode == 1
    assert "did you mean done?" in done.stderr


@pytest.mark.integration
def test_a_missing_folder_is_reported(tmp_path):
    done = run_serve(tmp_path / "none")
    assert done.returncode == 1
    assert f"no folder of runs at {tmp_path / 'none'}" in done.stderr


def test_without_its_library_it_says_how_to_get_it(shelf, tmp_path):
    (tmp_path / "aiohttp.py").write_text("raise ModuleNotFoundError(\"No module named 'aiohttp'\")")
    done = run_serve(shelf, env={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 1
    assert install_command("serve") in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_display_no_browser_is_opened(shelf):
    text, errors = printed(shelf, "--open", DISPLAY="", WAYLAND_DISPLAY="")
    assert "no display here" in errors
    assert "token=" in text


def test_the_token_is_not_in_the_browsers_arguments(shelf, tmp_path):
    """The arguments of a program are seen by all users of a machine."""
    browser = tmp_path / "browser"
    browser.write_text(
        '#!/bin/sh\necho "$1" > "$0.argument"\nfile="${1#file://}"\n'
        'cp "$file" "$0.page"\nstat -c %a "$(dirname "$file")" > "$0.mode"\n: > "$0.done"\n'
    )
    browser.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-m", "burstlens", "serve", str(shelf), "--open"],
        env=os.environ | {"DISPLAY": ":77", "BROWSER": f"{browser} %s", "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 120
    while not (tmp_path / "browser.done").exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    process.terminate()
    out, _ = process.communicate(timeout=120)
    token = re.search(r"token=([\w-]+)", out)[1]
    argument = (tmp_path / "browser.argument").read_text().strip()
    assert token not in argument
    assert f"?token={token}" in (tmp_path / "browser.page").read_text()
    assert (tmp_path / "browser.mode").read_text().strip() == "700"
    assert not os.path.exists(argument.removeprefix("file://"))


@pytest.mark.integration
def test_other_commands_do_not_load_the_server():
    program = (
        "import sys, burstlens.clients.cli, burstlens.clients.opened.status; "
        "print([name for name in ('aiohttp', 'asyncio') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
