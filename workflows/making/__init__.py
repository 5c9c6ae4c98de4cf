"""The workers' side of production: what runs on the viewing block, and in the early worker.

``tasks`` is what the driver names and workers run, ``order`` what they are given and give back,
``making`` makes products, ``staged`` brings them to the run, ``results`` reports them while a batch
is under way; ``watching`` looks for frames, ``checkpoint_fields`` judges checkpoints. Imports
``placement``, ``guards``, ``frames``, ``models``, ``tuning``, ``viz`` without its pages,
``stagers`` and ``core``; never the driver's side.
"""

__all__ = [
    "checkpoint_fields",
    "early",
    "order",
    "results",
    "tasks",
    "watching",
]
