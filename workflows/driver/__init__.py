"""The driver: a loop that does, a state that decides, a policy for each kind of run.

``loop`` tells ``state`` what happened and carries out what it wants done; the policies are
``launched``, ``attached`` and ``trials``. ``run`` creates and executes a run, ``run_kinds`` says
how one of each kind is driven, ``resuming`` says whether one can be resumed, ``addition`` adds
products to one, ``lacking`` says which of them its frames cannot give, ``free`` gives its buffer
back, ``detach`` starts a driver that outlives the terminal, ``missing`` sends word that a dead
driver had not sent, ``tuning_options`` a tuning's options and trials. Imports the rooms of
``workflows`` below it; they import nothing from it.
"""

__all__ = [
    "addition", "attached_run", "detach", "free", "lacking", "latest_look", "look", "missing",
    "resuming", "run", "tuning_options",
]  # fmt: skip
