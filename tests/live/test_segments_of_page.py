"""Which attempt owns a valid time, as the page's own module reads it."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files

import pytest

from burstlens.core.run.segments import Segments
from burstlens.core.run.status_file import SegmentPart
from burstlens.core.valid_time import parse_key

NODE = shutil.which("node")
pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(NODE is None, reason="no Node.js"),
]


def test_the_page_s_rule_is_that_of_other_clients():
    parts = [(1, "", "t5"), (3, "t5", "t8"), (4, "t8", "")]
    lines = [
        {"time": time, "attempt": attempt}
        for time in ("t4", "t5", "t6", "t8", "t9")
        for attempt in (0, 1, 2, 3, 4)
    ]
    rule = Segments(tuple(SegmentPart(*one) for one in parts))
    segments = [dict(zip(("attempt", "begin", "end"), one, strict=True)) for one in parts]
    assert computed(
        "given[1].map((line) => new segments.Segments({ segments: given[0] }).isStale(line))",
        [segments[::-1], lines],
    ) == [rule.is_stale(line["time"], line["attempt"]) for line in lines]


def test_times_beside_each_other_are_short():
    times = [parse_key(text) for text in ("2005-08-28 12:00", "2005-08-28 18:00:30", "2005-08-29")]
    assert computed(
        "[[1, 0], [2, 0], [0, 0]].map(([a, b]) => valid_time.shortLabel(given[a], given[b]))", times
    ) == ["18:00:30", "2005-08-29 00:00", "12:00"]
    part = {"attempt": 2, "begin": times[0], "end": times[1]}
    [segment] = computed("new segments.Segments({ segments: given }).all", [part, {"attempt": "x"}])
    assert segment["text"] == "attempt 2, from 2005-08-28 12:00 to 18:00:30"
    [segment] = computed(
        "new segments.Segments({ segments: given }).all",
        [part | {"outcome": "done", "core_hours": 4, "lost_core_hours": 0.2}],
    )
    assert segment["text"].endswith(
        "ended: done, 4 core-hours, 0.2 of them lost while its job waited"
    )


def computed(code, given):
    """What the JavaScript returns of ``given``, with the page's modules at hand."""
    live = files("burstlens") / "viz" / "live"
    lines = [
        f'import * as segments from "{live}/time/segments.js";',
        f'import * as valid_time from "{live}/elements/valid_time.js";',
        f"const given = {json.dumps(given)};",
        f"console.log(JSON.stringify({code}));",
    ]
    done = subprocess.run(
        [NODE, "--input-type=module", "-"], input="\n".join(lines), text=True,
        capture_output=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)
