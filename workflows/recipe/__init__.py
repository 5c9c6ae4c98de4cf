"""The recipe: loaded, layered, filled with parameters, checked against its inputs.

``load`` gives a :class:`.Recipe` or all faults at once; ``preflight`` surveys the inputs in a
process of its own; ``schema`` is the JSON Schema of the same tables. Imports ``guards``,
``frames``, ``hints``, ``models``, ``viz`` and ``core``; starts nothing and writes nothing.
"""

__all__ = [
    "file", "findings", "layers", "lead", "load", "misfits", "parameters", "preflight", "recipe",
    "schema", "wanted",
]  # fmt: skip
