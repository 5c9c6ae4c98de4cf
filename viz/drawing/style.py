"""All style settings: colours of quantities, their names in words, fonts and greys.

Colour maps are perceptually uniform: cmocean (Thyng et al. 2016, Oceanography 29(3)) and
Scientific colour maps (Crameri et al. 2020, Nature Communications 11, 5444). Reflectivity and rain
have the steps and colours that forecasters read without a legend.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import Any

from burstlens.core.errors import RecipeError
from burstlens.core.nearness import did_you_mean
from burstlens.core.units import usual

FONT = "DejaVu Sans"
"""A font that ships with matplotlib, so that a picture looks the same on every machine."""
INK = "#1b1f24"
FAINT = "#66707a"
COAST = "#532f0e"
"""For coasts, lakes and borders: brown, so that they are not taken for the black isolines."""
EPICENTRE = "#e3120b"
FRAME = "#8b949e"
MISSING = "#c9ccd0"
"""Colour of points without a value."""
LABEL: dict[str, Any] = {"boxstyle": "square,pad=0.12", "fc": "white", "ec": "none", "alpha": 0.8}
"""Background of texts within a map, on which ink is legible whatever the colours below it are; a
halo would take ten times as long to draw."""
CALM = "#f1f2f4"
"""Background of a placeholder, and of a map outside its domain."""

_SPEED = re.compile(r"speed|magnitude|gust|friction", re.IGNORECASE)
_OF_SPEED = re.compile(r"^(k|c|m|µ)?m (s|h)-1$|^kn$")
_SIGNED_WORDS = re.compile(
    r"stress|displacement|vorticity|divergence|helicity|anomal|departure|tendenc|increment",
    re.IGNORECASE,
)
CIRCLE = "cmocean.phase"
"""The colours of a direction: those of 0 and 360 degrees are the same."""
_COLOURS: tuple[tuple[str, str], ...] = (
    (r"^(K|degC|degF)$", "cmocean.thermal"),
    (r"^(g|kg) kg-1$", "cmocean.rain"),
    (r"^(mm|kg m-2)$", "cmocean.rain"),
    (r"^W m-2$", "cmocean.solar"),
    (r"^J kg-1$", "cmocean.matter"),
    (r"^degrees$", CIRCLE),
    (r"^(m|cm|mm|km) (s|h)-1$|^kn$", "cmocean.speed"),
)


@dataclass(frozen=True, slots=True)
class Scale:
    """Colours in steps: ``colours[n]`` between ``edges[n]`` and ``edges[n + 1]``.

    ``units`` are all equivalent spellings, as for water on the ground.
    """

    units: tuple[str, ...]
    edges: tuple[float, ...]
    colours: tuple[str, ...]
    below: str
    above: str
    names: tuple[str, ...] = ()
    """Labels of the colours, instead of their edges."""


_PALE = "#f4f5f6"
_NWS = (
    "#04e9e7", "#019ff4", "#0300f4", "#02fd02", "#01c501", "#008e00", "#fdf802",
    "#e5bc00", "#fd9500", "#fd0000", "#d40000", "#bc0000", "#f800fd", "#9854c6",
)  # fmt: skip
"""The US National Weather Service's, as its radar and precipitation pages show them."""
SCALES = {
    # NWS WSR-88D base reflectivity: 5 dBZ per colour, from 5 dBZ.
    "nws_reflectivity": Scale(("dBZ",), tuple(range(5, 80, 5)), _NWS, _PALE, "#fdfdfd"),
    # NWS Advanced Hydrologic Prediction Service, observed precipitation, its steps of inches
    # (0.01, 0.10, 0.25 ... 10) as round millimetres.
    "nws_rain": Scale(
        ("mm", "kg m-2"), (0.2, 2, 5, 10, 25, 40, 50, 65, 75, 100, 125, 150, 200, 250, 400),
        _NWS, _PALE, "#fdfdfd",
    ),
    # The same colours for amounts in an hour: light rain to 2.5, moderate to 10, heavy to 50 mm h-1
    # (WMO-No. 8, Guide to Instruments and Methods of Observation).
    "rain_rate": Scale(
        ("mm h-1",), (0.1, 0.5, 1, 2.5, 5, 7.5, 10, 15, 20, 25, 30, 40, 50, 75, 100), _NWS, _PALE,
        "#fdfdfd",
    ),
    # USGS ShakeMap (Techniques and Methods 12-A1), the colours of its whole intensities.
    "shakemap": Scale(
        ("1",), tuple(n + 0.5 for n in range(11)),
        ("#ffffff", "#bfccff", "#a0e6ff", "#80ffff", "#7aff93", "#ffff00", "#ffc800", "#ff9100",
         "#ff0000", "#c80000"),
        "#ffffff", "#800000",
        ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X"),
    ),
}  # fmt: skip
"""Colours in steps, by the name that a recipe may also use for them."""

