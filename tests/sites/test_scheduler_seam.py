"""What only Slurm's modules may know: its commands, its variables, its name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORDS = re.compile(r"slurm|\bsrun\b|sbatch|scontrol|squeue|sacct|scancel", re.IGNORECASE)
OWN = re.compile(r"cluster_configs/(__init__|slurm\w*|schedulers(_of_02)?)\.py")
PATTERNS = {
    "src/burstlens/core/secret_forms.py",
    "workflows/look/folder/generic.py",
    "workflows/models/ends.py",
}
"""What any scheduler's programs print and leave, beside that of compilers and MPI."""
EXAMPLES = {
    "src/burstlens/clients/cli/describing.py",
    "workflows/hints/probe.py",
    "workflows/iostats/mpiio_log.py",
}
"""Help and messages that name a command of Slurm as an example."""


def test_slurms_words_stand_in_slurms_modules_alone():
    found = {str(path.relative_to(ROOT)) for path in sources() if any(words_of(path))}
    assert {path for path in found if not OWN.fullmatch(path)} == PATTERNS | EXAMPLES
    assert "cluster_configs/slurm.py" in found


def sources() -> Iterator[Path]:
    for folder in ("src/burstlens", "workflows", "viz", "stagers", "cluster_configs"):
        yield from (ROOT / folder).rglob("*.py")


def words_of(path: Path) -> Iterator[str]:
    """Texts but docstrings, and names, that hold such a word."""
    tree = ast.parse(path.read_text())
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        text = ""
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            text = node.value
        elif isinstance(node, ast.Name | ast.arg | ast.Attribute):
            text = getattr(node, "id", "") or getattr(node, "arg", "") or getattr(node, "attr", "")
        if WORDS.search(text):
            yield text
