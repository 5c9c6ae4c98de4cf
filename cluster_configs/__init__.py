"""What is specific to a machine: its site file, its batch system, its Parsl configuration.

``site`` reads the site file, ``scheduler`` is the seam of batch systems, ``schedulers`` has them by
name, ``polling`` is their common part, ``slurm`` one of them, ``bursts`` what one may say of burst
buffers; ``calls`` are those of a scheduler that nobody waits for, ``batch_script`` writes scripts,
``programs`` finds those that a run needs, ``parsl_config`` makes Parsl's blocks,
``parsl_internals`` holds each use of Parsl beyond its public API. Imports ``stagers`` and ``core``.
"""

__all__ = [
    "batch_script",
    "bursts",
    "calls",
    "directives",
    "inside",
    "parsl_config",
    "parsl_internals",
    "polling",
    "programs",
    "scheduler",
    "scheduler_contract",
    "schedulers",
    "site",
    "site_report",
    "slurm",
    "unmonitored",
]
