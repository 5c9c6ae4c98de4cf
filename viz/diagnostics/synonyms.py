"""Names of our diagnostics in other tools, for messages on an unknown name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

SYNONYMS: Mapping[str, str] = MappingProxyType(
    {
        "avo": "absolute_vorticity",
        "cape_2d": "mu_cape",
        "ctt": "cloud_top_temperature",
        "dbz": "reflectivity",
        "div": "divergence",
        "eth": "theta_e",
        "geopt": "height",
        "max_dbz": "reflectivity_max",
        "mcape": "mu_cape",
        "mcin": "mu_cin",
        "mdbz": "reflectivity_max",
        "mslp": "slp",
        "p": "pressure",
        "precip": "rain",
        "pres": "pressure",
        "pw": "precipitable_water",
        "pwat": "precipitable_water",
        "rh2": "rh_2m",
        "tc": "temperature",
        "td": "dew_point",
        "td2": "dew_point_2m",
        "temp": "temperature",
        "th": "theta",
        "tk": "temperature",
        "uh": "updraft_helicity",
        "uhel": "updraft_helicity",
        "uvmet10": "wind10",
        "vort": "vorticity",
        "wdir": "wind_direction",
        "wdir10": "wind10_direction",
        "ws10": "wind10",
        "wspd": "wind",
        "wspd10": "wind10",
        "wspd_wdir": "wind",
        "wspd_wdir10": "wind10",
        "z": "height",
    }
)
"""Names of wrf-python's ``getvar`` and NCL's ``wrf_user_getvar``, and usual short ones, in lower
case, each with the name of a diagnostic."""
