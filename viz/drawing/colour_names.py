"""Names of colours and colour maps, checked with the recipe.

Importing matplotlib, cmocean and cmcrameri for all of their names takes about a second. So the
usual names are listed here, and the libraries are imported only for a name that is not listed.
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

from burstlens.core.errors import RecipeError
from burstlens.core.nearness import did_you_mean

MAPS = {
    "cmocean": """
    algae algae_i amp amp_i balance balance_i curl curl_i deep deep_i delta delta_i dense
    dense_i diff diff_i gray gray_i haline haline_i ice ice_i matter matter_i oxy oxy_i
    phase phase_i rain rain_i solar solar_i speed speed_i tarn tarn_i tempo tempo_i thermal
    thermal_i topo topo_i turbid turbid_i
    """.split(),  # noqa: SIM905
    "cmcrameri": """
    acton bam bamako bamO batlow batlowK batlowW berlin bilbao broc brocO buda bukavu cork
    corkO davos devon fes glasgow grayC hawaii imola lajolla lapaz lipari lisbon managua
    navia nuuk oleron oslo roma romaO tofino tokyo turku vanimo vik vikO
    """.split(),  # noqa: SIM905
    "matplotlib": """
    Accent afmhot autumn binary Blues bone BrBG brg BuGn BuPu bwr cividis CMRmap cool
    coolwarm copper cubehelix Dark2 flag gist_earth gist_gray gist_grey gist_heat gist_ncar
    gist_rainbow gist_stern gist_yarg gist_yerg GnBu gnuplot gnuplot2 Grays Greens grey
    Greys hot hsv inferno jet magma nipy_spectral ocean okabe_ito Oranges OrRd Paired
    Pastel1 Pastel2 pink PiYG plasma PRGn prism PuBu PuBuGn PuOr PuRd Purples rainbow RdBu
    RdGy RdPu RdYlBu RdYlGn Reds seismic Set1 Set2 Set3 Spectral spring summer tab10 tab20
    tab20b tab20c terrain turbo twilight twilight_shifted viridis winter Wistia YlGn YlGnBu
    YlOrBr YlOrRd
    """.split(),  # noqa: SIM905
}
"""The colour maps of each library; with ``_r`` appended to its name a map is reversed."""
COLOURS = """
    aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue
    blueviolet brown burlywood cadetblue chartreuse chocolate coral cornflowerblue cornsilk
    crimson cyan darkblue darkcyan darkgoldenrod darkgray darkgreen darkgrey darkkhaki
    darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon darkseagreen
    darkslateblue darkslategray darkslategrey darkturquoise darkviolet deeppink deepskyblue
    dimgray dimgrey dodgerblue firebrick floralwhite forestgreen fuchsia gainsboro
    ghostwhite gold goldenrod gray green greenyellow grey honeydew hotpink indianred indigo
    ivory khaki lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan
    lightgoldenrodyellow lightgray lightgreen lightgrey lightpink lightsalmon lightseagreen
    lightskyblue lightslategray lightslategrey lightsteelblue lightyellow lime limegreen
    linen magenta maroon mediumaquamarine mediumblue mediumorchid mediumpurple
    mediumseagreen mediumslateblue mediumspringgreen mediumturquoise mediumvioletred
    midnightblue mintcream mistyrose moccasin navajowhite navy oldlace olive olivedrab
    orange orangered orchid palegoldenrod palegreen paleturquoise palevioletred papayawhip
    peachpuff peru pink plum powderblue purple rebeccapurple red rosybrown royalblue
    saddlebrown salmon sandybrown seagreen seashell sienna silver skyblue slateblue
    slategray slategrey snow springgreen steelblue tan teal thistle tomato turquoise violet
    wheat white whitesmoke yellow yellowgreen
""".split()  # noqa: SIM905
"""The colour names that CSS and matplotlib share."""
_WRITTEN = re.compile(r"#(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})|C\d|[bgrcmykw]")


def check_colour(name: str) -> str:
    """The name of a colour. Raises ValueError with near names if matplotlib does not know it."""
    if _WRITTEN.fullmatch(name) or name.lower() in COLOURS:
        return name
    from matplotlib.colors import is_color_like

    if not is_color_like(name):
        hint = did_you_mean(name, COLOURS)
        raise ValueError(f'{name!r} is not a colour, such as "red" or "#c8503c"{hint}')
    return name


def check_colormap(name: str) -> str:
    """The name of a colour map. Raises ValueError with near names if no library has it."""
    library, _, bare = name.rpartition(".")
    known = MAPS.get(library, []) if library else [one for maps in MAPS.values() for one in maps]
    if bare.removesuffix("_r") in known:
        return name
    from burstlens.viz.drawing.style import SCALES, colormap

    if name not in SCALES:
        try:
            colormap(name)
        except RecipeError as error:
            raise ValueError(str(error)) from None
    return name


Colour = Annotated[str, AfterValidator(check_colour)]
Colormap = Annotated[str, AfterValidator(check_colormap)]
