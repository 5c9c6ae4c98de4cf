"""The driver's side of a tuning: its kind of run, the policy of its state, its trials.

``tuning_kind`` is how the driver reaches it, ``trials_run`` the policy, ``trial_files`` a trial's
folder and job, ``collected`` what a worker reads of it and its time in output, ``results`` what is
written at the end. Imports ``driver``, ``tuning`` and what is below them.
"""

__all__ = ["tuning_kind"]
