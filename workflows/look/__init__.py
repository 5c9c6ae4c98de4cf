"""Runs that others started, looked at: ``burstlens look``.

``options`` is what a look was asked for, by the first and by the latest one, ``folder`` recognises
what lies in the folder, ``preparation`` makes the run, ``folder_reader`` reads its folder in a
child process that a file server may hold up, ``job_node`` asks the node of a job that alone sees
the folder. ``observer`` stands in the supervisor's place, ``driving`` is the driver's side. A leaf
room: imports ``plan`` and what is below it.
"""

__all__ = ["driving", "folder", "folder_reader", "job_node", "options", "preparation"]
