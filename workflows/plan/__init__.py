"""What a run will do, before it starts: the plan, the batch scripts, the findings of ``check``.

``commands`` has the functions behind ``check``, ``plan`` and ``run`` in Python, ``look``,
``folder_reader`` and ``inside`` those that prepare runs of others, ``tuning`` those behind
``tune``. Imports every other room of ``workflows`` but the leaf rooms.
"""

__all__ = [
    "capacity",
    "commands",
    "folder_reader",
    "inside",
    "io_probe",
    "look",
    "report",
    "tuning",
]
