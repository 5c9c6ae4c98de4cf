"""How a file gets to and from the burst buffer: one stager a module, one contract for all.

``base`` is the seam and what brings files with it, ``registry`` the stagers by name, ``contract``
the tests that each must pass. Imports ``core`` alone.
"""

__all__ = ["base", "contract", "datawarp", "libdatawarp", "parsl_provider", "posix", "registry"]
