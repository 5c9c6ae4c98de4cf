"""What a run will do, before it starts: the plan, the batch scripts, the findings of ``check``.

``commands`` has the functions behind ``check``, ``plan`` and ``run`` in Python, ``look`` and
``inside`` those that prepare runs of others, ``tuning`` those behind ``tune``. Imports every other
package of ``workflows``.
"""

__all__ = ["capacity", "commands", "inside", "look", "report", "tuning"]
