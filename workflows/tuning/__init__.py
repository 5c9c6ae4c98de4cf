"""Tuning of a recipe's output: what may be varied, what to try next, what measurements prove.

``table`` is ``[tune]`` of a recipe, ``planning`` checks a new tuning, ``driving`` runs its trials,
``space`` has factors and configurations, ``guesses`` the first ones by rule, ``search`` the next
one, ``noise`` and ``verdict`` what may be concluded, ``course`` the whole of it: from all trials so
far to the next one, or the verdict. ``output_time`` reads a trial's log; ``summary``, ``plot`` and
``tuned`` say what was found. A leaf room: imports ``plan`` and what is below it; Optuna, of the
extra ``tuning``, where the next configuration is chosen.
"""

__all__ = [
    "course",
    "guesses",
    "options",
    "output_time",
    "planning",
    "plot",
    "search",
    "space",
    "summary",
    "table",
    "trial",
    "tuned",
    "usual",
    "verdict",
]
