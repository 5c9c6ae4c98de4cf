"""The run directory: its files, the journal of events, the index of products, status and heartbeat.

``directory`` names each file, ``journal`` is the record that a run resumes from, ``history`` the
state that it adds up to. Imports ``core`` alone.
"""

__all__ = [
    "attempts", "checkpoint_record", "continuation", "directory", "event", "events", "facts",
    "follow", "heartbeat", "history", "history_file", "index", "job_record", "journal",
    "lineage", "log_level", "logs", "making", "noticed", "output", "places", "product_record",
    "record", "requests", "schema", "segments", "served", "snapshot", "status_file", "volumes",
    "wording",
]  # fmt: skip
