"""The report of a run: one HTML file that needs nothing else, for a mail or an archive."""
