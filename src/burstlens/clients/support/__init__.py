"""The archive for a site's support: what is known of a run, without its data and secrets.

``archive`` writes it and lists the versions, ``contents`` names the files, ``hidden`` finds what is
to be masked in them. Imports ``opened``, ``cluster_configs`` and ``core``.
"""

__all__ = ["archive"]
