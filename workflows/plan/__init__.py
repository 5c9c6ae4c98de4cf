"""What a run will do, before it starts: the plan, the batch scripts, the findings of ``check``.

``commands`` has the functions behind ``check``, ``plan`` and ``run`` in Python. Imports every other
room of ``workflows`` but the leaf rooms.
"""

__all__ = ["capacity", "commands", "hints", "io_probe", "report"]
