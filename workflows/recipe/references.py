"""References between products: what follows a chained product, and which one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from burstlens.core.fault import KeyPath
from burstlens.core.nearness import did_you_mean
from burstlens.core.toml.faults import Faults
from burstlens.workflows.recipe.recipe import MadeProduct


def check_references(
    made: Sequence[tuple[KeyPath, MadeProduct | None]], table: Mapping[str, Any], faults: Faults
) -> None:
    """Add faults of products that follow others. ``made`` are all products with their paths, None
    for those that could not be made from the recipe's ``table``."""
    known = {
        product.name: (path, product, product.kind.wants(product.options))
        for path, product in made
        if product is not None
    }
    # A product that could not be made may be a valid target.
    names = {str(entry.get("name")) for entry in _tables(table.get("product"))}
    unknown = names - known.keys()
    chains = [name for name, (_, _, needs) in known.items() if needs.chained]
    for path, product, needs in known.values():
        for other in needs.follows:
            if other in unknown:
                continue
            if other not in chains:
                hint = did_you_mean(other, chains)
                what = (
                    f'follows "{other}", which is not a product that goes from frame to frame{hint}'
                )
            elif known[other][2].follows:
                what = f'follows "{other}", which itself follows another product'
            elif known[other][1].common.stream != product.common.stream:
                what = f'follows "{other}", which is made of another stream'
            else:
                continue
            entry = table["product"][path[1]]
            faults.add((*path, *where(entry, other)), what, other, lacking=other not in chains)
        if needs.chained and product.kind.widens(product.options):
            what = "goes from frame to frame, so its colour limits cannot widen: give [low, high]"
            faults.add((*path, "limits"), what)


def _tables(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def where(value: Any, name: str) -> KeyPath:
    """The path inside ``value`` of the text that names another product: NAME or track:NAME."""
    if isinstance(value, Mapping | list):
        inner = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, entry in inner:
            if key != "name":
                if entry in (name, f"track:{name}"):
                    return (key,)
                if found := where(entry, name):
                    return (key, *found)
    return ()
