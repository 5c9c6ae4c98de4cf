"""Files that people have, as they stand in public reports about other tools: each is shown as what
it is, or refused in a line that names why."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from cases.looked import Case, Looked

MODULES = sorted(
    path.stem
    for path in Path(__file__).parent.glob("*.py")
    if "CASES = [" in path.read_text() and path != Path(__file__)
)
CASES = [
    pytest.param(case, id=f"{module}, {case.name}")
    for module in MODULES
    for case in importlib.import_module(f"cases.{module}").CASES
]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_files_that_people_have_are_shown_as_what_they_are(case: Case, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    case.write(tmp_path / "in")
    case.check(Looked(tmp_path, case.words))
