"""The observer of a model that others started: it stands in the supervisor's place.

``observer`` answers what a supervisor answers, from a batch job (``observed_job``), a process
(``observed_process``), logs and frames (``observed_files``). Imports ``placement``,
``cluster_configs`` and ``core``; signals nothing unless it is allowed to stop the model.
"""

__all__ = ["observed_job", "observer"]
