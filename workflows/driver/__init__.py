"""The driver: a loop that does what a run's state decides.

``loop`` tells the state what happened, and carries out what it wants done: with ``dispatch`` what
workers do and publication, with ``launching`` jobs; ``inbox`` has what people and guards leave.
``run`` creates and executes a run, ``run_kinds`` says how one of each kind is driven, ``resuming``
what can be taken up of one, ``addition`` adds products to one, ``free`` gives its buffer back,
``detach`` starts a driver that outlives the terminal. Imports the rooms of ``workflows`` below it;
they import nothing from it.
"""

__all__ = [
    "addition",
    "continuing",
    "detach",
    "dispatch",
    "free",
    "inbox",
    "launching",
    "loop",
    "resuming",
    "run",
    "run_kinds",
    "scheduling",
]
