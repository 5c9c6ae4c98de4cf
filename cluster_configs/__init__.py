"""What is specific to a machine: its site file, its batch system, its Parsl configuration.

``site`` reads the site file, ``slurm`` talks to the batch system, ``batch_script`` writes scripts,
``parsl_config`` makes Parsl's blocks. Imports ``stagers`` and ``core``.
"""

__all__ = [
    "batch_script",
    "directives",
    "inside",
    "parsl_config",
    "site",
    "site_report",
    "slurm",
    "unmonitored",
]
