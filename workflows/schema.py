"""The JSON Schema of recipes, so that an editor can complete and check them."""

from __future__ import annotations

from typing import Any

from burstlens.viz.product import product_kinds
from burstlens.workflows import models
from burstlens.workflows.check_table import adapter
from burstlens.workflows.guards.guard import Guard
from burstlens.workflows.parameters import Parameter
from burstlens.workflows.recipe import Buffer, Product, Simulation, StageOut, Step


def recipe_schema() -> dict[str, Any]:
    """A JSON Schema (2020-12) of the whole recipe: every model's and product kind's keys."""
    defs: dict[str, Any] = {}
    simulations = [
        _both(Simulation, models.load(name), "model", name, defs) for name in models.names()
    ]
    products = [
        _both(Product, kind.options, "kind", name, defs) for name, kind in product_kinds().items()
    ]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Burstlens recipe",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "title": {"type": "string"},
            "description": {"type": "string"},
            "extends": {"type": "string", "description": "A recipe to build on."},
            "parameters": {"type": "object", "additionalProperties": _one(Parameter, defs)},
            "simulation": {"oneOf": simulations},
            "buffer": _one(Buffer, defs),
            "stage_out": _one(StageOut, defs),
            "step": {"type": "array", "items": _one(Step, defs)},
            "product": {"type": "array", "items": {"oneOf": products}},
            "guard": {"type": "array", "items": _one(Guard, defs)},
        },
        "$defs": defs,
    }


def _one(cls: Any, defs: dict[str, Any]) -> dict[str, Any]:
    schema = adapter(cls).json_schema()
    defs.update(schema.pop("$defs", {}))
    return schema


def _both(common: Any, own: Any, key: str, name: str, defs: dict[str, Any]) -> dict[str, Any]:
    first, second = _one(common, defs), _one(own, defs)
    required = {*first.get("required", ()), *second.get("required", ()), key}
    return {
        "title": f"{key} = {name}",
        "type": "object",
        "additionalProperties": False,
        "properties": {**first["properties"], **second["properties"], key: {"const": name}},
        "required": sorted(required),
    }
