"""The driver: the loop that takes reports, decides, submits, and ends the run.

``run`` creates and executes a run, ``addition`` adds products to one, ``free`` gives its buffer
back, ``detach`` starts a driver that outlives the terminal. Imports the rooms of ``workflows``
below it; nothing of it is imported by them.
"""

__all__ = ["addition", "detach", "free", "run"]
