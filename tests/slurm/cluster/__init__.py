"""One machine as a small Slurm cluster with DataWarp: what ``testbed.py`` is made of."""
