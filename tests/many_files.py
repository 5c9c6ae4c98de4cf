"""A process with more open files than ``select`` takes."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator

import pytest

MOST_OF_SELECT = 1024


@pytest.fixture
def many_files() -> Iterator[None]:
    """So many open files that the next descriptor is beyond ``FD_SETSIZE``."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_OF_SELECT + 200
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"this machine allows {hard} open files")
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    files = [os.open(os.devnull, os.O_RDONLY)]
    while files[-1] < MOST_OF_SELECT:
        files.append(os.dup(files[0]))
    yield
    for file in files:
        os.close(file)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
