"""Runs that others started, looked at: ``burstlens look``.

``preparation`` makes the run of a look, ``folder_reader`` reads its folder in a child process that
a file server may hold up, ``job_node`` asks the node of a job that alone sees the folder. A leaf
room: imports ``plan`` and what is below it.
"""

__all__ = ["folder_reader", "job_node", "preparation"]
