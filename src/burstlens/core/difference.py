"""Whether a variable is a difference of temperatures, which is converted without an offset.

A difference of 1 K is one of 1 degC. CF conventions 1.11: ``units_metadata`` (3.1.2); older files
show it by the standard name, the cell methods (7.3) or in words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

DIFFERENCE = "temperature: difference"
ON_SCALE = "temperature: on_scale"
"""The ``units_metadata`` of a difference, and of a temperature."""
_STANDARD = re.compile(
    r"(?:^|_)(?:anomaly|tendency|difference|excess|departure|increment|deficit|depression|change)"
    r"(?:_|$)|standard_error|uncertainty"
)
_METHODS = re.compile(r":\s*(?:standard_deviation|range|mean_absolute_deviation)\b")
_WORDS = re.compile(
    r"anomal|differences?\b|deviation|departure|increment|tendenc|\btrends?\b|spread\b"
    r"|(?:standard|analysis|estimated|rms|mean square) error|uncertaint|depression|amplitude"
    r"|temperature range|perturbation|\bdelta\b|\bbias(?![ -]?(?:adjust|correct))"
    r"|\bstd\.?(?:dev)?\b|\bminus\b",
    re.IGNORECASE,
)
_NAMES = re.compile(
    r"anom|(?:^|_)(?:diff|difference|std|stdev|stddev|sd|bias|spread|sprd|err|error|incr?|increment"
    r"|tend|tendency|delta|trend)(?:_|\d|$)|^d(?:elta)?_?(?:t2m?|sst|tas|temp)(?:_|$)",
    re.IGNORECASE,
)


def is_difference(name: str, attributes: Mapping[str, Any]) -> bool:
    """Whether a variable with these attributes is a difference, if it is a temperature.

    >>> is_difference("sst", {"long_name": "Monthly Anomaly of SST", "units": "K"})
    True
    """
    text = {key: str(attributes.get(key, "")) for key in _KEYS}
    if "temperature:" in text["units_metadata"]:
        return DIFFERENCE in text["units_metadata"]
    return bool(
        _STANDARD.search(text["standard_name"])
        or _METHODS.search(text["cell_methods"])
        or any(_WORDS.search(text[key]) for key in ("long_name", "description"))
        or _NAMES.search(name)
    )


_KEYS = ("units_metadata", "standard_name", "cell_methods", "long_name", "description")
