"""Tuning of a recipe's output: what may be varied, what to try next, what measurements prove.

``table`` is ``[tune]`` of a recipe, ``planning`` checks a new tuning, ``driving`` runs its trials,
``space`` has factors, configurations and trials, ``guesses`` the usual factors and the first
guesses by rule, ``search`` the next configuration, ``verdict`` the noise and what may be concluded,
``course`` the whole of it: from all trials so far to the next one, or the verdict. ``summary`` and
``plot`` show what was found. A leaf room: imports ``plan`` and what is below it; Optuna, of the
extra ``tuning``, where the next configuration is chosen.
"""

__all__ = [
    "course", "guesses", "options", "planning", "plot", "search", "space", "summary", "table",
    "verdict",
]  # fmt: skip
