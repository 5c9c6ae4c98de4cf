"""Folders of any model that writes netCDF: one stream per pattern of names.

A folder may hold several runs side by side, and not the output of one in folders. Runs have logs or
settings of their own and files of the same names; or, as copies in an archive have neither, the
same variables in files of the same names. Folders of one run hold different streams, ranks' pieces,
or later times of one stream in folders that are called by their dates.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path, PurePosixPath
from typing import Any

from burstlens.core.errors import AttachError, RecipeError, SeveralRunsError
from burstlens.core.nearness import did_you_mean
from burstlens.core.printable import printable
from burstlens.core.quantity import counted
from burstlens.workflows.look.folder.content import beside, counted_dimension
from burstlens.workflows.look.folder.foreign import is_zarr, kinds, message
from burstlens.workflows.look.folder.found import Found, StreamFound
from burstlens.workflows.look.folder.listing import Listing, below
from burstlens.workflows.look.folder.names import Group, grouped, main_first, natural, unique
from burstlens.workflows.look.folder.sampling import Sample, Sampler, Sorted, sorted_groups
from burstlens.workflows.models.command import Command

_SHOWN = 3
_NO_PIECES = (
    "{folder} holds pieces of frames only, which are not joined here: {pieces}. One piece by "
    "itself can be looked at: --stream piece=NAME"
)
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


def generic(
    folder: Path, top: Listing, sampler: Sampler, time_variable: str | None, *, forced: bool
) -> Found | None:
    """The streams of a folder, else of its folders of the first level; None where nothing is there
    yet. Raises :class:`AttachError` where only other things are."""
    groups = grouped(top.names)
    found = sorted_groups(sampler, groups)
    if not found.frames:
        inside = dict(below(folder, top))
        inner = [one for name, listing in inside.items() for one in grouped(listing.names, name)]
        deeper = sorted_groups(sampler, inner)
        if not forced:
            _require_one(folder, runs_in(top, inside, (*deeper.frames, *deeper.timeless)))
        if deeper.frames or (deeper.timeless and not found.timeless):
            found = deeper
        elif deeper.foreign and not found.foreign:
            found = replace(found, foreign=deeper.foreign, in_groups=deeper.in_groups)
    frames = found.frames or found.timeless
    if not frames:
        _nothing(folder, top, found)
        if not forced:
            return None
        return Found("command", {}, "any model that writes netCDF: no file yet", (), found.others)
    return _found(frames, found, time_variable, top)


def asked(
    folder: Path, top: Listing, sampler: Sampler, streams: Mapping[str, str],
    time_variable: str | None,
) -> Found:  # fmt: skip
    """The streams that the user names. Raises :class:`AttachError` for a faulty pattern."""
    try:
        model = Command(argv=("true",), frames=dict(streams))
    except RecipeError as error:
        raise AttachError(str(error).replace("simulation.frames", "--stream", 1)) from None
    folders = {sub: listing.names for sub, listing in below(folder, top)}
    names = list(top.names)
    for pattern in streams.values():
        parent = str(PurePosixPath(pattern).parent)
        names += [f"{parent}/{name}" for name in folders.pop(parent, ())]
    made, samples = [], []
    for stream, pattern in streams.items():
        glob = str(PurePosixPath(pattern))
        own = sorted(
            (name for name in names if (out := model.identify(name)) and out.stream == stream),
            key=natural,
        )
        made.append(StreamFound(stream, glob, len(own), own[-1] if own else None))
        if own:
            before = own[-2] if len(own) > 1 else None
            sample = sampler.sample(Group(glob, len(own), own[-1], before, stream))
            samples += [sample] if isinstance(sample, Sample) else []
    if samples and time_variable is not None:
        _check_time(samples, time_variable)
    settings: dict[str, Any] = {"frames": dict(streams)}
    if time_variable is not None or samples:
        found = _agreed(samples) if time_variable is None else time_variable
        settings["time_variable"] = found or ""
    counts = ", ".join(f"{counted(one.files, 'file')} {one.pattern}" for one in made)
    reason = f"netCDF, by the streams that you named: {counts}"
    return Found("command", settings | _parallel(samples), reason, tuple(made), ())


def _require_one(folder: Path, runs: Sequence[str]) -> None:
    """Raise SeveralRunsError for runs side by side."""
    if runs:
        listed = "".join(f"\n  burstlens look {folder / name}" for name in runs)
        raise SeveralRunsError(
            f"{folder} holds {len(runs)} runs: look at one, or name several for one page{listed}",
            str(folder),
            [str(folder / name) for name in runs],
        )


def _found(
    samples: Sequence[Sample], found: Sorted, time_variable: str | None, top: Listing
) -> Found:
    if time_variable:
        _check_time(samples, time_variable)
    time = _agreed(samples) if time_variable is None else time_variable
    is_counted = bool(time) and not any(time in one.contents.variables for one in samples)
    fitting = [one for one in samples if not time or _has(one, time)]
    others = [_misfit(one, time or "") for one in samples if one not in fitting]
    if found.frames:
        others += [f"{one.group.said}: without a time{_counting(one)}" for one in found.timeless]
    by_group = {one.group.path: one for one in fitting}
    made: list[StreamFound] = []
    ordered = main_first([one.group for one in fitting])
    # Products are of the first one: it must have frames.
    ordered.sort(key=lambda group: by_group[group.path].barren)
    stems = Counter(map(_stem, ordered))
    for group in ordered:
        stem = _stem(group)
        stem = f"{group.folder}-{stem}" if stems[stem] > 1 else stem
        name = unique(stem, [one.name for one in made])
        made.append(StreamFound(name, group.path, group.count, by_group[group.path].name))
    frames = {one.name: one.pattern for one in made}
    settings = {"frames": frames, "time_variable": time or ""} | _parallel(fitting)
    words = [f"{counted(one.files, 'file')} {one.pattern}" for one in made[:_SHOWN]]
    if len(made) > _SHOWN:
        words.append(f"{len(made) - _SHOWN} more streams")
    if is_counted:
        words.append(f"records counted along {time}, which has no times")
    else:
        words.append(f"times in {time}" if time else "without times: each file is one frame")
    remarks = (*others, *found.pieces, *found.others, *found.unreadable, *_odd(top))
    return Found("command", settings, f"{_what(fitting)}: {', '.join(words)}", tuple(made), remarks)


def _stem(group: Group) -> str:
    """The words of a stream's name; of WRF's files their domain, as recipes for WRF call it."""
    domain = re.fullmatch(r"wrfout_(d\d\d)", group.stem)
    return domain[1] if domain else group.stem


def _odd(top: Listing) -> list[str]:
    if not top.odd:
        return []
    return [f"{counted(len(top.odd), 'name')} with control characters (such as {top.odd[0]!r})"]


def _what(samples: Sequence[Sample]) -> str:
    """``netCDF``, with what the files say of the program that wrote them."""
    for sample, key in product(samples, ("source", "model_name", "model", "type")):
        text = sample.contents.attributes.get(key)
        if isinstance(text, str) and text.strip():
            return f"netCDF ({key}: {printable(text.strip())[:48]})"
    return "netCDF"


def _has(sample: Sample, time: str) -> bool:
    """Whether a file has that time variable, or a dimension of that name to count along."""
    return time in sample.contents.variables or time in sample.contents.sizes


def _misfit(sample: Sample, time: str) -> str:
    if sample.time is None:
        return f"{sample.group.said}: it has no {time}{_counting(sample)}"
    return (
        f"{sample.group.said}: its times are in {sample.time}, not in {time} (--time-variable "
        f"{sample.time} shows it instead)"
    )


def _counting(sample: Sample) -> str:
    """How the records of a file without times can be shown, where it has several."""
    dimension = counted_dimension(sample.contents)
    return f" (--time-variable {dimension} counts its records)" if dimension else ""


def _agreed(samples: Sequence[Sample]) -> str | None:
    """The time variable of most streams, of those that have one; the larger ones decide a tie.

    Where none has one, the dimension along which files have several records.
    """
    dimensions = [counted_dimension(one.contents) for one in samples]
    if not any(one.time for one in samples):
        return next((dimension for dimension in dimensions if dimension), None)
    votes = Counter[str]()
    files = Counter[str]()
    for sample in samples:
        if sample.time:
            # A variable that others have too serves them as well.
            votes[sample.time] += sum(sample.time in one.contents.variables for one in samples)
            files[sample.time] += sample.group.count
    return max(votes, key=lambda name: (votes[name], files[name], name), default=None)


def _check_time(samples: Sequence[Sample], name: str) -> None:
    if name and not any(_has(one, name) for one in samples):
        variables = [about for one in samples for about in one.contents.variables.items()]
        known = {variable for variable, about in variables if len(about.dimensions) < 3}
        raise AttachError(
            f"--time-variable: no file here has a variable {name!r}{did_you_mean(name, known)}"
        )


def _parallel(samples: Sequence[Sample]) -> dict[str, Any]:
    """CDF-5 is what PnetCDF writes: several processes into one file."""
    return {"parallel": True} if any(one.contents.version == 5 for one in samples) else {}


def _nothing(folder: Path, top: Listing, found: Sorted) -> None:
    """Raise AttachError where what is there will not become frames."""
    if found.pieces:
        raise AttachError(_NO_PIECES.format(folder=folder, pieces="; ".join(found.pieces[:_SHOWN])))
    if found.in_groups:
        raise AttachError(f"{folder}: {found.in_groups[0]}")
    if found.old:
        raise AttachError(f"no netCDF file in {folder} can be read: {found.unreadable[0]}")
    if found.others or found.unreadable:
        return
    stores = [name for name in top.folders if is_zarr(folder / name)]
    there = kinds(folder, found.foreign, ["."] if is_zarr(folder) else stores)
    if there:
        raise AttachError(message(folder, there))


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
        begun = sorted(name for name, listing in inner.items() if _has_file(listing, _SETTINGS))
        return tuple(begun) if len(begun) > 1 else ()
    own = {name for name in with_frames if _has_file(inner[name], _OWN)}
    found: set[str] = set()
    for group in several:
        folders = {sample.group.folder for sample in group}
        if len(folders & own) > 1:
            found |= folders  # copies of older ones without their logs as well
        elif not (own or _has_file(top, _OWN)) and _are_copies(group):
            found |= folders
    return tuple(sorted(found))


def _has_file(listing: Listing, names: re.Pattern[str]) -> bool:
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
