"""``python -m burstlens.workflows.awm PARAMETERS.toml``: the model from the command line."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from burstlens.core.errors import BurstlensError, RecipeError
from burstlens.core.quantity import seconds_of
from burstlens.core.version import __version__
from burstlens.workflows.awm import forecast, parameters
from burstlens.workflows.awm.signals import CHECKPOINT_SIGNALS, SignalRequests
from burstlens.workflows.awm.stretch import Stretch

HELP = """\
awm computes elastic waves of an earthquake or explosion in a 3-D block of rock and writes the
ground velocity as CF netCDF in the working folder: surface_000000.nc, volume_000000.nc, ... (or
surface.nc and volume.nc, which grow) and stations.nc.

Axes: x east, y north, z up; depth_m counts down from the free surface. An example:

  title = "Moderate earthquake in layered rock"

  [grid]                      # nodes and spacing, absorbing layers come on top
  nx = 120
  ny = 120
  nz = 60
  spacing_m = 250.0
  [time]
  step_s = 0.018
  duration_s = 20.0           # or steps = 1111
  [material]                  # or: file = "basin.nc" with vp, vs, rho on (z, y, x)
  layers = [
    { top_m = 0,    vp_m_s = 4000, vs_m_s = 2300, rho_kg_m3 = 2400 },
    { top_m = 2000, vp_m_s = 6000, vs_m_s = 3460, rho_kg_m3 = 2700 },
  ]
  [source]                    # or the six mxx_n_m ... myz_n_m in place of strike, dip, rake, moment
  x_m = 9000.0
  y_m = 15000.0
  depth_m = 6000.0
  strike_deg = 30.0
  dip_deg = 60.0
  rake_deg = 90.0
  moment_n_m = 1e17
  function = "bell"           # triangle, bell, liu take duration_s; gaussian, ricker, brune
  duration_s = 1.5            # take frequency_hz
  [absorbing]                 # robust = true or false: friction in the layers, where speeds at
  points = 10                 # the edges differ much; awm decides by itself if it is left out
  [output]                    # steps from one frame to the next, 0 for none
  surface_every = 20
  volume_every = 100
  volume_stride = 2
  peaks = true                # the surface's own peaks so far, of every step: pgv, pga, pgd and
                              # pgv_larger, pga_larger (of the larger horizontal component)
  station_every = 100         # steps between writes to stations.nc; station_frames = true writes
  station_frames = true       # the same samples also as stations_000000.nc, ..., for live products
  format = "netcdf4"          # classic, cdf5
  files = "frame"             # growing
  [checkpoint]                # steps from one to the next (0: none), and how many are kept
  every = 500
  keep = 2
  [[station]]
  name = "A01"
  x_m = 20000.0
  y_m = 15000.0

A checkpoint (checkpoint_0000500.awm: after step 500) has the whole state. --restart continues from
one: frames, peaks and stations are the same, bit by bit, as those of a run in one piece. Signals
act after the step under way. SIGUSR1 asks for a checkpoint, SIGUSR2 for one with which the run
stops, as --until does at a model time. SIGTERM and SIGINT end the run, with a checkpoint if it has
an interval between checkpoints, or --until. awm deletes only checkpoints that this run wrote. One
that cannot be written, as on a full disk, is reported and the run continues, unless it was to stop
with it.

Before it starts, awm prints what the run will do: points per wavelength, the highest frequency that
is right, the step against its limit, memory, output, and the time by a probe of a second. --plan
stops there, after it has read the checkpoint of --restart; --json prints the same for scripts.

Exit codes: 0 done or stopped with a checkpoint, 1 failed, 2 refused (parameters, unstable step,
grid too coarse, a checkpoint of another run), 128 + signal.
"""


def _seconds(text: str) -> float:
    found = seconds_of(text)
    if not found:
        raise argparse.ArgumentTypeError(f"a number of seconds above 0 is expected, not {text!r}")
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run the model and return its exit code; every failure is one line of the log."""
    parser = argparse.ArgumentParser(
        prog="awm", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"burstlens {__version__}")
    parser.add_argument("parameters", type=Path, help="the parameter file (TOML)")
    parser.add_argument("--check", action="store_true", help="check the parameter file and stop")
    parser.add_argument("--plan", action="store_true", help="print what the run will do and stop")
    parser.add_argument("--json", action="store_true", help="with --plan: one JSON object")
    parser.add_argument(
        "--restart", type=Path, metavar="CHECKPOINT", help="continue from that file"
    )
    parser.add_argument(
        "--until", type=_seconds, metavar="SECONDS",
        help="stop, with a checkpoint, after the first step at or beyond that model time",
    )  # fmt: skip
    parser.add_argument(
        "--checkpoint-every", type=_seconds, metavar="SECONDS",
        help="model time from one checkpoint to the next, to the nearest step; wins over the file",
    )  # fmt: skip
    parser.add_argument(
        "--checkpoint-keep", type=int, metavar="NUMBER",
        help="how many it keeps of the checkpoints that it writes, 0 for all; wins over the file",
    )  # fmt: skip
    given = parser.parse_args(arguments)
    if given.checkpoint_keep is not None and given.checkpoint_keep < 0:
        parser.error("--checkpoint-keep is 0 or more")
    if given.check and given.restart:
        parser.error("--check reads the parameter file alone; --plan checks a checkpoint, too")
    if given.json and not given.plan:
        parser.error("--json goes with --plan")
    try:
        read = parameters.read(given.parameters)
        if given.check:
            print(f"awm: {given.parameters} is right; --plan says what the run will do", flush=True)
            return 0
        forecast.refuse_memory(read)
        # Only now: Numba and netCDF take a second to load.
        from burstlens.workflows.awm import planning, program

        by = program.threads(read.threads)
        how_often = given.checkpoint_every, given.checkpoint_keep
        stretch = Stretch(given.restart, given.until, *how_often)
        if given.plan:
            return planning.plan(read, Path.cwd(), by, stretch, as_json=given.json)
        requests = SignalRequests()
        with requests.listen(*CHECKPOINT_SIGNALS):  # which end a process that does not listen
            program.compile_kernels(read)
            return program.Run(read, Path.cwd(), by, stretch, requests).go()
    except BurstlensError as error:
        print(f"awm: error: {error}", flush=True)
        return 2 if isinstance(error, RecipeError) else 1
    except MemoryError:
        print("awm: error: the grid does not fit into memory", flush=True)
        return 1


if __name__ == "__main__":
    sys.exit(main())
