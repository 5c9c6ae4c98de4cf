"""Code shared by all rooms: errors, records, text, quantities, times, atomic files.

``run`` is the run directory and its files, ``toml`` reads the files that people write.
Imports no other room; every room may import this one.
"""

__all__ = [
    "about",
    "allowance",
    "arithmetic",
    "cdf",
    "decode",
    "durable",
    "errors",
    "exclusive",
    "existence",
    "exit_codes",
    "expression",
    "fault",
    "lines",
    "loops",
    "model",
    "naming",
    "nearness",
    "no_space",
    "outcome",
    "passing_errors",
    "pattern",
    "plugins",
    "printable",
    "quantity",
    "ranks",
    "redaction",
    "renamed",
    "run",
    "time_limit",
    "toml",
    "units",
    "user_config",
    "valid_time",
    "version",
    "whole_copy",
]
