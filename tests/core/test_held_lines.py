from __future__ import annotations

import json
import subprocess
import sys

import pytest


@pytest.mark.integration
def test_lines_that_a_full_disk_refuses_are_held_and_written_in_order(tmp_path):
    path = tmp_path / "journal.jsonl"
    code = f"""
import json, pathlib, resource, signal
from burstlens.core.lines import HeldLines
path = pathlib.Path({str(path)!r})
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
lines = HeldLines(path)
lines.append({{"n": 0}})
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
lines.append({{"n": 1, "pad": "x" * 8000}})
lines.append({{"n": 2}})
try:
    lines.sync()
except OSError as error:
    print(json.dumps([error.errno, path.read_text()]))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
lines.append({{"n": 3}})
lines.close()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    number, meanwhile = json.loads(done.stdout)
    assert number > 0
    assert meanwhile == '{"n":0}\n'  # what comes later never overtakes what is held
    assert [json.loads(line)["n"] for line in path.read_text().splitlines()] == [0, 1, 2, 3]
