"""What is specific to a machine: its site file, its batch system, its Parsl configuration.

``site`` reads the site file, ``slurm`` talks to the batch system, ``batch_script`` writes scripts,
``parsl_config`` makes Parsl's blocks, ``parsl_internals`` holds each use of Parsl beyond its public
API. Imports ``stagers`` and ``core``.
"""

__all__ = [
    "batch_script",
    "directives",
    "inside",
    "parsl_config",
    "parsl_internals",
    "site",
    "site_report",
    "slurm",
    "unmonitored",
]
