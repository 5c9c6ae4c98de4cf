"""What a run will do, before it starts: the plan, the batch scripts, the findings of ``check``.

``commands`` has the functions behind ``check``, ``plan`` and ``run`` in Python, ``look``,
``folder_reader`` and ``inside`` those that prepare runs of others, ``tuning`` those behind
``tune``; ``buffer_worth`` compares the buffer with the parallel file system. Imports every other
package of ``workflows``.
"""

__all__ = [
    "buffer_worth",
    "capacity",
    "commands",
    "folder_reader",
    "inside",
    "io_probe",
    "look",
    "report",
    "tuning",
]
