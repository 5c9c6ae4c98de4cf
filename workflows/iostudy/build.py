"""The program, compiled by the site's MPI compiler, and the files that it reads."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from burstlens.core.errors import RecipeError
from burstlens.workflows.iostudy.header import header
from burstlens.workflows.iostudy.profile import Profile, study

SOURCE = Path(__file__).parent / "iostudy.c"
PROGRAM = "iostudy"
LIMIT_S = 300.0


def compile_to(program: Path, compiler: str = "mpicc") -> None:
    """Compile the program to that path. Raises RecipeError with the compiler's first line."""
    if shutil.which(compiler) is None:
        raise RecipeError(
            f"there is no {compiler} on PATH: install MPI with its compiler (Debian: apt install "
            "mpich libmpich-dev), load the site's module, or name the compiler (on a Cray: cc)"
        )
    words = [compiler, "-O2", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-o"]
    part = program.with_name(f".{program.name}.part")
    try:
        done = subprocess.run(
            [*words, str(part), str(SOURCE)],
            capture_output=True, text=True, errors="replace", timeout=LIMIT_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise RecipeError(f"{compiler} did not end within {LIMIT_S:g} s") from None
    except OSError as error:
        raise RecipeError(f"{compiler} cannot be started: {error.strerror}") from error
    if done.returncode or not part.is_file():
        said = [line for line in done.stderr.splitlines() if line.strip()]
        first = next((line for line in said if "error" in line), said[0] if said else "no message")
        raise RecipeError(f"{compiler} ended with {done.returncode}: {first.strip()}")
    part.replace(program)


def lay(profile: Profile, ranks: int, folder: Path) -> None:
    """Write ``study.txt`` and ``study.head`` there. Raises RecipeError and OSError."""
    profile.require_ranks(ranks)
    head = header(profile, ranks)
    (folder / "study.head").write_bytes(head)
    (folder / "study.txt").write_text(study(profile, ranks, len(head)))
