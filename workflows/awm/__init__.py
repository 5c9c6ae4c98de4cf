"""awm, the bundled seismic model: 3-D elastic waves of a point source, a program of its own.

``python -m burstlens.workflows.awm PARAMETERS.toml`` runs it in its working folder. It solves the
isotropic velocity-stress equations on a staggered grid, 4th order in space and 2nd in time
(Virieux 1986, Geophysics 51; Olsen 1994, thesis, Utah; Graves 1996, BSSA 86), under a free surface
(Kristek, Moczo & Archuleta 2002, Stud. Geophys. Geod. 46) and inside convolutional perfectly
matched layers (Komatitsch & Martin 2007, Geophysics 72).

Axes: x east, y north, z up, in metres, z = 0 at the free surface, so that z is negative inside the
Earth. Index order of every 3-D array is (z, y, x), z ascending. Velocities are those of times
n * step_s exactly; stresses lie half a step later.

``adapter`` is its adapter, a leaf room's: the registry of models reaches it by a string. It imports
only modules that are light, ``models`` and what is below that.
"""

__all__ = ["adapter"]
