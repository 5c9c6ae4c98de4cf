"""The kinds of products, one folder each, all with the same parts.

``base`` is the seam, :class:`.base.ProductKind`, from which each kind derives. In its folder
``options`` are the keys of a ``[[product]]`` table, ``read`` takes what they name from a frame,
``draw`` writes the file, ``kind`` puts the three together; :mod:`burstlens.viz.registry` names them
all. A kind imports what is
below and not its neighbours, except for ``peak``, ``profile``, ``scene`` and ``track_map``, which
are each made of a simpler one.
"""

__all__ = ["base", "command", "map", "shipped", "vtk"]
