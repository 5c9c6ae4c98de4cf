"""The recipes that tests share, as text; ``{capacity}`` is filled in by the case of a run."""

from __future__ import annotations

ANY = """\
title = "Any program"
[simulation]
model = "command"
command = ["./model.sh"]
frames = "out_*.nc"
inputs = "inputs"
[buffer]
capacity = "1 MiB"
[[product]]
name = "t2"
kind = "map"
variable = "T2"
"""
"""Any program that writes frames, and a map of them."""


def wrf_recipe(
    title: str, *more: str, level: int = 5, limit: float | None = 2, buffer: str = ""
) -> str:
    """A run of a stand-in for WRF with a map of W at a level, within -``limit`` and ``limit``;
    ``more`` follows, ``buffer`` is a further line of its table."""
    limits = "" if limit is None else f"limits = [-{limit:g}, {limit:g}]\n"
    return f"""
title = "{title}"
[simulation]
model = "wrf"
inputs = "inputs"
[buffer]
capacity = "{{capacity}}"
{buffer}
[[product]]
name = "w"
kind = "map"
variable = "W"
level = {level}
{limits}{"".join(more)}"""


def guarded_recipe(title: str, variable: str, guards: str) -> str:
    """A run of a program with one map, named after its variable in small letters, and guards."""
    return f"""
title = "{title}"
[simulation]
model = "command"
command = ["./model.sh"]
frames = {{ d01 = "a_*.nc" }}
inputs = "inputs"
[[product]]
name = "{variable.lower()}"
kind = "map"
variable = "{variable}"
{guards}"""


RIGHT = """\
title = "Storm"
[parameters]
nodes = { type = "int", default = 2 }
[simulation]
model = "command"
command = ["./model.sh"]
frames = "out_*.nc"
inputs = "inputs"
nodes = "{nodes}"
[buffer]
capacity = "1 GiB"
[stage_out]
keep = ["*.nc"]
[[step]]
name = "prepare"
command = ["./prepare", "{braces}"]
before = "simulation"
[[product]]
name = "storm"
kind = "track"
variable = "slp"
[[product]]
name = "t2"
kind = "map"
variable = "sqrt(T2)"
colormap = "viridis"
crop = { follow = "track:storm", half_width = 3 }
contours = [{ variable = "P", colour = "red" }, { variable = "Q", interval = 2 }]
[[product]]
name = "cut"
kind = "section"
variable = "W"
start = { i = 1, j = 2 }
end = { i = 5, j = 2 }
[[product]]
name = "mine"
kind = "command"
command = ["sh", "{frame}", "{out}"]
[[guard]]
variable = "W"
min = -80
max = 80
[[guard]]
expression = "max(W) > 80"
"""
