"""What a burst buffer of a given size gets: granules, nodes that serve it, unused space.

DataWarp grants space in whole granules and places one per node; a node serves a second one only
when every node has one. So the requested capacity also sets how many nodes serve the buffer, and
thus its bandwidth. Sources: Slurm's Burst Buffer Guide; NERSC's and KAUST's user
documentation of DataWarp.
"""

from __future__ import annotations

from dataclasses import dataclass

from burstlens.cluster_configs.site import BufferSite, Site
from burstlens.core.errors import SiteError
from burstlens.core.quantity import counted, show_bytes

_NAMED = "$BURSTLENS_BUFFER"
_UNITS = {"TiB": 2**40, "GiB": 2**30, "MiB": 2**20, "TB": 10**12, "GB": 10**9}


@dataclass(frozen=True, slots=True)
class Grant:
    """What is granted for ``asked`` bytes: ``granules`` of ``granule`` bytes on ``nodes`` nodes.

    ``per_node`` is the most granules that one node serves; above 1 they share its bandwidth.
    Both are None if the site does not say how many nodes there are.
    """

    asked: int
    granule: int
    granules: int
    nodes: int | None
    per_node: int | None

    @property
    def granted(self) -> int:
        """Bytes that the run holds and is charged with."""
        return self.granules * self.granule

    @property
    def text(self) -> str:
        """In words: ``600 GiB asked = 2 granules = 736 GiB on 2 DW nodes, 18 % unused``."""
        count, granted = counted(self.granules, "granule"), show_exactly(self.granted)
        said = f"{show_exactly(self.asked)} asked = {count} = {granted}"
        if self.nodes is not None:
            said += f" on {counted(self.nodes, 'DW node')}"
        if self.per_node is not None and self.per_node > 1:
            said += f", up to {self.per_node} granules per node"
        return f"{said}, {100 * (1 - self.asked / self.granted):.0f} % unused"


@dataclass(frozen=True, slots=True)
class Granularity:
    """How a machine grants space: its granule in bytes and, if known, the number of nodes that
    serve it and the capacity of one of them."""

    granule: int
    nodes: int | None = None
    node_capacity: int | None = None

    @property
    def per_node(self) -> int | None:
        """Granules that fit on one node."""
        return None if self.node_capacity is None else self.node_capacity // self.granule

    @property
    def total(self) -> int | None:
        """Bytes in all."""
        if self.nodes is None or self.per_node is None:
            return None
        return self.nodes * self.per_node * self.granule

    def grant(self, asked: int) -> Grant:
        """The grant for ``asked`` bytes. Raises SiteError for more than there is."""
        if self.total is not None and asked > self.total:
            raise SiteError(
                f"{show_exactly(asked)} are asked for, and the burst buffer has "
                f"{show_exactly(self.total)} in all"
            )
        granules = max(1, -(-asked // self.granule))
        if self.nodes is None:
            return Grant(asked, self.granule, granules, None, None)
        nodes, per_node = min(granules, self.nodes), -(-granules // self.nodes)
        return Grant(asked, self.granule, granules, nodes, per_node)

    def capacity(self, nodes: int) -> int:
        """The bytes to ask for so that this many nodes serve the buffer, one granule each. Raises
        SiteError if there are fewer."""
        if self.nodes is not None and nodes > self.nodes:
            raise SiteError(f"{nodes} burst-buffer nodes are asked for, and there are {self.nodes}")
        return nodes * self.granule


def require_capacity(site: Site, asked: int) -> None:
    """SiteError when a run on that site cannot have ``asked`` bytes of buffer. Checked are the
    site's limit, the size of the pool if the site file has it, and the free space of this machine's
    own folders; a scheduler's pool is queried when the run starts."""
    limit, handed_out = site.buffer.limit, granularity(site.buffer)
    if limit is not None and asked > limit:
        raise SiteError(
            f"buffer.capacity is {show_bytes(asked)}, the site {site.name} allows a run "
            f"{show_bytes(limit)}"
        )
    if handed_out is not None:
        handed_out.grant(asked)
    if site.scheduler == "local":
        from burstlens.workflows.placement.buffer import with_room

        with_room(site.buffer.folders, asked)


def passed_over(site: Site, asked: int) -> str | None:
    """Why the folder named by ``BURSTLENS_BUFFER`` is not used; None if it is used, or not set."""
    from burstlens.workflows.placement.buffer import candidate_root, refused_by

    if site.scheduler != "local" or _NAMED not in site.buffer.folders:
        return None
    root = candidate_root(_NAMED)
    refusal = None if root is None else refused_by(root, asked)
    return None if refusal is None else f"BURSTLENS_BUFFER is not used: {refusal.reason}"


def granularity(site: BufferSite) -> Granularity | None:
    """The site's; None if it does not grant space in granules."""
    if site.granule is None:
        return None
    return Granularity(site.granule, site.nodes, site.node_capacity)


def show_exactly(size: int) -> str:
    """A size in the largest binary, else decimal, unit that shows it exactly: ``736 GiB``."""
    for unit, factor in _UNITS.items():
        if size % factor == 0:
            return f"{size // factor:,} {unit}"
    return show_bytes(size)
