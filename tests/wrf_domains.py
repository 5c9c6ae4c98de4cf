"""Domains of WRF in each of its projections, as options of the fixtures that write its files."""

from __future__ import annotations

from typing import Any

import numpy as np

CIRCUMFERENCE = 2 * np.pi * 6370000.0
DOMAINS: dict[str, dict[str, Any]] = {
    "lambert": {
        "map_proj": 1, "TRUELAT1": 30.0, "TRUELAT2": 60.0, "MOAD_CEN_LAT": 39.0,
        "STAND_LON": -97.0,
    },
    "lambert of the south, across the date line": {
        "map_proj": 1, "TRUELAT1": -20.0, "TRUELAT2": -50.0, "MOAD_CEN_LAT": -35.0,
        "STAND_LON": 179.0,
    },
    "the north pole": {"map_proj": 2, "TRUELAT1": 70.0, "STAND_LON": -40.0},
    "the south pole beside its middle": {
        "map_proj": 2, "TRUELAT1": -71.0, "STAND_LON": 170.0, "middle": (4e5, -3e5),
    },
    "mercator across the date line": {
        "map_proj": 3, "TRUELAT1": 5.0, "STAND_LON": -179.0, "middle": (0.0, 5e5),
    },
    "the globe": {
        "map_proj": 6, "CEN_LON": 0.0, "size": (72, 36), "spacing": CIRCUMFERENCE / 72,
    },
    "the globe from the date line": {
        "map_proj": 6, "CEN_LON": 180.0, "size": (72, 36), "spacing": CIRCUMFERENCE / 72,
    },
    "a rotated pole": {
        "map_proj": 6, "POLE_LAT": 39.25, "POLE_LON": 180.0, "STAND_LON": -10.0,
        "middle": (CIRCUMFERENCE / 2, 0.0),
    },
}  # fmt: skip
