"""What a program's I/O took, from what its libraries reported; and what to try.

``logs`` reads any log as a ``summary``: totals and one entry per file, whatever the source.
``advice`` says what to try and which number caused it, ``comparison`` lays two summaries side by
side, ``document`` is JSON of them. ``block`` is one report of an MPI library, ``mpiio_blocks``
finds them in a log line by line, ``mpiio_log`` makes files of them.
Darshan logs are read by a process of its own (``darshan_records``).
A leaf room: the watcher reaches it by ``frames/log_search``. Imports ``core``.
"""

__all__ = [
    "advice",
    "block",
    "comparison",
    "document",
    "logs",
    "merging",
    "mpiio_blocks",
    "mpiio_log",
    "rule",
    "summary",
]
