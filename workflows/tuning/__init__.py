"""Tuning of a recipe's output, as pure functions: what may be varied, what to try next, what the
measurements prove.

``table`` is ``[tune]`` of a recipe, ``space`` has factors and configurations, ``guesses`` the first
ones by rule, ``search`` the next one, ``noise`` and ``verdict`` what may be concluded, ``course``
the whole of it: from all trials so far to the next one, or the verdict. ``output_time`` reads a
trial's log; ``summary``, ``plot`` and ``tuned`` say what was found. Only ``plot`` writes a file.
Imports ``recipe``, ``models`` and ``core``; Optuna, of the extra ``tuning``, where the next
configuration is chosen.
"""

__all__ = [
    "course",
    "guesses",
    "output_time",
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
