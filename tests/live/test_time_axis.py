"""Model times on the page, as the page's own modules read and label them."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from typing import Any

import pytest

from burstlens.core import valid_time

NODE = shutil.which("node")
pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(NODE is None, reason="no Node.js"),
]
KEYS = [
    valid_time.elapsed_key(seconds) for seconds in (-3e9, -1.25, -0.0015, 0, 2e-9, 12.5, 9e11)
] + [
    valid_time.parse_key(text)
    for text in (
        "-2099-01-01", "-0001-12-31 06:00", "0000-02-29", "0001-01-01", "1582-10-04", "1582-10-15",
        "2005-08-28 12:30", "2020-06-01 12:00:00.25", "9999-12-31 23:59:59", "10000-01-01",
    )
]  # fmt: skip
CALENDARS = (
    "", "standard", "julian", "noleap", "all_leap", "360_day", "standard_with_year_0",
    "julian_with_year_0",
)  # fmt: skip


def computed(code: str, given: Any) -> Any:
    """What the JavaScript returns of ``given``, with the page's modules of times at hand."""
    folder = files("burstlens") / "viz" / "live" / "elements"
    lines = [
        f'import * as {name} from "{folder}/{name}.js";'
        for name in ("axis", "calendars", "valid_time")
    ]
    text = "\n".join([*lines, f"const given = {json.dumps(given)};",
                      f"console.log(JSON.stringify({code}));"])  # fmt: skip
    assert NODE is not None
    done = subprocess.run(
        [NODE, "--input-type=module", "-"], input=text, text=True, capture_output=True, check=True
    )
    return json.loads(done.stdout)


def test_keys_mean_on_the_page_what_they_mean_elsewhere():
    read = computed(
        "given[0].map((key) => [valid_time.timeLabel(key),"
        " ...given[1].map((calendar) => valid_time.timeSeconds(key, calendar))])",
        [KEYS, CALENDARS],
    )
    assert read == [
        [valid_time.label(key), *(valid_time.seconds(key, calendar) for calendar in CALENDARS)]
        for key in KEYS
    ]


@pytest.mark.parametrize(
    ("first", "last", "calendar", "labels"),
    [
        ("-2099-01-01", "-1899-01-01", "noleap", ["-2000", "-1900"]),
        ("9999-01-01", "10002-01-01", "noleap", ["9999", "10000", "10001", "10002"]),
        ("-0002-01-01", "0001-01-01", "noleap", ["-0002", "-0001", "0000", "0001"]),
        ("-0001-01-01", "0001-01-01", "standard_with_year_0", ["-0001", "0000", "0001"]),
        ("1991-02-27", "1991-03-03", "360_day", ["27 Feb", "29 Feb", "1 Mar", "3 Mar"]),
        ("2004-11-01", "2005-09-01", "", ["28 Dec 2004", "26 Jun 2005"]),
        ("2020-06-01 12:00", "2020-06-01 12:00:01", "", ["12:00:00.0", "12:00:00.5", "12:00:01.0"]),
    ],
)
def test_labels_of_an_axis_are_dates_of_its_calendar_and_differ(first, last, calendar, labels):
    keys = [valid_time.parse_key(first), valid_time.parse_key(last)]
    shown = computed("axis.modelTimeAxis(given[0], given[1]).x.ticks", [keys, calendar])
    assert [label for _, label in shown] == labels
