"""What a run's driver decides: a state that takes events and gives instructions, without I/O.

``state`` is what all kinds of runs share, with the base class of their policies; ``launched`` is
the policy of runs that launch their model, of ``jobs`` with the ``steps`` around the simulation,
``homecoming``, ``steering``, ``next_job``, which is submitted ahead, ``job_change``, where the next
attempt has a buffer of its own, ``checkpoints`` with their ``home_copies``, and ``target``, a run
directory that cannot be written; ``buffered`` is what it shares with tunings, whose policy lies in
their room, as that of looks in theirs. Imports ``ordering`` and what that imports.
"""

__all__ = [
    "buffered",
    "checkpoints",
    "home_copies",
    "homecoming",
    "job_change",
    "jobs",
    "launched",
    "segments",
    "state",
    "steering",
    "target",
]
