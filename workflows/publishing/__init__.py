"""What people see of a run: products under their final names, and ``status.json``.

``publish`` is the one place where a product gets its final name, ``series`` its files for
ParaView, ``flushing`` brings the journal to disk; ``snapshot`` says how the run is,
``run_outcome`` how it ended; ``context`` is a run as the parts of its driver share it. Runs in the
driver. Imports ``placement``, ``recipe``, ``frames``, ``notify``, ``viz`` without its pages,
``stagers`` and ``core``.
"""

__all__ = [
    "context",
    "flushing",
    "publish",
    "snapshot",
]
