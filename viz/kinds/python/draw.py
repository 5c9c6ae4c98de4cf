"""The user's function, called for a frame."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from burstlens.core.errors import BurstlensError, FrameError
from burstlens.viz.kinds.full_disk import raise_if_full, take_over
from burstlens.viz.kinds.python.options import PythonOptions
from burstlens.viz.kinds.python.read import load_function, where
from burstlens.viz.product import Context, ProductFrame, whole_file


def call_function(
    options: PythonOptions, frame: ProductFrame, out: Path, context: Context
) -> dict[str, Any]:
    """Call ``f(frame, out)``, with the state's path where it is chained; a dict that it returns
    becomes the facts.

    Raises RecipeError when the file or the function is not there, FrameError when it fails or
    writes nothing, StagingError when there is no room for what it writes.
    """
    # Before matplotlib.pyplot is imported by the user's file: there is no display.
    os.environ["MPLBACKEND"] = "Agg"
    function = load_function(options, context.files)
    # Libraries that write pictures read the format from the name.
    written = out.with_name(f"{out.name}.{options.extension}")
    with whole_file(written):
        try:
            returned = function(frame, written, *([context.state] if options.chained else []))
        except (BurstlensError, MemoryError):
            raise
        except Exception as error:
            raise_if_full(written, error)
            raise FrameError(f"{options.function} failed: {where(error, options.file)}") from error
        finally:
            # pyplot keeps every figure that is not closed: a worker would grow frame by frame.
            if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
                pyplot.close("all")
        take_over(written, out, f"{options.function} wrote nothing to out_path")
    return dict(returned) if isinstance(returned, dict) else {}
