"""Preflight: checks before a node-hour is spent."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

from burstlens.cluster_configs.site import Site
from burstlens.core.errors import RecipeError
from burstlens.core.user_config import config_path
from burstlens.workflows.notify.options import allowed, exposed, settings
from burstlens.workflows.recipe.findings import ERROR, LEVELS, NOTE, WARNING, Finding, guard_paths
from burstlens.workflows.recipe.recipe import Recipe

LIMIT_S = 30.0
"""Limit for reading the inputs, which usually takes a second."""
START_LIMIT_S = 60.0
"""Limit for starting an interpreter with its imports from a cold file system."""
PROGRAM = (sys.executable, "-P", "-m", "burstlens.workflows.recipe.survey")


Look = Callable[[Recipe, Site | None], Iterable[Finding]]


def preflight(recipe: Recipe, site: Site | None = None, look: Look | None = None) -> list[Finding]:
    """Findings on the inputs and the recipe's own files, for a run on that site, errors first.
    ``look`` gives the findings on the inputs; by default :func:`surveyed`, a separate process. If
    the file system does not answer, it takes ``LIMIT_S``, and up to ``START_LIMIT_S`` more if it
    cannot be ended."""
    seen = look(recipe, site) if look else surveyed(recipe, site=site)
    found = [*seen, *_reaching_out(recipe), *_running(recipe)]
    return sorted(found, key=lambda finding: LEVELS.index(finding.level))


def surveyed(
    recipe: Recipe,
    limit_s: float = LIMIT_S,
    start_limit_s: float = START_LIMIT_S,
    command: Sequence[str] = PROGRAM,
    site: Site | None = None,
) -> list[Finding]:
    """The findings of :mod:`burstlens.workflows.recipe.survey`, made in a separate process. The
    process ends itself after ``limit_s`` of reading, and is killed after ``start_limit_s`` more.
    Its findings so far count, and a warning says that they are not complete."""
    try:
        packed = pickle.dumps((recipe, site))
    except (pickle.PicklingError, AttributeError, TypeError):  # a plugin's options may be anything
        from burstlens.workflows.recipe.survey import survey

        return list(survey(recipe, site))
    environment = os.environ | {"HDF5_USE_FILE_LOCKING": "FALSE", "OPENBLAS_NUM_THREADS": "1"}
    child = subprocess.Popen(
        [*command, str(limit_s)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    try:
        said, trouble = child.communicate(packed, timeout=start_limit_s + limit_s)
        ended, last = child.returncode, trouble.decode(errors="replace").strip().rpartition("\n")[2]
    except subprocess.TimeoutExpired as error:
        said, ended, last = error.stdout or b"", -signal.SIGALRM, ""
        child.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(1.0)  # a process that hangs in the kernel cannot be killed
    why = f"the survey ended with {ended} {last}".rstrip() if ended else ""
    if ended == -signal.SIGALRM:
        why = f"they did not answer within {limit_s:g} s"
    found = [Finding(**json.loads(line)) for line in said.splitlines(keepends=True)
             if line.endswith(b"\n")]  # fmt: skip
    if why:
        text = f"not all of the inputs could be looked at: {why}"
        found.append(Finding(WARNING, text, "simulation.inputs"))
    return found


def _reaching_out(recipe: Recipe) -> Iterator[Finding]:
    """What guards and ``[notify]`` run or contact: a recipe may come from another user."""
    try:
        ways = allowed()
        for text in exposed(settings()):
            yield Finding(WARNING, text)
    except RecipeError as error:
        yield Finding(ERROR, str(error))
        return
    asked = [
        (f"{path}.{way.kind}", f"guard.{guard.called}: when it trips it", way)
        for path, guard in guard_paths(recipe)
        for way in guard.ways
    ]
    asked += [
        (f"notify.{way.kind}", "notify: the run", way) for way in recipe.notify.ways("recipe")
    ]
    for path, who, way in asked:
        text = f"{who} will {way.does}"
        if way.kind not in ways:
            table = "guards" if way.guard else "notify"
            text = f"{who} would {way.does}; allow that in {config_path()}: "
            text += f'[{table}] allow = ["{way.kind}"]'
        yield Finding(WARNING, text, path)


def _running(recipe: Recipe) -> Iterator[Finding]:
    """One note with all code of the recipe that the run will start."""
    code = {"simulation": recipe.model.runs()}
    code |= {f"step.{step.name}": " ".join(step.command) for step in recipe.steps}
    code |= {f"product.{one.name}": one.kind.runs(one.options) for one in recipe.products}
    code |= {f"guard.{guard.called}": " ".join(guard.run) for guard in recipe.guards}
    code["notify"] = " ".join(recipe.notify.run)
    listed = "; ".join(f"{path}: {what}" for path, what in code.items() if what)
    if listed:
        yield Finding(NOTE, f"code of the recipe that will run: {listed}")


def require(findings: Sequence[Finding]) -> list[str]:
    """The warnings. Raises RecipeError with all errors if there are any."""
    errors = [finding.text for finding in findings if finding.level == ERROR]
    if errors:
        raise RecipeError("the run cannot start:\n  " + "\n  ".join(errors))
    return [finding.text for finding in findings if finding.level == WARNING]
