"""``python -m burstlens.workflows.iostudy PROFILE.toml``: prepare a case in the working folder."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from burstlens.core.errors import BurstlensError
from burstlens.core.quantity import show_bytes
from burstlens.workflows.iostudy.build import PROGRAM, compile_to, lay
from burstlens.workflows.iostudy.profile import pairs, read


def main(arguments: list[str] | None = None) -> int:
    """Compile the program and write the files that it reads."""
    parser = argparse.ArgumentParser(
        prog="iostudy",
        description="Compile the I/O study's program and lay out a case for it, in the working "
        "folder: iostudy, study.txt, study.head. Then: mpiexec -n RANKS ./iostudy",
    )
    parser.add_argument("profile", type=Path, help="a profile (TOML)")
    parser.add_argument("settings", nargs="*", metavar="key=value", help="keys of it, set anew")
    parser.add_argument("--size", default="", help="a table [sizes.SIZE] of the profile")
    parser.add_argument("--case", default="", help="more keys of the profile, key=value;key=value")
    parser.add_argument("--nodes", type=int, default=1, help="nodes of the run")
    parser.add_argument("--ranks-per-node", type=int, default=1, help="MPI ranks on each")
    parser.add_argument("--mpicc", default="mpicc", help="the MPI compiler; on a Cray cc")
    parser.add_argument(
        "--program", default=f"./{PROGRAM}",
        help="the program: the default is compiled, another one must be there",
    )  # fmt: skip
    given = parser.parse_args(arguments)
    try:
        more = [f"{key}={value}" for key, value in pairs(given.case).items()]
        profile = read(given.profile, [*given.settings, *more], given.size)
        ranks = given.nodes * given.ranks_per_node
        lay(profile, ranks, Path())
        if given.program == f"./{PROGRAM}":
            compile_to(Path(PROGRAM), given.mpicc)
    except BurstlensError as error:
        print(f"iostudy: error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"iostudy: error: cannot use {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    size = show_bytes(profile.frame_bytes(ranks))
    print(f"iostudy: {profile.title}: {profile.frames} frames of {size} from {ranks} ranks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