_SIGNED = "cmocean.balance"
_DEFAULT = "cmcrameri.batlow"
_NAMES = {
    "T2": "2 m temperature",
    "TH2": "2 m potential temperature",
    "Q2": "2 m water vapour mixing ratio",
    "U10": "10 m wind, x component",
    "V10": "10 m wind, y component",
    "PSFC": "Surface pressure",
    "TSK": "Surface skin temperature",
    "HGT": "Terrain height",
    "U": "Wind, x component",
    "V": "Wind, y component",
    "W": "Vertical wind",
    "T": "Potential temperature minus 300 K",
    "QVAPOR": "Water vapour mixing ratio",
    "QCLOUD": "Cloud water mixing ratio",
    "QRAIN": "Rain water mixing ratio",
    "QICE": "Ice mixing ratio",
    "QSNOW": "Snow mixing ratio",
    "QGRAUP": "Graupel mixing ratio",
    "RAINC": "Accumulated cumulus precipitation",
    "RAINNC": "Accumulated grid-scale precipitation",
    "PBLH": "Boundary layer height",
    "REFL_10CM": "Radar reflectivity",
}
_OF_WRF = {
    "T": "perturbation potential temperature", "U": "x-wind", "V": "y-wind", "W": "z-wind",
}  # fmt: skip
"""How WRF's description of a name begins that other models use as well (Registry.EM_COMMON)."""


def words(name: str, long_name: str) -> str:
    """The name of a variable in words, for a title; WRF's upper-case descriptions are replaced."""
    text = _NAMES.get(name, long_name)
    if re.fullmatch(r"[a-z]+(?:_[a-z0-9]+)+", text) and text != name:  # a standard name of CF
        text = text.replace("_", " ")
    if name in _OF_WRF and not long_name.lower().startswith(_OF_WRF[name]):
        text = long_name
    # An expression stays as written: theta_e must not become Theta_e.
    expression = name.startswith(text) and not text.isalpha()
    return text if expression else text[:1].upper() + text[1:]


def luminance(colour: str) -> float:
    """Relative luminance, from 0 (black) to 1 (white): WCAG 2.1, "relative luminance"."""
    from matplotlib.colors import to_rgb

    parts = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in to_rgb(colour))
    weights = (0.2126, 0.7152, 0.0722)
    return sum(weight * part for weight, part in zip(weights, parts, strict=True))


def legible(colour: str) -> str:
    """The colour of words on :data:`LABEL`: the one asked for where it is dark enough, else ink.

    Contrast: WCAG 2.1, success criterion 1.4.3, 4.5 to 1 on the darkest such background.
    """
    ground = luminance(str(LABEL["alpha"]))  # a grey: white over black
    return colour if (ground + 0.05) / (luminance(colour) + 0.05) >= 4.5 else INK


def is_signed(units: str, long_name: str, low: float, high: float) -> bool:
    """Whether zero is the natural middle of the field: velocities, stresses, rotation."""
    is_velocity = _OF_SPEED.search(usual(units)) and not _SPEED.search(long_name)
    return bool(is_velocity or _SIGNED_WORDS.search(long_name)) and low < 0


def colormap_name(units: str, long_name: str, signed: bool) -> str:
    """The default colour map of a quantity."""
    if signed:
        return _SIGNED
    if re.search("rain|precip", long_name, re.IGNORECASE):
        return "cmocean.rain"
    if "humidity" in long_name.lower():  # dry is brown, moist is green
        return "matplotlib.BrBG"
    if "CIN" in long_name:  # negative: zero is pale, as for CAPE
        return "cmocean.matter_r"
    units = usual(units)
    return next((name for unit, name in _COLOURS if re.search(unit, units)), _DEFAULT)


def scale_name(units: str, name: str, long_name: str) -> str | None:
    """The colour steps that a quantity is always shown in; None for most quantities."""
    units = usual(units)
    if units in SCALES["nws_reflectivity"].units:
        return "nws_reflectivity"
    if name == "intensity" and units in SCALES["shakemap"].units:
        return "shakemap"
    # RAINC, RAINNC and their kin: amounts on the ground, not mixing ratios in the air.
    wet = re.search(r"rain|precip(?!itable)", f"{name} {long_name}", re.IGNORECASE)
    scales = ("nws_rain", "rain_rate")
    return next((name for name in scales if wet and units in SCALES[name].units), None)


def colormap(name: str) -> Any:
    """The matplotlib colour map of that name, from cmocean, cmcrameri or matplotlib.

    A bare name is looked up in all three, ``cmocean.balance`` and ``cmcrameri.vik`` in the one
    named; the names of :data:`SCALES` work too. Raises RecipeError with near names.
    """
    import matplotlib
    from matplotlib.colors import ListedColormap

    with warnings.catch_warnings():
        # cmocean 4.0 uses what matplotlib 3.11 calls deprecated: a user cannot fix that.
        warnings.simplefilter("ignore", DeprecationWarning)
        from cmcrameri import cm as crameri
        from cmocean import cm as ocean

    if name in SCALES:
        scale = SCALES[name]
        colours = ListedColormap(scale.colours, name)
        return colours.with_extremes(bad=MISSING, under=scale.below, over=scale.above)
    library, _, bare = name.rpartition(".")
    sources: dict[str, Any] = {
        "cmocean": ocean.cmap_d,
        "cmcrameri": crameri.cmaps,
        "matplotlib": matplotlib.colormaps,
    }
    for source, maps in sources.items():
        if library in ("", source) and bare in maps:
            return maps[bare].with_extremes(bad=MISSING)
    known = [*SCALES, *(bare for maps in sources.values() for bare in maps)]
    raise RecipeError(f"there is no colour map {name!r}{did_you_mean(bare, known)}")
