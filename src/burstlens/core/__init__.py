"""What all rooms share: errors, records that travel, text, quantities, times, whole files.

``run`` is the run directory and what it holds, ``toml`` the reading of files that people write.
Imports no other room; every room may import this one.
"""

__all__ = [
    "about",
    "arithmetic",
    "cdf",
    "durable",
    "errors",
    "exit_codes",
    "expression",
    "fault",
    "lines",
    "model",
    "naming",
    "nearness",
    "outcome",
    "passing_errors",
    "plugins",
    "printable",
    "quantity",
    "ranks",
    "renamed",
    "run",
    "shape",
    "time_limit",
    "toml",
    "units",
    "user_config",
    "valid_time",
    "version",
]
