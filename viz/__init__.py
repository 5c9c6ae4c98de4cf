"""From a frame to a product, and the live page.

Rooms from the bottom up: ``seams`` (what an open frame is) and ``product`` (what a product needs
and is), ``frames`` (opening and reading), ``geometry`` (where points lie), ``diagnostics``
(quantities by name), ``drawing`` (what pictures share), ``values`` (fields beside their pictures),
``inspection`` (what will not fit), ``kinds`` (one folder per kind of product), ``registry`` (the
kinds by name) and ``live`` (the page). A room may import the rooms below it and ``core``.
"""

__all__ = [
    "diagnostics", "drawing", "frames", "geometry", "inspection", "kinds", "live", "product",
    "registry", "seams", "values",
]  # fmt: skip
