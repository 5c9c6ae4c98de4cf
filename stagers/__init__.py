"""How a file gets to and from the burst buffer: one stager per module, one contract for all.

``base`` is the seam and the functions that use it, ``registry`` the stagers by name, ``contract``
the tests that each must pass. Imports ``core`` alone.
"""

__all__ = ["base", "contract", "datawarp", "libdatawarp", "parsl_provider", "posix", "registry"]
