"""The run: from a recipe to a directory of products.

Rooms from the bottom up: ``models`` (one adapter per simulation code), ``frames`` (when is a frame
whole), ``notify`` (word to people and programs), ``guards`` (conditions), ``hints`` (MPI-IO hints
and stripes), ``recipe`` (what the user wrote, checked), ``placement`` (where things run),
``making`` (what workers do), ``publishing`` (products under their final names, ``status.json``),
``ordering`` (what is made next), ``driver`` (the loop) and ``plan`` (what a run will do, before it
starts). ``recipes`` holds the recipes that ship. A room may import the rooms below it, ``viz``,
``cluster_configs``, ``stagers`` and ``core``.

Leaf rooms, which none of these needs: ``awm`` (the bundled seismic model), ``buffer_worth`` (when a
burst buffer pays), ``iostats`` (what a program's I/O took), ``iostudy`` (I/O of real codes without
the codes), ``look`` (runs that others started), ``tuning`` (of
a recipe's output).
"""

__all__ = [
    "awm",
    "buffer_worth",
    "driver",
    "frames",
    "guards",
    "hints",
    "iostats",
    "look",
    "making",
    "models",
    "notify",
    "ordering",
    "placement",
    "plan",
    "publishing",
    "recipe",
    "tuning",
]
