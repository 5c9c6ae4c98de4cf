"""What a program's I/O took, from what its libraries reported; and what to try.

``block`` is one report of an MPI library, ``mpiio_blocks`` finds them in a log line by line.
Imports ``core``; no other room of ``workflows``, so that watcher, guards and commands can use it.
"""

__all__ = ["block", "mpiio_blocks"]
