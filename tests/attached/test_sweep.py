"""Finished files are looked at again, all of them in turn."""

from __future__ import annotations

import random

from burstlens.core.run.events import Fingerprint
from burstlens.workflows.look.options import in_turn


def test_each_file_has_its_turn_while_more_files_come(dice: random.Random) -> None:
    files: dict[str, Fingerprint] = {}
    waits: dict[str, int] = {}
    first = 0
    for _ in range(400):
        for number in range(len(files), len(files) + dice.choice((0, 0, 0, 1))):
            files[f"{number}"], waits[f"{number}"] = (0, number, 0, 0), 0
        chosen, first = in_turn(files, first, 7)
        for name in waits:
            waits[name] = 0 if name in chosen else waits[name] + 1
        assert max(waits.values(), default=0) <= len(files) // 7 + 2
