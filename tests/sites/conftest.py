"""``pytest tests/sites --update-golden`` writes the scripts anew, to be read and committed."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write the golden scripts of tests/sites anew"
    )
