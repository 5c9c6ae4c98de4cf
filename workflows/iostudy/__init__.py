"""iostudy, a program that writes and reads as real codes do: the I/O of a model without the model.

``iostudy.c`` is the program, for MPI, and ``study.h`` what it reads; ``profile`` describes a case
(who writes how much, in which pieces, how often), ``build`` compiles it with the site's MPI
compiler and writes what it reads, the netCDF header of its files as well.
``python -m burstlens.workflows.iostudy PROFILE.toml`` does all that in its working folder. The
recipes that ship as ``io-*`` use it. Imports ``core`` only.
"""

__all__ = ["build", "profile"]
