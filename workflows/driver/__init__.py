"""The driver: a loop that does, a state that decides, a policy for each kind of run.

``loop`` tells ``state`` what happened and carries out what it wants done; ``launched`` is the
policy of runs that launch their model; looks and tunings have theirs in their rooms. ``run``
creates and executes a run, ``run_kinds`` says how one of each kind is driven, ``resuming`` says
whether one can be resumed, ``addition`` adds products to one, ``lacking`` says which of them its
frames cannot give, ``free`` gives its buffer back, ``detach`` starts a driver that outlives the
terminal, ``missing`` sends word that a dead driver had not sent. Imports the rooms of ``workflows``
below it; they import nothing from it.
"""

__all__ = [
    "addition",
    "buffered",
    "detach",
    "free",
    "homecoming",
    "lacking",
    "launching",
    "loop",
    "missing",
    "resuming",
    "run",
    "run_kinds",
    "scheduling",
    "state",
    "steering",
    "target",
]
