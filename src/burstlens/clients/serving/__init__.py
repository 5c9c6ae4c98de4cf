"""``burstlens serve``: runs in a browser, over HTTP on the loopback interface.

docs/decisions/0020-the-server.md says why it is built as it is.
"""

__all__ = ["server", "shelf"]
