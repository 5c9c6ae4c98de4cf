"""The page of ``burstlens io --html``: one or two logs of I/O explained, with plots.

``shown`` has the numbers as text, for the terminal as well. Imports ``workflows.iostats`` and
``core``; the style is that of a run's report.
"""

__all__ = ["page", "shown"]
