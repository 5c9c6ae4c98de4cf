"""Whether a folder holds several runs side by side, and not the output of one in folders.

Runs have logs or settings of their own and files of the same names; or, as copies in an archive
have neither, the same variables in files of the same names. Folders of one run hold different
streams, ranks' pieces, or later times of one stream in folders that are called by their dates.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from burstlens.workflows.look.folder.content import beside
from burstlens.workflows.look.folder.listing import Listing
from burstlens.workflows.look.folder.sampling import Sample

_SETTINGS = re.compile(r"namelist\.input|awm\.toml")
"""Settings of models that have an adapter: a folder with them is a run before its first frame."""
_OWN = re.compile(
    r"namelist.*|.*\.(?:nml|namelist|in|log)|log\..*|rsl\.(?:error|out)\.\d+|slurm-.*\.out"
    r"|.*\.[oe]\d{3,}|awm\.toml|streams\..*",
    re.IGNORECASE,
)
"""Settings and logs, as a run has them beside its output or above its folders."""
_DATED = re.compile(r"\D{0,2}\d+(?:[-_.T]\d+)*\D?")
"""Folders that are called by dates or numbers."""


def runs_in(
    top: Listing, inner: Mapping[str, Listing], samples: Sequence[Sample]
) -> tuple[str, ...]:
    """The folders of ``inner`` that are runs side by side, sorted; empty for a single run.

    ``samples`` are of the groups of files in these folders.
    """
    alike: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        alike[sample.group.pattern.removesuffix(".nc")].append(sample)
    several = [group for group in alike.values() if len(group) > 1]
    with_frames = {sample.group.folder for sample in samples}
    if not with_frames:
        begun = sorted(name for name, listing in inner.items() if _has(listing, _SETTINGS))
        return tuple(begun) if len(begun) > 1 else ()
    own = {name for name in with_frames if _has(inner[name], _OWN)}
    found: set[str] = set()
    for group in several:
        folders = {sample.group.folder for sample in group}
        if len(folders & own) > 1:
            found |= folders  # copies of older ones without their logs as well
        elif not (own or _has(top, _OWN)) and _are_copies(group):
            found |= folders
    return tuple(sorted(found))


def _has(listing: Listing, names: re.Pattern[str]) -> bool:
    return any(names.fullmatch(name) for name in listing.names)


def _are_copies(group: Sequence[Sample]) -> bool:
    """Whether files of one name in several folders are the same stream of several runs."""
    first, *others = group
    if any(one.contents.variables.keys() != first.contents.variables.keys() for one in others):
        return False
    if any(beside(first.contents, one.contents, first.time) for one in others):
        return False
    dated = all(_DATED.fullmatch(one.group.folder) for one in group)
    return not dated or len({one.group.newest for one in group}) < len(group)
