"""The driver: the loop that reads reports, decides, submits jobs and ends the run.

``run`` creates and executes a run, ``resuming`` says whether one can be resumed, ``addition``
adds products to one, ``lacking`` says which of them its frames cannot give, ``free`` gives its
buffer back, ``detach`` starts a driver that outlives the terminal, ``missing`` sends word that a
dead driver had not sent, ``tuning_options`` a tuning's options and trials. Imports the rooms of
``workflows`` below it; they import nothing from it.
"""

__all__ = [
    "addition", "attached_run", "detach", "free", "lacking", "latest_look", "look", "missing",
    "resuming", "run", "tuning_options",
]  # fmt: skip
