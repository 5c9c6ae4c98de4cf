"""The driver's side of a look: its kind of run, and the policy of its state.

``attached_kind`` is how the driver reaches it, ``attached_run`` the policy. Imports ``driver``,
the other rooms of ``look`` and what is below them.
"""

__all__ = ["attached_kind"]
