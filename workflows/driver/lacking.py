"""What the frames of a run lack for products that somebody wants to add to it."""

from __future__ import annotations

from burstlens.core.run.directory import RunDir
from burstlens.core.run.history import History
from burstlens.workflows.driver.addition import Added, table_of
from burstlens.workflows.driver.run_kinds import kind_of


def lacks_of(run: RunDir, history: History, added: Added) -> list[str]:
    """A sentence for each of the products that cannot be made of the run's frames.

    Raises BurstlensError.
    """
    names = {product.name for product, _ in added}
    table = table_of(run, history)
    standing = [one for one in table["product"] if one["name"] not in names]
    table |= {"product": [*standing, *(dict(one) for _, one in added)]}
    return kind_of(run).lacks(history, table, names)
