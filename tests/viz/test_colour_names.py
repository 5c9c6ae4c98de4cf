from __future__ import annotations

import subprocess
import sys

import pytest
from matplotlib.colors import is_color_like

from burstlens.viz.drawing import style
from burstlens.viz.drawing.colour_names import COLOURS, MAPS, check_colormap, check_colour


def test_the_libraries_have_every_listed_name():
    for library, names in MAPS.items():
        for name in names:
            assert style.colormap(f"{library}.{name}")
            assert style.colormap(f"{library}.{name}_r")
    assert all(map(is_color_like, COLOURS))


@pytest.mark.parametrize(
    "name", ["viridis", "batlow_r", "cmocean.balance", "cmcrameri.batlowS", "nws_rain", "shakemap"]
)
def test_colour_maps_pass(name):
    assert check_colormap(name) == name


@pytest.mark.parametrize(
    "name", ["red", "Black", "#c8503c", "#fff", "#11223344", "C1", "k", "0.5", "tab:blue", "none"]
)
def test_colours_pass(name):
    assert check_colour(name) == name


@pytest.mark.parametrize("name", ["virdis", "cmocean.viridis", "nowhere.balance", "actonS_r", ""])
def test_an_unknown_colour_map_is_refused(name):
    with pytest.raises(ValueError, match="there is no colour map"):
        check_colormap(name)


@pytest.mark.parametrize(
    ("name", "message"), [("blakc", "did you mean black"), ("#12", "not a col"), ("", "not a col")]
)
def test_an_unknown_colour_is_refused_with_near_names(name, message):
    with pytest.raises(ValueError, match=message):
        check_colour(name)


@pytest.mark.integration
def test_the_usual_names_are_checked_without_matplotlib():
    code = (
        "import sys; from burstlens.viz.drawing.colour_names import check_colormap, check_colour;"
        "check_colormap('cmocean.thermal'); check_colour('red'); check_colour('#c8503c');"
        "assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
