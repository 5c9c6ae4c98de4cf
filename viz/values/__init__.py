"""Values beside pictures: a product's field as drawn, quantised, in a script that browsers run.

``options`` is what a recipe says; ``grid`` and ``shown`` are what kinds write values
with; ``script`` and ``lookup`` read both back, a point at a time; ``traces`` writes what
stations recorded; ``frame_cell`` reads a cell from a frame's own file. Imports
``viz.diagnostics``, ``viz.geometry``, ``viz.drawing`` and ``core``; never a kind.
"""

__all__ = ["frame_cell", "grid", "lookup", "names", "options", "script", "shown", "traces"]
