"""The run directory: its files, the journal of events, the index of products, status and heartbeat.

``directory`` names each file, ``journal`` is the record that a run resumes from, ``history`` the
state that it adds up to. Imports ``core`` alone.
"""

__all__ = [
    "directory",
    "event",
    "events",
    "facts",
    "follow",
    "format",
    "fullest",
    "heartbeat",
    "history",
    "history_file",
    "index",
    "journal",
    "log_level",
    "logs",
    "making",
    "noticed",
    "output",
    "places",
    "record",
    "requests",
    "schema",
    "served",
    "shown",
    "snapshot",
    "start",
    "states",
    "status_file",
    "trial_record",
    "tripped",
    "volumes",
    "wording",
]
