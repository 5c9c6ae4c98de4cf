"""Which model writes in a folder, and which of its files are frames: names first, then headers.

WRF and awm are recognised by the names of their files and settings; anything else that writes
netCDF is taken for a ``command`` with one stream per pattern of names, and one file of each, two at
most, is looked into. Nothing is locked or written, and the netCDF library is not used.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from burstlens.core.errors import AttachError, RecipeError
from burstlens.workflows.frames.hdf5 import Prober
from burstlens.workflows.look.folder import adapted
from burstlens.workflows.look.folder.found import Found, StreamFound
from burstlens.workflows.look.folder.generic import asked, generic
from burstlens.workflows.look.folder.listing import listed
from burstlens.workflows.look.folder.sampling import Sampler
from burstlens.workflows.models import registry

__all__ = ["Found", "StreamFound", "recognise"]

GENERIC = "command"


def recognise(
    folder: Path,
    *,
    streams: Mapping[str, str] = MappingProxyType({}),
    time_variable: str | None = None,
    model: str | None = None,
    prober: Prober | None = None,
) -> Found | None:
    """What writes in a folder; None while nothing there shows what will come.

    ``streams`` (name, glob), ``time_variable`` ("": each file is one frame) and ``model`` overrule
    what would be found. ``prober`` may have been started; it is closed. Raises
    :class:`AttachError` for a path that is not a folder or cannot be read, a folder that holds
    other things than netCDF, and arguments that do not go together.
    """
    if model is not None:
        try:
            registry.load(model)
        except RecipeError as error:
            raise AttachError(f"--model: {error}") from None
    if streams and model not in (None, GENERIC):
        raise AttachError(
            f"--stream goes with the model {GENERIC}, not with {model}, which names its streams "
            "itself"
        )
    top = listed(folder)
    with Sampler(folder, prober) as sampler:
        if streams:
            return asked(folder, top, sampler, streams, time_variable)
        for name, look in (("wrf", adapted.wrf), ("awm", adapted.awm)):
            if model in (None, name) and registry.is_built_in(name):
                found = look(folder, top, sampler, forced=model == name)
                if found is not None:
                    return adapted.with_time(found, time_variable)
        if model not in (None, GENERIC):
            return adapted.with_time(adapted.plugin(model, folder, top), time_variable)
        return generic(folder, top, sampler, time_variable, forced=model == GENERIC)
