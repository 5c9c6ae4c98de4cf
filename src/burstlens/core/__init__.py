"""Code shared by all rooms: errors, records, text, quantities, times, atomic files.

``run`` is the run directory and its files, ``toml`` reads the files that people write.
Imports no other room; every room may import this one.
"""

__all__ = [
    "allowance", "arithmetic", "calendars", "cdf", "child_process", "decode", "digits",
    "durable", "errors", "exact_seconds", "existence", "exit_codes", "expression", "extras",
    "fault", "hdf5_filters", "lengths", "lines", "loops", "model", "nearness", "outcome",
    "packing", "pattern", "plugins", "printable", "quantity", "ranks", "record_axis",
    "redaction", "renamed", "run", "time_axis", "time_origin", "time_units", "toml", "units",
    "user_config", "valid_time", "version", "whole_copy",
]  # fmt: skip
