"""A run as Python and notebooks see it: opened, launched, looked at, compared.

``import burstlens`` offers these names. Imports ``pages``, ``opened`` and ``workflows``.
"""

__all__ = ["run", "runs"]
