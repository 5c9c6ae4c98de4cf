"""Guards: conditions on frames, logs and the pace of a run that alarm, or stop it in time."""
