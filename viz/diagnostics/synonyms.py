"""Names of quantities in other tools, for messages on an unknown name."""

from __future__ import annotations

from collections.abc import Container

SYNONYMS = {
    "avo": "absolute_vorticity", "cape_2d": "mu_cape", "ctt": "cloud_top_temperature",
    "dbz": "reflectivity", "div": "divergence", "eth": "theta_e", "geopt": "height",
    "max_dbz": "reflectivity_max", "mcape": "mu_cape", "mcin": "mu_cin",
    "mdbz": "reflectivity_max", "mslp": "slp", "p": "pressure", "precip": "rain",
    "pres": "pressure", "pw": "precipitable_water", "pwat": "precipitable_water", "rh2": "rh_2m",
    "tc": "temperature", "td": "dew_point", "td2": "dew_point_2m", "temp": "temperature",
    "th": "theta", "tk": "temperature", "uh": "updraft_helicity", "uhel": "updraft_helicity",
    "uvmet10": "wind10", "vort": "vorticity", "wdir": "wind_direction",
    "wdir10": "wind10_direction", "ws10": "wind10", "wspd": "wind", "wspd10": "wind10",
    "wspd_wdir": "wind", "wspd_wdir10": "wind10", "z": "height",
}  # fmt: skip
"""Names of wrf-python's ``getvar`` and NCL's ``wrf_user_getvar``, and usual short ones, in lower
case, each with the name of a diagnostic."""

_ALIKE: tuple[tuple[str, ...], ...] = (
    ("2t", "t2m", "t2", "tas"), ("2d", "d2m", "td2", "dew_point_2m"), ("skt", "tsk", "ts"),
    ("10u", "u10", "uas", "u10m"), ("10v", "v10", "vas", "v10m"), ("100u", "u100"),
    ("100v", "v100"), ("10fg", "fg10", "i10fg", "wsgsmax"), ("10si", "si10", "sfcwind", "ws10"),
    ("msl", "psl", "slp", "mslp", "prmsl"), ("sp", "psfc", "ps"), ("tp", "pr", "rain"),
    ("sst", "tos"), ("ci", "siconc"), ("tcc", "clt"), ("tcwv", "prw", "precipitable_water"),
    ("gh", "zg", "hgt"), ("r", "hur", "rh"), ("q", "hus", "qvapor"), ("orog", "hgt"),
)  # fmt: skip
"""Short names of ECMWF, those that cfgrib, CMIP and WRF have for the same, in lower case."""


def same_quantity(name: str, known: Container[str]) -> str:
    """A name that is known for the quantity that another tool calls ``name``; "" if none is."""
    for names in _ALIKE:
        if name.casefold() in names:
            for spelling in (text for other in names for text in (other, other.upper())):
                if spelling != name and spelling in known:
                    return spelling
    return ""
